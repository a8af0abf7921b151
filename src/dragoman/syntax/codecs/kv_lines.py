r"""KvLines: one line for each argument, its key and its value parted by a sign.

    city=Oslo\n
    days=2\n

A value ends with its line, or at a mark that closes the call if only such marks, a next call or the end follow.
White space at the edges of keys and values is markup.  A line that has no such sign is dropped.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import quote, typed
from ..reader import Reader, Steps
from . import CUT, WHOLE

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["KvLines"]


class KvLines:
    """The codec; `joint` parts a key from its value, `line` ends a value."""

    opening = re.compile(r"\s{0,256}(?P<ok>\S)?")
    several = None

    def __init__(self, joint: str = "=", line: str = "\n") -> None:
        self.joint, self.line = joint, line
        self._pair = _pattern(joint.strip() or joint, line)

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        given: set[str] = set()
        while True:
            yield from r.peek()
            found = yield from r.look(self._pair)
            key = found["key"].strip() if found and found["ok"] else ""
            mark, _ = yield from r.ahead(call.scope.stop(*call.scope.openers))
            if (mark and key not in call.schema.properties() - given) or (r.closed and r.pos == len(r.buf)):
                return self._end(r, call, given, mark)
            if not key or found is None:
                yield from _Value(self, r, call).read()
                continue
            r.pos += len(found.group())
            if key in given:
                call.notice("duplicate-key", r.at, key)
            state = yield from _Value(self, r, call, key, "}" if given else "{}").read()
            given.add(key)
            if state != WHOLE:
                return state

    def _end(self, r: Reader, call: CallSink, given: set[str], mark: str) -> str:
        """No further line: whole, but not where a limit cut before any mark told so."""
        if not mark and call.cut:
            call.missing = "}" if given else "{}"
            return CUT
        if not mark and not call.scope.endless:
            call.notice("unclosed", r.at)
        call.put("}" if given else "{}", r.at, r.at)
        return WHOLE

    def encode(self, call: Call) -> str:
        return "".join(
            f"{key}{self.joint}{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}{self.line}"
            for key, value in json.loads(call.arguments).items()
        )

    def grammar(self, tool: Tool) -> Node:
        return shapes.kv_lines(tool, self.joint, self.line)


class _Value:
    """One value on its way into `call`: a string goes out as it comes, anything else waits for the end of its line."""

    def __init__(self, codec: KvLines, r: Reader, call: CallSink, key: str = "", missing: str = "") -> None:
        self.codec, self.r, self.call, self.key, self.missing = codec, r, call, key, missing
        self.open = ("{" if missing == "{}" else ", ") + json.dumps(key, ensure_ascii=False) + ": "
        self.live = bool(key) and call.schema.property(key).text_only
        self.held: list[str] = []
        self.begun = False

    def read(self) -> Steps[str]:
        r, scope = self.r, self.call.scope
        marks = scope.stop(self.codec.line, *scope.openers)
        while mark := (yield from r.until(marks, self.put)):
            if mark == self.codec.line:
                return self.finish()
            spelled = r.last
            r.back()
            if (yield from self.ends(len(spelled))):
                return self.finish()
            r.pos += len(spelled)
            self.put(spelled, r.at - len(spelled))
        return self.cut() if self.call.cut and self.key else self.finish()

    def ends(self, size: int) -> Steps[bool]:
        """Whether the mark at the cursor, which is not at the beginning of a line, closes the call."""
        scope = self.call.scope
        after = yield from self.r.beyond(scope.stop(*scope.openers), frozenset((*scope.closers, *scope.ends)), size)
        return after is not None

    def put(self, text: str, at: int) -> None:
        """A piece, less the white space at its end, which may be the value's."""
        if not self.live:
            self.held.append(text)
            return
        text = "".join(self.held) + text
        body = text.rstrip()
        self.held = [text[len(body) :]] if self.begun or body else []
        if not self.begun and body:
            self.call.put(self.open + '"', at, at)
            self.begun, body = True, body.lstrip()
        if body:
            self.call.put(quote(body), at, at + len(body))

    def cut(self) -> str:
        """The text ended in the value."""
        self.call.missing = '"}' if self.begun else self.missing
        self.call.rest = "" if self.live else "".join(self.held)
        return CUT

    def finish(self) -> str:
        """The value is whole."""
        at, text = self.r.at, "".join(self.held).strip()
        if not self.key:
            if text:
                self.call.notice("dropped", at, text)
        elif self.live:
            self.call.put('"' if self.begun else self.open + '""', at, at)
        else:
            value, right = typed(text, self.call.schema.property(self.key))
            if not right:
                self.call.notice("untyped", at, text)
            self.call.put(self.open + value, at, at)
        return WHOLE


def _pattern(joint: str, line: str) -> re.Pattern[str]:
    """A key with the sign behind it; at the end of the text, any beginning of that."""
    begun = "".join(f"|{re.escape(joint[:size])}\\Z" for size in range(len(joint) - 1, 0, -1))
    other = re.escape(joint[0] + line[0])
    return re.compile(rf"(?P<key>[^\n{other}]{{0,256}})(?:(?P<ok>{re.escape(joint)}){begun})?")
