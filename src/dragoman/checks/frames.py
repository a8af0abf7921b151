"""A body of server-sent events as frames, line by line: what a reader that forgives would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..protocols import wire
from .rules import Finding

__all__ = ["Frame", "check_frames", "frames", "json_of"]

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Frame:
    """One block of lines: its number, its fields, and its data as text and as JSON (None if it is none)."""

    number: int
    fields: list[tuple[str, str]] = field(default_factory=list)
    json: Any = None
    problem: str = ""

    @property
    def data(self) -> str:
        """The data lines, joined."""
        return "\n".join(value for name, value in self.fields if name == "data")

    @property
    def is_done(self) -> bool:
        """The mark that ends a stream."""
        return self.data == "[DONE]"


def frames(body: bytes) -> list[Frame]:
    """All frames; blocks of comments alone are none."""
    text = body.decode(errors="surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    found: list[Frame] = []
    for block in text.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if lines:
            found.append(_frame(len(found), lines))
    return found


def check_frames(found: list[Frame]) -> Iterator[Finding]:
    """The rules of the transport."""
    for frame in found:
        names = [name for name, _ in frame.fields]
        if names.count("data") != 1:
            yield Finding("S2", f"{names.count('data')} data lines in one event", frame.number)
        if frame.problem:
            yield Finding("S2", frame.problem, frame.number)
        for name in ("id", "retry"):
            if name in names:
                yield Finding("S4", f"a field {name}", frame.number)
        if "data" not in names:
            yield Finding("S4", "an event without data", frame.number)


def _frame(number: int, lines: list[str]) -> Frame:
    frame = Frame(number)
    for line in lines:
        name, _, value = line.partition(":")
        frame.fields.append((name, value.removeprefix(" ")))
    if not frame.is_done and "data" in dict(frame.fields):
        frame.json, frame.problem = json_of(frame.data)
    return frame


def json_of(data: str) -> tuple[Any, str]:
    """A value, or what is wrong with its text (read with surrogate escapes)."""
    if _HALF.search(data):
        return None, "not valid UTF-8"
    try:
        value = wire.load(data)
    except ValueError as error:
        return None, f"not JSON: {error}"
    half = any(_HALF.search(text) for text in _strings(value))
    return value, "half a surrogate pair in a string" if half else ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
