"""The turns of a script: which requests one fits, and the pieces its output is cut into."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, repeat
from typing import Any

from ..errors import UsageError
from ..messages import Message, Request, Result, Text

__all__ = ["Scene", "cut", "scene", "words"]

_WORDS = re.compile(r" ?[^\W_]+| ?(?:[^\w\s]|_)+|\s+")
_CUTS = ("characters", "words", "whole")
_FINISHES = ("stop", "length")

Cut = str | Sequence[int]


@dataclass(slots=True)
class Scene:
    """One turn of a script; its fields are the keys of the file (see `script`)."""

    output: Sequence[str]
    when: Mapping[str, Any] = field(default_factory=dict)
    cut: Cut = "words"
    pause: float = 0.0
    batch: int = 1
    finish: str = "stop"
    special: bool = True
    after: int | None = None
    error: str = ""
    stall: bool = False
    played: int = 0

    def fits(self, request: Request | None) -> bool:
        """Whether this turn is for that request."""
        return not self.when or (
            request is not None and all(_RULE[rule](self.when[rule], request) for rule in self.when)
        )

    def fails(self, pieces: int) -> bool:
        """Whether it breaks or stalls within so many pieces."""
        return bool(self.error or self.stall) and (self.after is None or self.after <= pieces)

    def next(self) -> str:
        """The output that comes now."""
        self.played += 1
        return self.output[(self.played - 1) % len(self.output)]


def scene(data: Mapping[str, Any], defaults: Mapping[str, Any], place: str) -> Scene:
    """A turn as it stands in the file.

    Raises:
        UsageError: something in it is not understood; `place` says where.
    """
    known = {item.name for item in fields(Scene)} - {"played"}
    for key in data:
        if key not in known:
            raise UsageError(f"{place}: unknown key {key!r}; known are {', '.join(sorted(known))}")
    output = data.get("output", "")
    made = Scene(**{**defaults, **data, "output": [output] if isinstance(output, str) else output})
    for problem in _problems(made):
        raise UsageError(f"{place}: {problem}")
    return made


def _problems(made: Scene) -> Iterator[str]:
    yield from (
        f"unknown rule {rule!r} in `when`; known are {', '.join(_RULE)}" for rule in made.when if rule not in _RULE
    )
    if made.finish not in _FINISHES:
        yield f"`finish` is one of {', '.join(_FINISHES)}, not {made.finish!r}"
    if not made.output:
        yield "a turn needs an output"
    if made.after is not None and not made.error and not made.stall:
        yield "`after` needs an `error` or `stall = true`"
    if isinstance(made.cut, str) and made.cut not in _CUTS:
        yield f"`cut` is one of {', '.join(_CUTS)} or a list of sizes, not {made.cut!r}"
    if not isinstance(made.cut, str) and (not made.cut or min(made.cut) < 1):
        yield "`cut` needs sizes of 1 or more"
    for rule in ("user", "results"):
        yield from _bad_pattern(made.when.get(rule))


def _bad_pattern(pattern: Any) -> Iterator[str]:
    try:
        re.compile(pattern if isinstance(pattern, str) else "")
    except re.error as problem:
        yield f"the pattern {pattern!r} is not valid: {problem}"


def words(text: str) -> list[str]:
    """A text in pieces that look like tokens."""
    return _WORDS.findall(text)


def cut(text: str, how: Cut, marks: Sequence[str]) -> Iterator[str]:
    """The text in pieces, each mark in a piece of its own."""
    for number, part in enumerate(_split(text, marks)):
        if number % 2:
            yield part
        else:
            yield from _cut(part, how)


def _split(text: str, marks: Sequence[str]) -> list[str]:
    if not marks:
        return [text]
    longest = sorted(marks, key=len, reverse=True)
    return re.split(f"({'|'.join(map(re.escape, longest))})", text)


def _cut(text: str, how: Cut) -> Iterator[str]:
    if how == "characters":
        yield from text
    elif how == "words":
        yield from words(text)
    elif isinstance(how, str):
        yield from [text] if text else []
    else:
        yield from _sized(text, how)


def _sized(text: str, sizes: Sequence[int]) -> Iterator[str]:
    at = 0
    for size in chain(sizes, repeat(sizes[-1])):
        if at >= len(text):
            return
        yield text[at : at + size]
        at += size


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _user(pattern: str, request: Request) -> bool:
    said = [_text(message) for message in request.messages if message.role == "user" and _text(message)]
    said += [prompt.text for prompt in request.prompts]
    return bool(said) and re.search(pattern, said[-1]) is not None


def _tool(wanted: Any, request: Request) -> bool:
    if isinstance(wanted, bool):
        return wanted == bool(request.tools)
    return any(tool.name == wanted for tool in request.tools)


def _results(wanted: Any, request: Request) -> bool:
    last = request.messages[-1].parts if request.messages else ()
    results = [part for part in last if isinstance(part, Result)]
    if isinstance(wanted, bool):
        return wanted == bool(results)
    return any(re.search(wanted, part.text) for item in results for part in item.parts if isinstance(part, Text))


def _choice(wanted: str, request: Request) -> bool:
    return request.choice not in ("auto", "none") if wanted == "forced" else request.choice == wanted


def _limit(wanted: int, request: Request) -> bool:
    return request.limit is not None and request.limit <= wanted


_RULE: dict[str, Callable[[Any, Request], bool]] = {
    "user": _user,
    "tool": _tool,
    "results": _results,
    "choice": _choice,
    "limit": _limit,
}
