"""Braces: `{key:<|"|>text<|"|>,n:42,list:[1,2],more:{..}}`, objects with bare keys and strings between marks.

A string between its marks is raw: nothing is escaped, and any other mark in it is data.

A bare value that is no literal is read to the comma before the next key, so it may hold commas and clock times: a
comma ends it if a declared key that was not given yet follows, or any key right behind the comma.  In an array every
comma ends it.  Brackets and calls inside it are data as long as they are balanced.  An opening string mark may be
missing (`city:Oslo, NO<|"|>`), and plain quotes or backticks may stand for it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import NUMBER, Schema, quote, typed
from ..reader import Reader, Steps, Stop, stop
from . import BAD, CUT, WHOLE
from .values import Frame, Output, Values

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Braces"]

_KEY = re.compile(r"[^,{}\[\]()<>\"\n]{0,256}")
_NEXT_KEY = re.compile(r",(?P<gap>\s{0,64})(?:(?P<key>[^,:{}\[\]()<>\"\n]{1,256})(?P<colon>:)?)?")
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w.\-$]*")
_LITERALS = frozenset(("true", "false", "null"))


class Braces:
    """The codec; `mark` stands on both sides of a string, or `close` behind it."""

    opening = re.compile(r"\s{0,256}(?P<ok>[{(])?")
    several = None

    def __init__(self, mark: str = '<|"|>', close: str = "") -> None:
        self.mark, self.close = mark, close

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        char = yield from r.peek()
        if not char:
            return CUT
        values = _Values(r, call.put, self.mark, self.close or self.mark, call)
        r.pos += 1
        values.stack.append(Frame("}" if char == "{" else ")}", call.schema, ":=", json="}"))
        values.say("{")
        state = yield from values.run("first")
        call.follow(values)
        if state == BAD and call.cut and r.begun(call.scope.stop(self.mark)):
            return CUT
        if state != BAD:
            return state
        mark, _ = yield from r.ahead(call.scope.stop())
        if mark in call.scope.closers:
            call.put(values.missing(), r.at, r.at)
            call.notice("unclosed", r.at)
            return WHOLE
        return CUT if mark else BAD

    def encode(self, call: Call) -> str:
        return self._write(json.loads(call.arguments))

    def _write(self, value: object) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{self._key(key)}:{self._write(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(self._write, value)) + "]"
        if isinstance(value, str):
            return self._quoted(value)
        return json.dumps(value)

    def _key(self, key: str) -> str:
        return key if re.fullmatch(r"[\w.\-$]+", key) else self._quoted(key)

    def _quoted(self, text: str) -> str:
        return f"{self.mark}{text}{self.close or self.mark}"

    def grammar(self, tool: Tool) -> Node:
        return shapes.braces(tool, self.mark, self.close or self.mark)


class _Values(Values):
    """`Values` with bare keys, marked strings and bare text."""

    __slots__ = ("call", "close", "given", "mark")

    def __init__(self, r: Reader, put: Output, mark: str, close: str, call: CallSink) -> None:
        super().__init__(r, put, call.schema, python=True)
        self.mark, self.close, self.call = mark, close, call
        self.given: list[set[str]] = [set()]

    def brackets(self) -> str:
        return "{["

    def push(self, char: str) -> bool:
        opened = super().push(char)
        if opened:
            self.stack[-1].keys = ":=" if char == "{" else ""
            self.given.append(set())
        return opened

    def pop(self, *, trailing: bool = False) -> str:
        self.given.pop()
        return super().pop(trailing=trailing)

    def key(self, char: str, top: Frame) -> Steps[str]:
        start = self.r.at
        if char in "\"'`":
            name = yield from self.plain(char)
        elif (yield from self.r.next(stop(self.mark))):
            name = yield from self.marked()
        else:
            name = yield from self.bare_key(top)
            if not name:
                return CUT if self.r.closed and self.r.pos == len(self.r.buf) else BAD
        if name is None:
            return CUT
        self.given[-1].add(name)
        self.pending += json.dumps(name, ensure_ascii=False)
        return (yield from self.colon(top, name, start))

    def bare_key(self, top: Frame) -> Steps[str]:
        """A key without quotes: up to the last colon that leaves a declared one, else to the first."""
        found = yield from self.r.look(_KEY)
        text = found.group() if found else ""
        ends = [i for i, char in enumerate(text) if char == ":"] or [i for i, char in enumerate(text) if char == "="]
        declared = [i for i in ends if text[:i].strip() in top.schema.properties()]
        end = declared[-1] if declared else ends[0] if ends else len(text)
        self.r.pos += end
        return text[:end].strip()

    def plain(self, char: str) -> Steps[str | None]:
        """A short string between plain quotes."""
        if char != "`":
            inside = yield from self.text(char)
            return None if inside is None else str(json.loads(f'"{inside}"', strict=False))
        self.r.pos += 1
        return (yield from self.marked("`"))

    def marked(self, mark: str = "") -> Steps[str | None]:
        """A short string between marks, behind the opening one."""
        pieces: list[str] = []
        found = yield from self.r.until(self.closing(mark), lambda text, _at: pieces.append(text))
        return "".join(pieces) if found else None

    def closing(self, mark: str = "") -> Stop:
        """What closes a string: where its opening mark came as a token, its letters alone do not."""
        mark = mark or self.close
        token = self.r.specials is not None and not self.r.spelled(mark, self.r.mark_at)
        return stop(mark, plain=frozenset((mark,)) if token else frozenset())

    def leaf(self, char: str) -> Steps[str]:
        wanted = self.inside()
        if char == self.mark[0] and (yield from self.r.next(stop(self.mark))):
            if wanted.allows("string"):
                return (yield from self.stream())
            return self.close_text((yield from self.marked()), wanted)
        if char in "\"'`":
            return self.close_text((yield from self.plain(char)), wanted)
        return (yield from self.phrase(wanted))

    def stream(self) -> Steps[str]:
        """A string between marks, live."""
        self.quoted = True
        self.say('"')
        put = self.put
        found = yield from self.r.until(self.closing(), lambda text, at: put(quote(text), at, at + len(text)))
        if not found:
            return CUT
        self.quoted = False
        self.at = self.r.at
        self.say('"')
        return WHOLE

    def close_text(self, text: str | None, wanted: Schema) -> str:
        """A quoted string that waited."""
        if text is None:
            return CUT
        value, _ = (json.dumps(text, ensure_ascii=False), True) if wanted.allows("string") else typed(text, wanted)
        self.say(value)
        return WHOLE

    def phrase(self, wanted: Schema) -> Steps[str]:
        """A bare value: a literal, or text up to what ends it."""
        text, state = yield from _Phrase(self).read()
        if state == CUT:
            self.pending += text
        else:
            self.say(self.bare(text, wanted, marked=state == "marked"))
        return CUT if state == CUT else WHOLE

    def bare(self, text: str, wanted: Schema, *, marked: bool) -> str:
        """Bare text as JSON: a literal is what it says, anything else is typed by the schema."""
        word = text.strip()
        if marked and wanted.allows("string"):
            return json.dumps(word, ensure_ascii=False)
        if word in _LITERALS or NUMBER.fullmatch(word):
            return word
        self.noted = "repaired"
        if wanted.kinds is None:
            return {"True": "true", "False": "false", "None": "null"}.get(word) or json.dumps(word, ensure_ascii=False)
        return typed(word, wanted)[0]

    def separates(self) -> Steps[bool]:
        """Whether a comma at the cursor ends a bare value."""
        top = self.stack[-1]
        if not top.keys:
            return True
        found = yield from self.r.look(_NEXT_KEY)
        if not found or not found["colon"]:
            return bool((yield from self.r.ahead(stop("," + self.mark)))[0])
        declared = top.schema.properties() - self.given[-1]
        key = found["key"].strip()
        return key in declared or (not found["gap"] and _PLAIN_KEY.fullmatch(key) is not None)


class _Phrase:
    """Bare text, read to the mark that ends it."""

    def __init__(self, values: _Values) -> None:
        self.values, self.r = values, values.r
        self.text: list[str] = []
        self.depth = ""
        self.calls = 0

    def read(self) -> Steps[tuple[str, str]]:
        """The text, and what ended it: "", `marked` (a closing string mark), or CUT."""
        values, scope = self.values, self.values.call.scope
        marks = scope.stop(values.close, *scope.openers, *",{}[]()")
        while mark := (yield from self.r.until(marks, lambda text, _at: self.text.append(text))):
            state = yield from self.ends(mark)
            if state is not None:
                return "".join(self.text), state
        return "".join(self.text), CUT

    def ends(self, mark: str) -> Steps[str | None]:
        """Whether a mark ends the text: what ended it, or None if it is data."""
        values, scope = self.values, self.values.call.scope
        if mark == values.close:
            return "marked"
        if mark == ",":
            self.r.back()
            if not self.depth and (yield from values.separates()):
                return ""
            self.r.pos += 1
            self.text.append(",")
            return None
        if mark in "{[(":
            self.depth += {"{": "}", "[": "]", "(": ")"}[mark]
        elif self.depth and mark == self.depth[-1]:
            self.depth = self.depth[:-1]
        elif (mark in values.stack[-1].close and not self.depth) or self.outside(mark):
            self.r.back()
            return ""
        self.calls += (mark in scope.openers) - (mark in scope.closers)
        self.text.append(self.r.last)
        return None

    def outside(self, mark: str) -> bool:
        """Whether a mark closes the call, not one inside the text."""
        scope = self.values.call.scope
        return mark in scope.ends or mark in scope.inner or (mark in scope.closers and not self.calls)
