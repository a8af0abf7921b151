"""Writes case files, so that `cases.read` reads the same case back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace

from ..messages import Tool
from .case import Case
from .signatures import spell

__all__ = ["brief", "write"]

_UNSAFE = re.compile(r"^(?:----|====) |[^\S \n]|\r|[\ud800-\udfff⟦⟧]|^\s*$|\Z(?<=\n)", re.MULTILINE)


def brief(case: Case) -> Case:
    """The case without what was only recorded: as it goes into a corpus or a report."""
    return replace(case, moments=(), request="", path="", frames=())


def write(case: Case) -> str:
    """The case as text, newline at its end."""
    lines = [f"==== {case.title}", *(f"# {fact}" for fact in case.facts), *_options(case), *_body(case)]
    return "\n".join([*lines, "---- expect", *case.expect, ""])


def _options(case: Case) -> Iterator[str]:
    yield f"dialect: {case.dialect}"
    if case.vocabulary:
        yield f"vocabulary: {_words(case.vocabulary)}"
    yield from _tools(case.tools)
    if case.prompt:
        yield f"prompt: {_text(case.prompt)}"
    yield f"finish: {case.finish}"
    if case.policy:
        yield "policy: " + " ".join(f"{key}={_word(value)}" for key, value in case.policy.items())
    yield from (f"stop: {_text(stop)}" for stop in case.stop)
    if case.path:
        yield f"path: {case.path}"
    yield from (f"{name}: {word}" for name, word in _flags(case))


def _flags(case: Case) -> Iterator[tuple[str, str]]:
    if case.marks:
        yield "marks", "yes"
    if not case.special:
        yield "special", "no"
    if not case.parallel:
        yield "parallel", "no"
    if case.canonical:
        yield "canonical", "yes"


def _body(case: Case) -> Iterator[str]:
    if case.moments or (case.marks and _UNSAFE.search(case.raw)):
        yield "---- pieces"
        yield from map(_piece, case.timed())
    elif _UNSAFE.search(case.raw):
        yield f"raw: {_text(case.raw)}"
    else:
        yield "---- raw"
        yield "".join(f"⟦{text}⟧" if special and case.marks else text for text, special in case.pieces)
    if case.request:
        yield "---- request"
        yield case.request
    if case.frames:
        yield "---- frames"
        yield from (f"{seconds:.3f} {_text(text)}" for seconds, text in case.frames)


def _piece(timed: tuple[str, bool, object]) -> str:
    text, special, moment = timed
    seconds, ids = getattr(moment, "seconds", 0.0), getattr(moment, "ids", ())
    return " ".join([f"{seconds:.3f}", _text(text), *["special"] * special, *map(str, ids)])


def _tools(tools: tuple[Tool, ...] | None) -> Iterator[str]:
    if not tools:
        yield f"tools: {'unknown' if tools is None else 'none'}"
        return
    for tool in tools:
        yield f"tools: {spell(tool) or _whole(tool)}"


def _whole(tool: Tool) -> str:
    return json.dumps({key: value for key, value in asdict(tool).items() if value}, ensure_ascii=True)


def _words(words: tuple[str, ...]) -> str:
    plain = all(word and not any(letter.isspace() for letter in word) for word in words)
    return " ".join(words) if plain and not words[0].startswith('["') else json.dumps(words)


def _word(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _text(text: str) -> str:
    """JSON on one line; what does not show is escaped."""
    shown = json.dumps(text, ensure_ascii=False)
    return shown if shown.isprintable() else json.dumps(text)
