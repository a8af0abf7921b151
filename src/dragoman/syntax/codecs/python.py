"""Python: calls as Python writes them, `f(city="Oslo", n=2)` or `[f(..), g(..)]`, with keyword arguments only."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..reader import Reader, Steps
from . import BAD, CUT, WHOLE
from .values import Frame, Values

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Python"]

_NAME = re.compile(r"[\w.\-]{0,257}")
_FIRST = re.compile(r"\s{0,64}(?:(?P<ok>\))|[A-Za-z_]\w{0,128}\s{0,8}(?P<eq>=)?)?")


class Python:
    """The codec of `{call}`: one call, or a list of them."""

    opening = re.compile(r"\s{0,256}\[?\s{0,64}(?:[A-Za-z_][\w.\-]{0,256}(?P<ok>\()?)?")

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        char = yield from r.peek()
        listed = char == "["
        r.pos += listed
        while True:
            state = yield from self._one(r, call)
            if state != WHOLE:
                return state
            char = yield from r.peek()
            if char in ("]", ",", ";") and (listed or char == ";"):
                r.pos += 1
            if char == "]" or not (listed or char == ";"):
                return WHOLE
            if listed and char != ",":
                call.notice("unclosed", r.at)
                return WHOLE
            call.end()

    def _one(self, r: Reader, call: CallSink) -> Steps[str]:
        yield from r.peek()
        found = yield from r.look(_NAME)
        name = found.group() if found else ""
        r.pos += len(name)
        if not name or not r.buf.startswith("(", r.pos):
            return CUT if r.closed and r.pos == len(r.buf) else BAD
        r.pos += 1
        found = yield from r.look(_FIRST)
        if not found or not (found["ok"] or found["eq"]):
            return CUT if r.closed and found and r.pos + len(found.group()) == len(r.buf) else BAD
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
        return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in pairs)})"

    def grammar(self, tool: Tool) -> Node:
        return shapes.python(tool)


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
