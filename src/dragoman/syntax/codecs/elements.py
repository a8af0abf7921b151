r"""Elements: nested elements, one for each key, item and value.

    N<{key}>{value}N</{key}>                                        (N is a mark that stands before every tag)
    <v name="{key}" type="{type}">{value}</v>

An element that holds elements is an object, or a list: as its type or the schema says, else a list if its first child
is called `item`.  Any other one is text, typed by its type, the schema, or as JSON.  A string goes out as it comes.
An element ends at its own close tag if structure follows; at one that closes what is around it, if only such follow.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import ANY, Schema, quote, strict_json, typed
from ..reader import Reader, Steps
from . import BAD, CUT, WHOLE
from .values import DEEPEST

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Elements"]

_HOLES = re.compile(r"\{key\}|\{value\}")
_NAME = re.compile(r"(?P<name>[^<>\s\"'/]{0,256})\s{0,2}(?P<ok>>)?")
_HEAD = re.compile(r"(?P<head>[^<>]{0,512})(?P<ok>>)?")
_WORDS = re.compile(r"(\w+)\s?=\s?[\"']?([^\"'>]*)")
_STRING = Schema({"type": "string"})
_ITEM = "item"


@dataclass(slots=True)
class _Open:
    """An open element: its name, what may stand in it, whether it is a list, and how many it holds already."""

    name: str
    schema: Schema
    listed: bool
    count: int = 0
    given: set[str] = field(default_factory=set)

    def inside(self, name: str) -> Schema:
        """The schema of a child."""
        return self.schema.item() if self.listed else self.schema.property(name)


class Elements:
    """The codec of `{args}`; `template` has the holes `{key}` and `{value}`, and perhaps `{type}` between them.

    `words` are those for the types of text, JSON, objects and lists.
    """

    opening = re.compile(r"\s{0,256}(?P<ok>[<\[\]])?")
    several = None

    def __init__(self, template: str, words: tuple[str, ...] = ("raw", "json", "dict", "list")) -> None:
        self.template, self.words = template, words
        before, middle, after = _HOLES.split(template, 2)
        self.told = "{type}" in middle
        self.opens = before.split(" ", 1)[0] if self.told else before
        self.closes = after.partition("{key}")[0]
        self.named = "{key}" in after

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        return (yield from _Reading(self, r, call).run())

    def encode(self, call: Call) -> str:
        return "".join(self._write(key, value) for key, value in json.loads(call.arguments).items())

    def _write(self, key: str, value: object) -> str:
        template = self.template if key else re.sub(r' \w+="\{key\}"', "", self.template)
        kind, text = self._typed(value) if self.told else ("", self._text(value))
        return re.sub(
            r"\{(key|type|value)\}", lambda hole: {"key": key, "type": kind, "value": text}[hole[1]], template
        )

    def _typed(self, value: object) -> tuple[str, str]:
        """The word for a value's type, and its text."""
        raw, plain, mapping, sequence = self.words
        if isinstance(value, dict) and all(value):
            return mapping, "".join(self._write(key, item) for key, item in value.items())
        if isinstance(value, list):
            return sequence, "".join(self._write("", item) for item in value)
        if isinstance(value, str) and self.closes not in value:
            return raw, value
        return plain, json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")

    def _text(self, value: object) -> str:
        """A value as text: as elements, where these tell all that is in it, else as JSON."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict) and _plain(value):
            return "".join(self._write(key, item) for key, item in value.items())
        if isinstance(value, list) and value and not any(map(_ambiguous, value)):
            return "".join(self._write(_ITEM, item) for item in value)
        text = json.dumps(value, ensure_ascii=False)
        return text.replace("<", "\\u003c") if self.opens in text else text

    def grammar(self, tool: Tool) -> Node:
        return shapes.elements(tool, self.template, self.words * self.told)


def _plain(value: dict[str, object]) -> bool:
    """Whether elements tell all that is in an object."""
    if not value or next(iter(value)) == _ITEM or any(map(_ambiguous, value.values())):
        return False
    return all(map(_tag, value))


def _tag(key: str) -> bool:
    """Whether a key may be the name of a tag."""
    return re.fullmatch(r"[^<>\s\"'/]{1,256}", key) is not None


def _ambiguous(value: object) -> bool:
    """Whether a string inside of elements would be read as something else."""
    if not isinstance(value, str):
        return False
    try:
        strict_json(value.strip())
    except ValueError:
        return False
    return True


class _Reading:
    """Reads the elements of one call."""

    def __init__(self, codec: Elements, r: Reader, call: CallSink) -> None:
        self.codec, self.r, self.call = codec, r, call
        self.stack = [_Open("", call.schema, listed=False)]
        self.said = False
        self.before = ""
        self.quoted = self.cut_short = False
        scope = call.scope
        self.marks = scope.stop(codec.opens, codec.closes, *scope.openers)
        self.around = frozenset((*scope.closers, *scope.ends))

    def run(self) -> Steps[str]:
        """All elements, up to what closes the call."""
        codec, r = self.codec, self.r
        while True:
            mark = yield from self._junk()
            if mark == codec.opens:
                state = yield from self._element()
            elif mark == codec.closes:
                state = yield from self._close()
            elif mark:
                r.back()
                return self._end(unclosed=len(self.stack) > 1)
            elif self.call.cut:
                return self._cut()
            else:
                return self._end(unclosed=True)
            if state != WHOLE:
                return state

    def _junk(self) -> Steps[str]:
        """The next mark; text before it is dropped."""
        junk: list[str] = []
        start = self.r.at
        mark = yield from self.r.until(self.marks, lambda text, _at: junk.append(text))
        if raw := "".join(junk).strip():
            self.call.notice("dropped", start, raw)
        return mark

    def _element(self) -> Steps[str]:
        """An element, behind its opening mark."""
        name, kind = yield from self._head()
        if name is None:
            return self._cut() if self.r.closed else BAD
        top = self.stack[-1]
        schema = top.inside(name)
        self.before += (", " if top.count else "") + ("" if top.listed else json.dumps(name, ensure_ascii=False) + ": ")
        self.before = ("" if self.said else "{") + self.before
        top.count += 1
        top.given.add(name)
        listed = yield from self._holds(schema, kind)
        if self.cut_short and self.r.closed:
            return self._cut()
        if listed is None:
            return (yield from self._leaf(name, schema, kind))
        if len(self.stack) > DEEPEST:
            self.call.flawed = "too-deep"
            return BAD
        self._say("[" if listed else "{")
        self.stack.append(_Open(name, schema, listed))
        return WHOLE

    def _head(self) -> Steps[tuple[str | None, str]]:
        """The name of an element and the word for its type; None if the text ended in it."""
        codec, r = self.codec, self.r
        found = yield from r.look(_HEAD if codec.told else _NAME)
        if found is None or (not found["ok"] and (r.closed or codec.told)):
            return None, ""
        r.pos = found.end()
        if not codec.told:
            return found["name"], ""
        words = dict(_WORDS.findall(found["head"]))
        return words.get("name", words.get("key", "")), words.get("type", "")

    def _holds(self, schema: Schema, kind: str) -> Steps[bool | None]:
        """Whether an element holds a list; None if it is text."""
        if kind in self.codec.words[:2]:
            return None
        mark, size = yield from self.r.ahead(self.marks)
        if kind in self.codec.words and (mark or (yield from self.r.ended())):
            return kind == self.codec.words[3]
        if mark != self.codec.opens:
            return None
        if schema.kinds is not None and {"object", "array"} & schema.kinds:
            return "object" not in schema.kinds
        found = yield from self.r.look(_NAME, size)
        self.cut_short = found is None or not found["ok"]
        return found is not None and found["name"] == _ITEM

    def _close(self) -> Steps[str]:
        """A close tag outside of text: it closes the innermost element of its name, else it is stray."""
        name = yield from self._closed_name()
        names = [one.name for one in self.stack[1:]]
        if not names or (self.codec.named and name not in names):
            self.call.notice("dropped", self.r.at, name)
            return WHOLE
        while len(self.stack) > 1:
            top = self._pop()
            if not self.codec.named or top.name == name:
                break
            self.call.notice("unclosed", self.r.at)
        return WHOLE

    def _closed_name(self) -> Steps[str]:
        """The name in a close tag."""
        if not self.codec.named:
            return ""
        found = yield from self.r.look(_NAME)
        self.r.pos = found.end() if found else self.r.pos
        return found["name"] if found else ""

    def _pop(self) -> _Open:
        top = self.stack.pop()
        self._say("]" if top.listed else "}")
        return top

    def _end(self, *, unclosed: bool) -> str:
        """No further element."""
        if unclosed:
            self.call.notice("unclosed", self.r.at)
        while len(self.stack) > 1:
            self._pop()
        self._say("}" if self.said else "{}")
        return WHOLE

    def _cut(self) -> str:
        """The text ended."""
        closing = "".join("]" if one.listed else "}" for one in reversed(self.stack))
        self.call.missing = '"' * self.quoted + closing if self.said else "{}"
        self.r.rest()
        return CUT

    def _say(self, text: str) -> None:
        at = self.r.at
        self.call.put(self.before + text, at, at)
        self.before, self.said = "", True

    # text

    def _leaf(self, name: str, schema: Schema, kind: str) -> Steps[str]:
        """An element that holds text."""
        told = kind == self.codec.words[0] and schema.allows("string")
        wanted = _STRING if told else ANY if kind == self.codec.words[1] else schema
        self.quoted, self.cut_short = wanted.text_only, False
        pieces: list[str] = []
        if self.quoted:
            self._say('"')
        put = self._live if self.quoted else lambda text, _at: pieces.append(text)
        while mark := (yield from self.r.until(self.marks, put)):
            spelled = self.r.last
            self.r.back()
            size = yield from self._ends(mark, len(spelled), name)
            if size is None:
                self.r.pos += len(spelled)
                put(spelled, self.r.at - len(spelled))
            elif not size and (mark in self.call.scope.ends or self.cut_short):
                break
            else:
                self.r.pos += size
                self._whole("".join(pieces), wanted)
                return WHOLE
        self.call.rest = "" if self.quoted else "".join(pieces)
        return self._cut()

    def _live(self, text: str, at: int) -> None:
        self.call.put(quote(text), at, at + len(text))

    def _whole(self, text: str, wanted: Schema) -> None:
        """The text is whole."""
        if self.quoted:
            self.quoted = False
            return self._say('"')
        empty = {"array": "[]", "object": "{}"}
        kind = next((kind for kind in empty if wanted.kinds is not None and kind in wanted.kinds), "")
        value, right = (empty[kind], True) if kind and not text.strip() else typed(text, wanted)
        if not right:
            self.call.notice("untyped", self.r.at, text)
        return self._say(value)

    def _ends(self, mark: str, size: int, name: str) -> Steps[int | None]:
        """Whether the mark at the cursor ends the text: how much of it to read, 0 to leave it, None if it is data."""
        scope = self.call.scope
        if mark in scope.inner or (mark in scope.ends and self.r.specials is not None):
            return 0
        if mark == self.codec.opens and self._half(size, name):
            self.cut_short = True
            return 0
        if mark == self.codec.closes:
            return (yield from self._own(size, name))
        if mark == self.codec.opens:
            return (yield from self._next_opens(size))
        if mark in scope.openers:
            return None
        follows = yield from self._behind(self.around, size)
        if follows is None or follows == self.codec.closes:
            return None
        self.cut_short = not follows and self.call.cut
        self.call.notice("unclosed", self.r.at)
        return 0

    def _next_opens(self, size: int) -> Steps[int | None]:
        """The same for an opening tag: one of the next declared element ends a text that lacks its own close tag."""
        top = self.stack[-1]
        found = (yield from self.r.look(_NAME, size)) if self.codec.named and not top.listed else None
        if found is None or not found["ok"] or found["name"] not in top.schema.properties() - top.given:
            return None
        self.call.notice("unclosed", self.r.at)
        return 0

    def _half(self, size: int, name: str) -> bool:
        """Whether a limit cut the text within what may be the close tag."""
        rest = self.r.buf[self.r.pos + size :] if self.r.closed and self.call.cut and self.codec.named else "."
        return name.startswith(rest)

    def _own(self, size: int, name: str) -> Steps[int | None]:
        """The same for a close tag: of this element, or of one around it."""
        inner = False
        if self.codec.named:
            found = yield from self.r.look(_NAME, size)
            if self._half(size, name):
                self.cut_short = True
                return 0
            size += len(found.group()) if found else 0
            inner = found is not None and found["name"] == name
            if found is None or not (inner or any(one.name == found["name"] for one in self.stack[1:])):
                return None
        if (yield from self._behind(frozenset(), size)) is None:
            return None
        if self.codec.named and not inner:
            self.call.notice("unclosed", self.r.at)
            return 0
        return size

    def _behind(self, passed: frozenset[str], size: int) -> Steps[str | None]:
        """What stands behind a mark: another mark, "" for the end (also amid a mark), None for text."""
        after = yield from self.r.beyond(self.marks, passed, size)
        return "" if after is None and self.r.begun(self.marks, size) else after
