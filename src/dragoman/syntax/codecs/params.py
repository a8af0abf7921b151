r"""Params: one tagged block for each argument.

    <parameter={key}>\n{value}\n</parameter>\n
    <parameter name="{key}" string="{type}">{value}</parameter>
    <arg_key>{key}</arg_key><arg_value>{value}</arg_value>

How a value is read, and where it ends, is told in `tagged`.
"""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import strict_json
from ..reader import Reader, Steps, stop
from ..template import attribute, marks
from . import CUT, WHOLE
from .json import JsonObject
from .tagged import Value

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Params"]

_HOLES = re.compile(r"(\{(?:key|type|value)\})")
_KEY = re.compile(r"\s{0,8}[\"']?\s{0,2}(?P<key>[^<>\"'\n]{0,256})[\"']?")
_SQUARE_KEY = re.compile(r"\s{0,8}[\"']?\s{0,2}(?P<key>[^<>\[\]\"'\n]{0,256})[\"']?")
_TYPE = re.compile(r"[ \t\"']{0,2}(?P<type>\w{0,32})[\"']?")


def _others(closes: str) -> tuple[str, ...]:
    """What models write for a close tag whose word they cut short, or do not."""
    word = next((word for word in ("parameter", "param") if closes.endswith(f"{word}>")), "")
    found = (closes.replace(word, other) for other in ("parameter", "param", "parameters") if word)
    return tuple(mark for mark in found if mark != closes)


class Params:
    """The codec; `template` has the holes `{key}` and `{value}`, and perhaps `{type}` between them.

    `text`: the words that stand for a string where the type is told.  `strip`: white space around a value is markup.
    `cdata`: a value may stand in `<![CDATA[` and `]]>`.  `json`: the marks around arguments that are JSON, with `{args}`.
    `typed`: the marks around a type that may stand between a key and its value, with `{type}`.
    `inline`: models write several on a line, whatever the template does; a template without newlines says so by itself.
    """

    opening = re.compile(r"(?:[\sĠĊ]|\\n){0,256}(?:(?P<ok>[<{\[])|\\\Z)?")
    several = None

    def __init__(
        self,
        template: str,
        text: tuple[str, ...] = ("true", "string"),
        *,
        strip: bool = False,
        cdata: bool = False,
        json: str = "",
        typed: str = "",
        inline: bool = False,
    ) -> None:
        self.template, self.text, self.strip, self.cdata = template, text, strip, cdata
        self.json, self.around = json, marks(json.replace("{args}", "\n"))
        self.typed, self.types = typed, marks(typed.replace("{type}", "\n"))
        before, middle, self.after = re.split(r"\{key\}|\{value\}", template)
        self.before = before
        self.middle = marks(middle.replace("{type}", "\n"))
        self.opens, self.closes = marks(before)[-1], marks(self.after)[0]
        self._key = _SQUARE_KEY if self.middle[0].startswith("[") else _KEY
        self.others = _others(self.closes)
        self.lead = middle[len(middle.rstrip()) :]
        self.inline = inline
        self.compact = inline or "\n" not in template or len(self.middle) > 1
        self.trail = self.after[: len(self.after) - len(self.after.lstrip())]

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        if (yield from r.peek()) == "{":
            call.notice("repaired", r.at)
            return (yield from JsonObject().decode(r, call))
        if self.json and (yield from r.next(stop(self.around[0]))):
            state = yield from JsonObject().decode(r, call)
            if state == WHOLE:
                yield from r.next(stop(self.around[-1]))
            return state
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
        elif not call.scope.endless:
            call.notice("unclosed", r.at)
        call.put("}" if given else "{}", r.at, r.at)
        return WHOLE

    def _one(self, r: Reader, call: CallSink, given: set[str]) -> Steps[str]:
        key, size, _ = yield from self.key(r)
        if self._ended(r, size) or (r.closed and r.buf[r.pos + size :].isspace()):
            return self._cut(call, given)
        if "&" in key and key not in call.schema.properties():
            key = unescape(key)
        r.pos += size
        kind, there = yield from self._between(r)
        if self._ended(r, 0) and r.pos < len(r.buf):
            return self._cut(call, given)
        if not there and (yield from self._valueless(r, call)):
            call.notice("dropped", r.at, key)
            return WHOLE
        if not there:
            yield from r.peek()
        return (yield from Value(self, r, call, key, given, kind).read())

    def _ended(self, r: Reader, skip: int) -> bool:
        """Whether the text ended in a tag, `skip` characters on."""
        return r.closed and (not r.buf[r.pos + skip :].strip() or r.begun(stop(*self.middle), skip))

    def _cut(self, call: CallSink, given: set[str]) -> str:
        call.missing = "}" if given else "{}"
        return CUT

    def key(self, r: Reader, skip: int = 0) -> Steps[tuple[str, int, bool]]:
        """The key that stands `skip` characters on, where it ends, and whether what must follow it does."""
        found = yield from r.look(self._key, skip)
        text = found["key"] if found else ""
        size = len(found.group()) if found else 0
        mark, _ = yield from r.ahead(stop(*self.middle), skip + size)
        if mark or " " not in text.strip():
            return text.strip(), skip + size, bool(mark)
        word = text.split()[0]
        return word, skip + (found.start("key") - found.start() if found else 0) + text.index(word) + len(word), False

    def whole(self, r: Reader, skip: int) -> Steps[bool]:
        """Whether all marks between a key and its value stand `skip` characters on."""
        mark = ""
        for expected in self.middle:
            if mark.endswith("="):
                found = yield from r.look(_TYPE, skip)
                skip += len(found.group()) if found else 0
            mark, skip = yield from r.ahead(stop(expected), skip)
            if not mark:
                return False
        return True

    def _valueless(self, r: Reader, call: CallSink) -> Steps[bool]:
        """Whether what follows a key is no value: the next parameter, or a mark that closes the call."""
        mark, _ = yield from r.ahead(call.scope.stop(self.opens))
        return bool(mark)

    def _between(self, r: Reader) -> Steps[tuple[str, bool]]:
        """The marks between a key and its value: the type, if it is told, and whether the last of them is there."""
        kind = ""
        while mark := (yield from r.next(stop(*self.middle, *self.types))):
            if mark == self.middle[-1]:
                return kind, True
            if mark.endswith("=") or mark in self.types[:1]:
                found = yield from r.look(_TYPE)
                kind = found["type"] if found else ""
                r.pos += len(found.group()) if found else 0
        return kind, False

    def encode(self, call: Call) -> str:
        return "".join(self._write(key, value) for key, value in json.loads(call.arguments).items())

    def _write(self, key: str, value: object) -> str:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        holes = {
            "{key}": attribute(key) if self.before.endswith('="') else key,
            "{value}": text,
            "{type}": self._kind(value),
        }
        template = self.template
        if self.types and isinstance(value, str) and _json(value):  # without its type it may be read as something else
            at = template.index(self.middle[-1])
            template = template[:at] + self.typed.replace("{type}", self.text[-1]) + "\n" + template[at:]
        return "".join(holes.get(piece, piece) for piece in _HOLES.split(template))

    def _kind(self, value: object) -> str:
        """The word for a value's type: true or false where only strings are told apart, else that of JSON Schema."""
        names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
        return shapes.word_of(names.get(type(value), "null"), self.text)

    def grammar(self, tool: Tool) -> Node:
        return shapes.params(tool, self.template, self.text, strip=self.strip, cdata=self.cdata)


def _json(text: str) -> bool:
    """Whether a text is JSON too."""
    try:
        strict_json(text)
    except ValueError:
        return False
    return True
