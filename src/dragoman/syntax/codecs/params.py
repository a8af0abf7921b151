r"""Params: one tagged block for each argument, `<parameter={key}>\n{value}\n</parameter>\n`.

Values are raw text.  A string goes out as it comes; anything else waits for its end and is typed by the schema.

Where a value ends

*   At its own close tag, if structure follows: the next parameter, a mark that closes or opens a call, or the end.
*   At the opening tag of the next parameter, if that stands at a line start and its key is declared and not yet given.
*   At a mark that closes the call, if only such marks, a next call or the end follow.

Anything else is data.  A newline behind the opening tag and one before the close tag are markup where the template has
them; a value that ended without its own close tag loses all newlines before the mark that ended it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import quote, typed
from ..reader import Reader, Steps
from ..template import marks
from . import CUT, WHOLE
from .json import JsonObject

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Params"]

_HOLES = re.compile(r"\{(?:key|value)\}")
_KEY = re.compile(r"[ \t\"']{0,2}(?P<key>[^\s<>\"']{0,256})[\"']?[ \t]{0,2}(?P<end>>)?")
_MAYBE_JSON = frozenset('{["-0123456789tfn \t\r\n')


class Params:
    """The codec; `template` has the holes `{key}` and `{value}`."""

    opening = re.compile(r"\s{0,256}(?P<ok>[<{])?")

    def __init__(self, template: str) -> None:
        self.template = template
        self.before, middle, self.after = _HOLES.split(template)
        self.opens, self.closes = marks(self.before)[-1], marks(self.after)[0]
        self.lead = middle[len(middle.rstrip()) :]
        self.trail = self.after[: len(self.after) - len(self.after.lstrip())]

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        if (yield from r.peek()) == "{":
            call.notice("repaired", r.at)
            return (yield from JsonObject().decode(r, call))
        given: set[str] = set()
        while True:
            mark = yield from self._next(r, call)
            if mark != self.opens:
                return self._end(r, call, given, mark)
            state = yield from self._one(r, call, given)
            if state != WHOLE:
                return state

    def _next(self, r: Reader, call: CallSink) -> Steps[str]:
        """The mark behind a parameter; text before it is dropped, a stray close tag too."""
        junk: list[str] = []
        start = r.at
        marks = call.scope.stop(self.opens, self.closes, *call.scope.openers)
        mark = self.closes
        while mark == self.closes:
            mark = yield from r.until(marks, lambda text, _at: junk.append(text))
        if raw := "".join(junk).strip():
            call.notice("dropped", start, raw)
        return mark

    def _end(self, r: Reader, call: CallSink, given: set[str], mark: str) -> str:
        """No further parameter: whole, but not where a limit cut before any mark told so."""
        if mark:
            r.back()
        elif call.cut:
            call.missing = "}" if given else "{}"
            return CUT
        else:
            call.notice("unclosed", r.at)
        call.put("}" if given else "{}", r.at, r.at)
        return WHOLE

    def _one(self, r: Reader, call: CallSink, given: set[str]) -> Steps[str]:
        found = yield from r.look(_KEY)
        if found is None or (r.closed and r.pos + len(found.group()) == len(r.buf)):
            r.pos = len(r.buf)
            call.missing = "}" if given else "{}"
            return CUT
        r.pos += len(found.group())
        return (yield from _Value(self, r, call, found["key"], given).read())

    def encode(self, call: Call) -> str:
        return "".join(
            self.template.replace("{key}", key).replace("{value}", value if isinstance(value, str) else _json(value))
            for key, value in json.loads(call.arguments).items()
        )

    def grammar(self, tool: Tool) -> Node:
        return shapes.params(tool, self.template)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Value:
    """One value on its way."""

    def __init__(self, codec: Params, r: Reader, call: CallSink, key: str, given: set[str]) -> None:
        self.codec, self.r, self.call, self.given = codec, r, call, given
        self.schema = call.schema.property(key)
        self.first = not given
        self.open = ("{" if self.first else ", ") + _json(key) + ": "
        if key in given:
            call.notice("duplicate-key", r.at, key)
        given.add(key)
        self.live: bool | None = True if self.schema.text_only else None
        self.text: list[str] = []
        self.held = ""
        self.fresh, self.said, self.begun = True, False, False

    def read(self) -> Steps[str]:
        """The value and its own close tag; another mark that ends it is left for others to read."""
        codec, r, scope = self.codec, self.r, self.call.scope
        marks = scope.stop(codec.opens, codec.closes, *scope.openers)
        while mark := (yield from r.until(marks, self.put)):
            spelled = r.last
            r.back()
            own = yield from self.ends(mark, len(spelled))
            if own is False and mark in scope.ends:
                break
            if own is not False:
                r.pos += len(spelled)
            if own is not None:
                return self.finish(own=own)
            self.put(spelled, r.at - len(spelled))
        self.call.missing = '"}' if self.begun else "{}" if self.first else "}"
        return CUT

    def put(self, text: str, at: int) -> None:
        """A piece of the value, less the newlines that may be markup."""
        if self.begun and not self.held and text[-1] not in "\r\n":
            self.call.put(quote(text), at, at + len(text))
            return
        at -= len(self.held)
        text, self.held = self.held + text, ""
        if self.fresh:
            if text == "\r":
                self.held = text
                return
            lead = self.lead(text)
            at, text, self.fresh = at + lead, text[lead:], False
        body = text.rstrip("\r\n")
        self.held = text[len(body) :]
        if not body:
            return
        self.said = True
        if self.live is None:
            self.live = self.schema.kinds is None and body[0] not in _MAYBE_JSON
        if self.live:
            self.say(quote(body), at, at + len(body))
        else:
            self.text.append(body)

    def lead(self, text: str) -> int:
        """How much of the value's beginning is a newline that belongs to the markup."""
        if not self.codec.lead:
            return 0
        return 2 if text.startswith("\r\n") else int(text.startswith("\n"))

    def say(self, json: str, start: int, end: int) -> None:
        """JSON of the value, behind its key and quote if these are still to come."""
        self.call.put(json if self.begun else self.open + '"' + json, start, end)
        self.begun = True

    def ends(self, mark: str, size: int) -> Steps[bool | None]:
        """Whether the mark at the cursor ends the value: True as its own, False as another's, None if it is data."""
        codec, r, scope = self.codec, self.r, self.call.scope
        if mark == codec.closes:
            after, _ = yield from r.ahead(scope.stop(codec.opens, *scope.openers), size)
            return True if after or (yield from r.ended(size)) else None
        if mark in scope.inner or (mark in scope.ends and r.specials is not None):
            return False
        if mark == codec.opens:
            return (yield from self.next_opens(size))
        if mark in scope.openers:
            return None
        return (yield from self.outer(size))

    def next_opens(self, size: int) -> Steps[bool | None]:
        """Whether an opening tag inside the value is that of the next parameter."""
        if self.said and not self.held:
            return None
        found = yield from self.r.look(_KEY, size)
        declared = self.call.schema.properties() - self.given
        return self.left() if found and found["end"] and found["key"] in declared else None

    def outer(self, size: int) -> Steps[bool | None]:
        """Whether a mark that closes the call ends the value too: only such marks, a next call or the end may follow."""
        scope = self.call.scope
        passed = frozenset((*scope.closers, *scope.ends))
        after = yield from self.r.beyond(scope.stop(self.codec.closes, *scope.openers), passed, size)
        return None if after is None or after == self.codec.closes else self.left()

    def left(self) -> bool:
        """The value ends without its own close tag."""
        self.call.notice("unclosed", self.r.at)
        return False

    def finish(self, *, own: bool) -> str:
        """The value is whole."""
        rest = self.held if own else ""
        if self.codec.trail:
            rest = rest.removesuffix("\n").removesuffix("\r")
        at = self.r.at
        if self.live:
            self.say(quote(rest) + '"', at, at)
            return WHOLE
        value, right = typed("".join(self.text) + rest, self.schema)
        if not right:
            self.call.notice("untyped", at, "".join(self.text))
        self.call.put(self.open + value, at, at)
        return WHOLE
