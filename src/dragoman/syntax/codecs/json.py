"""JSON: the arguments as a JSON object."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..reader import Reader, Steps
from . import BAD, CUT, WHOLE
from .free import free, only_string
from .values import Values

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Inner", "JsonObject", "fence", "plain", "unfence"]


_FENCE = re.compile(r"`{3}[\w+\-]{0,16}\s{0,64}(?P<ok>[{\"'\[])?|`{1,2}")
_FENCE_END = re.compile(r"\s{0,64}(?:(?P<ok>`{3})|`{1,2})?")
_NOTHING = re.compile(r"(?P<ok>null|None)|n(?:ul?)?|N(?:on?)?")
_LISTED = re.compile(r"\[\s{0,64}(?P<ok>\{)?")


class JsonObject:
    """The codec of `{args}`: a JSON object.

    Also read: an object encoded once more as a string, one list around one object, a fence around it, and nothing at
    all or `null` (`{}`).  `free_text`: what is none of these is the tool's only string.
    """

    opening = re.compile(
        r"\s{0,256}(?:`{1,3}[\w+\-]{0,16}\s{0,64})?\[?\s{0,64}(?:(?P<ok>[{\"']|null|None)|n(?:ul?)?|N(?:on?)?)?"
    )
    several = None

    def __init__(self, *, free_text: bool = False) -> None:
        self.free_text = free_text
        if free_text:
            self.opening = re.compile(r"\s{0,256}(?P<ok>\S)?")

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        fenced = yield from fence(r, call)
        state = yield from self._body(r, call)
        if fenced and state == WHOLE:
            yield from unfence(r)
        return state

    def _body(self, r: Reader, call: CallSink) -> Steps[str]:
        char = yield from r.peek()
        if char in ("n", "N") and (yield from _nothing(r, call)):
            return WHOLE
        if self.free_text and char and char != "{" and not (yield from r.ahead(call.scope.stop()))[0]:
            key = only_string(call)
            return (yield from free(r, call, key, *call.scope.openers)) if key else BAD
        if char == "{":
            values = Values(r, call.put, call.schema, repair=call.repair)
            state = yield from values.run()
            call.follow(values)
            return state
        if char and char in "\"'" and call.repair and not call.nested:
            return (yield from _encoded(r, call))
        if char == "[" and call.repair:
            return (yield from _listed(r, call))
        if (yield from r.ahead(call.scope.stop()))[0] if char else (self.free_text and not call.cut):
            call.put("{}", r.at, r.at)
            return WHOLE
        return BAD if char else CUT

    def encode(self, call: Call) -> str:
        return json.dumps(json.loads(call.arguments), ensure_ascii=False)

    def grammar(self, tool: Tool) -> Node:
        return shapes.json_object(tool)


def _nothing(r: Reader, call: CallSink) -> Steps[bool]:
    """`null` for no arguments, before a mark or the end."""
    found = yield from r.look(_NOTHING)
    size = len(found.group()) if found and found["ok"] else 0
    if not size or not ((yield from r.ahead(call.scope.stop(), size))[0] or (yield from r.ended(size))):
        return False
    r.pos += size
    call.put("{}", r.at - size, r.at)
    return True


def fence(r: Reader, call: CallSink) -> Steps[bool]:
    """Read a fence around a payload, if there is one."""
    if (yield from r.peek()) != "`" or not call.repair:
        return False
    found = yield from r.look(_FENCE)
    if r.cut and found is not None and found.end() == len(r.buf):
        r.rest()
    if found is None or not found["ok"]:
        return False
    r.pos = found.end() - 1
    call.notice("repaired", r.at)
    return True


def unfence(r: Reader) -> Steps[None]:
    """Read the end of a fence."""
    found = yield from r.look(_FENCE_END)
    if found is not None and (found["ok"] or (r.cut and found.end() == len(r.buf))):
        r.pos = found.end()


def _listed(r: Reader, call: CallSink) -> Steps[str]:
    """`[{..}]` for `{..}`."""
    found = yield from r.look(_LISTED)
    if found is None or not found["ok"]:
        return CUT if r.closed and found and found.end() == len(r.buf) else BAD
    r.pos = found.end() - 1
    values = Values(r, call.put, call.schema, repair=call.repair)
    state = yield from values.run()
    call.follow(values)
    if state == WHOLE and (yield from r.peek()) == "]":
        r.pos += 1
        call.notice("repaired", r.at)
    return state


def _encoded(r: Reader, call: CallSink) -> Steps[str]:
    r"""`"{\"a\": 1}"` for `{"a": 1}`: the string is undone as it comes and read by a reader of its own."""
    inner = Inner(call)
    mark, start = r.buf[r.pos], r.at
    r.pos += 1
    closed = yield from Values(r, inner.give, repair=call.repair, python=True).string(mark, inner.give)
    if not closed:
        inner.cut()
        return CUT
    if inner.close(r.at):
        call.notice("repaired", start)
    return WHOLE


def _step(work: Steps[str]) -> str:
    try:
        next(work)
    except StopIteration as done:
        return str(done.value)
    return ""


def plain(piece: str) -> str:
    """The text of the inside of a JSON string."""
    try:
        return str(json.loads(f'"{piece}"', strict=False))
    except ValueError:
        return piece


class Inner:
    """Arguments that come as text from elsewhere; what is told of them has the offset where that text begins."""

    def __init__(self, call: CallSink) -> None:
        self.call, self.start, self.end, self.origin = call, -1, 0, -1
        self.schema, self.scope = call.schema, call.scope
        self.repair, self.nested = call.repair, True
        self.reader, self.state, self.said = Reader(), "", False
        self.work = JsonObject().decode(self.reader, self)  # type: ignore[arg-type]

    def put(self, text: str, _start: int, _end: int) -> None:
        self.call.put(text, self.start, self.end)
        self.call.sink.args_at = self.origin
        self.start, self.said = self.end, True

    def notice(self, code: str, _at: int, raw: str = "") -> None:
        self.call.notice(code, self.origin, raw)

    def follow(self, values: Values) -> None:
        values.at = self.origin
        self.call.follow(values)

    def give(self, piece: str, start: int, end: int) -> None:
        """A piece of the inside of the JSON string that holds the arguments."""
        self.take(plain(piece), start, end)

    def take(self, text: str, start: int, end: int) -> None:
        """A piece of the arguments."""
        self.origin = start if self.origin < 0 else self.origin
        self.start, self.end = start if self.said or self.start < 0 else self.start, end
        self.reader.feed(text)
        self._step()

    def close(self, at: int) -> bool:
        """That was all; whether it was whole."""
        self.start = at if self.start < 0 else self.start
        self.origin = at if self.origin < 0 else self.origin
        self.end = at
        self.reader.closed = True
        if not (self.said or self.state or self.reader.buf[self.reader.pos :].strip()):
            self.put("{}", at, at)
            self.call.missing = ""
            return True
        self._step()
        if self.state != WHOLE:
            self.call.flawed = "bad-json"
            self.call.notice("bad-json", at)
        return self.state == WHOLE

    def cut(self) -> None:
        """The text ended: how far the reader came is told by `follow`."""
        self.reader.closed = True
        if self.state:
            self.call.missing = ""
        else:
            _step(self.work)

    def _step(self) -> None:
        self.state = self.state or _step(self.work)
        if self.state in (BAD, CUT):
            self.put(self.call.take_rest() + self.reader.buf[self.reader.pos :], 0, 0)
            self.reader.pos = len(self.reader.buf)
