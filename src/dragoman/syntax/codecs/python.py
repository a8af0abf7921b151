"""Python: calls as Python writes them, `f(city="Oslo", n=2)` or `[f(..), g(..)]`, with keyword arguments only."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..reader import Reader, Steps
from . import BAD, CUT, OPEN, WHOLE
from .values import WORDS, Frame, Values

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Python"]

_NAME = re.compile(r"[\w.\-]{0,257}")
_MORE = re.compile(r"\s{0,64}[,;]?\s{0,64}(?:(?P<name>[A-Za-z_][\w.\-]{0,256})(?P<ok>\()?)?")
_FIRST = re.compile(r"\s{0,64}(?:(?P<ok>\))|[A-Za-z_]\w{0,128}\s{0,8}(?P<eq>=)?)?")


class Python:
    """The codec of `{call}`: one call, or a list of them; `listed`: it is written as a list, of one call too."""

    opening = re.compile(r"\s{0,256}\[?\s{0,64}(?:[A-Za-z_][\w.\-]{0,256})?(?P<ok>\(|(?<=\[)\])?")

    def __init__(self, *, listed: bool = False) -> None:
        self.several = ("[", ", ", "]") if listed else ("", "\n", "")

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        listed = (yield from r.peek()) == "["
        r.pos += listed
        if listed and (yield from r.peek()) == "]" and not call.recovered:
            r.pos += 1
            call.notice("no-call", r.at)
            return WHOLE
        state = yield from self._one(r, call)
        while state == WHOLE:
            call.end()
            found = yield from r.look(_MORE)
            if found is None or not found["ok"]:
                return (yield from self._close(r, call)) if listed else WHOLE
            state = yield from self._further(r, call, found)
        return WHOLE if state == OPEN else state

    def _close(self, r: Reader, call: CallSink) -> Steps[str]:
        """The end of a list."""
        char = yield from r.peek()
        if char == "]":
            r.pos += 1
        else:
            call.notice("unclosed", r.at)
        return WHOLE

    def _further(self, r: Reader, call: CallSink, found: re.Match[str]) -> Steps[str]:
        """One more call; OPEN if it is none after all, and its text is left to be read anew."""
        start, mine = r.at, r.kept is None
        if mine:
            r.keep(start)
        r.pos = found.start("name")
        state = yield from self._one(r, call, sure=True)
        if state == BAD and not call.open:
            r.reread(start)
            state = OPEN
        if mine and r.kept_at == start and state in (WHOLE, OPEN):
            r.kept = None
        return state

    def _one(self, r: Reader, call: CallSink, *, sure: bool = False) -> Steps[str]:
        """One call; `sure`: others came before it, so a name and a bracket are enough."""
        yield from r.peek()
        found = yield from r.look(_NAME)
        name = found.group() if found else ""
        r.pos += len(name)
        if not name or not r.buf.startswith("(", r.pos):
            return CUT if r.closed and r.pos == len(r.buf) else BAD
        r.pos += 1
        found = yield from r.look(_FIRST)
        if not found or not (found["ok"] or found["eq"]):
            ended = r.closed and found is not None and found.end() == len(r.buf)
            return CUT if ended and (not sure or call.begin(name)) else BAD
        if not call.begin(name):
            return BAD
        return (yield from self._arguments(r, call))

    def _arguments(self, r: Reader, call: CallSink) -> Steps[str]:
        values = _Values(r, call.put, call.schema, python=True)
        values.stack.append(Frame(")", call.schema, "=", json="}"))
        values.say("{")
        state = yield from values.run("first")
        call.follow(values)
        return state

    def encode(self, call: Call) -> str:
        pairs = json.loads(call.arguments).items()
        return f"{call.name}({', '.join(f'{key}={_write(value)}' for key, value in pairs)})"

    def grammar(self, tool: Tool) -> Node:
        return shapes.python(tool)


def _write(value: object) -> str:
    """A value as Python writes it; strings with JSON's escapes, which Python reads the same."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(map(_write, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_write(key)}: {_write(item)}" for key, item in value.items()) + "}"
    return repr(value)


class _Values(Values):
    """`Values` whose outermost container has bare keys."""

    __slots__ = ()

    def key(self, char: str, top: Frame) -> Steps[str]:
        if top.keys != "=":
            return (yield from super().key(char, top))
        start = self.r.at
        found = yield from self.r.look(_NAME)
        name = found.group() if found else ""
        self.r.pos += len(name)
        if not name:
            return BAD
        self.pending += json.dumps(name)
        return (yield from self.colon(top, name, start))

    def literal(self, word: str) -> str | None:
        """A bare scalar; Python's words are this syntax's own."""
        return WORDS.get(word) or super().literal(word)
