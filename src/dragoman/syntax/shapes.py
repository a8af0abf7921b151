"""The grammar of each codec: which texts of its syntax are valid calls of a tool.

One function for each codec, called by the codec's `grammar`.
Strings that end at a mark never hold one that would end them, or the call, when it is read back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..errors import UsageError
from ..messages import Tool
from .grammar import (
    EMPTY,
    NEVER,
    Literal,
    Mark,
    Node,
    Rule,
    Spelling,
    alt,
    chars,
    literal,
    markup,
    repeat,
    seq,
    text,
)
from .kinds import Schema, typed
from .matching import matching
from .reader import stop
from .schema import MATCHING, Walk
from .style import JSON, Strings, Style, dumps, escaped, json_style, less
from .template import marks

__all__ = ["arguments", "braces", "json_call", "json_object", "kv_lines", "params", "python", "schema_of", "word_of"]

_BARE_KEY = re.compile(r"[\w.\-$]+")
_ANY_KEY = seq(chars("A-Za-z_"), repeat(chars("A-Za-z0-9_"), 0, 40))
_SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())

_FREE = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""The arguments of a tool that takes one free text."""

_NUMBER = repeat(chars("0-9"), 1, 2)

_NONE: dict[str, Any] = {"type": "object", "properties": {}}


def schema_of(tool: Tool) -> Mapping[str, Any]:
    """The schema of a tool's arguments."""
    return tool.parameters or (_FREE if tool.kind == "custom" else _NONE)


def arguments(tool: Tool, style: Style = JSON) -> Node:
    """The arguments of a tool as one object; a tool without parameters takes none."""
    schema = schema_of(tool) if tool.grammar is None else _matched(matching(tool.grammar))
    whole = schema if schema.get("type") == "object" else {"allOf": [schema, {"type": "object"}]}
    node = Walk(schema).value(whole, style)
    if node == NEVER and tool.grammar is not None:
        raise UsageError(f"this dialect cannot write an input by the grammar of the tool {tool.name!r}")
    if node == NEVER:
        raise UsageError(f"the parameters of the tool {tool.name!r} admit no arguments")
    return node if isinstance(node, Literal) or node == EMPTY else Rule(tool.name, node)


def _matched(node: Node) -> Mapping[str, Any]:
    """The schema of one free text that matches a grammar."""
    return {**_FREE, "properties": {"input": {"type": "string", MATCHING: node}}, "additionalProperties": False}


def json_object(tool: Tool) -> Node:
    """`{"city": "Oslo"}`."""
    return arguments(tool)


def json_call(tool: Tool, name: str = "name", args: str = "arguments", number: str = "") -> Node:
    """`{"name": "weather", "arguments": {"city": "Oslo"}}`; without a key for the name, `{"weather": {"city": "Oslo"}}`.

    `number`: the key of the call's number, where that comes first.
    """
    first = seq(literal(f'{{{dumps(number)}: "'), _NUMBER, literal('", ')) if number else literal("{")
    head = f"{dumps(name)}: {dumps(tool.name)}, {dumps(args)}: " if name else f"{dumps(tool.name)}: "
    return seq(first, literal(head), arguments(tool), literal("}"))


# --- parameters


def params(
    tool: Tool, template: str, text: tuple[str, ...] = ("true", "string"), *, strip: bool = False, cdata: bool = False
) -> Node:
    """`<parameter=city>Oslo</parameter>` with the template's newlines; the rest as for the codec `Params`."""
    return arguments(tool, _params(template, text, strip=strip, cdata=cdata))


def word_of(kind: str, text: tuple[str, ...]) -> str:
    """The word for a type: true or false where only strings are told apart, else that of JSON Schema."""
    if text[0] == "true":
        return "true" if kind == "string" else "false"
    if text[0] == "raw":
        return "raw" if kind == "string" else "json"
    return "number" if kind == "integer" else kind


@lru_cache(64)
def _params(template: str, text: tuple[str, ...], *, strip: bool, cdata: bool) -> Style:
    before, middle, after = re.split(r"\{(?:key|value)\}", template)
    middle, typed, rest = middle.partition("{type}")
    raw = _raw(_Raw((marks(after)[0], marks(before)[-1], *_CDATA[: 1 * cdata]), after, told=bool(typed), strip=strip))

    def key(name: str) -> Node:
        return seq(markup(before), literal(name), markup(middle)) if _TAG_KEY.fullmatch(name) else NEVER

    def told(kind: str, written: Node) -> Node:
        return seq(literal(word_of(kind, text)), markup(rest), written)

    any_key = seq(markup(before), _ANY_KEY, markup(middle))
    inner = _with_words(raw, told) if typed else raw
    return Style(raw.string, raw.fixed, key, any_key, "", "", "", "", after=markup(after), inner=inner)


def _with_words(raw: Style, told: Callable[[str, Node], Node]) -> Style:
    """The style of values that stand behind the word for their type."""

    def fixed(value: Any, place: Schema | None) -> Node:
        kind = next(iter(Schema({"const": value}).kinds or ("null",)))
        return told(kind, raw.fixed(value, place))

    inner = raw.values
    plain = [(kind, Walk({}).value({"type": kind}, inner)) for kind in ("number", "boolean", "null", "object", "array")]
    every = alt(told("string", raw.any or NEVER), *(told(kind, written) for kind, written in plain))
    return replace(raw, fixed=fixed, told=told, any=every)


@dataclass(frozen=True, slots=True)
class _Raw:
    """How raw values stand: the marks to keep out of them, what follows, whether their type is told and they are stripped."""

    kept_out: tuple[str, ...]
    after: str
    told: bool
    strip: bool

    def text(self, low: int, high: int | None, opens: str = "") -> Node:
        """A string; one that has a least length keeps it only if it has no white space at its edges to lose."""
        tight: tuple[Spelling, ...] = (
            (((_SPACES, False), (self.after.lstrip()[0], False)),) if self.strip and low else ()
        )
        opens += _SPACES * bool(tight)
        return text(
            (*self.kept_out, _RETURN, *tight), low, high, before=self.after, opens=opens, open=True, name="value"
        )

    def reads(self, written: str, value: Any, place: Schema | None) -> bool:
        """Whether a text is read as this value."""
        if "\r" in written or stop(*self.kept_out).final.search(written) or not _encodes(written):
            return False
        shown = written.strip() if self.strip else written
        if isinstance(value, str) and (self.told or (place is not None and place.text_only)):
            return shown == value
        return dumps(json.loads(typed(shown, place or Schema({}))[0])) == dumps(value)


def _raw(how: _Raw) -> Style:
    """Values as raw text: strings as they are, anything else as JSON."""
    inner = json_style(how.kept_out)
    excluded = "".join({mark[0]: None for mark in how.kept_out}) + "\r" + _SPACES * how.strip

    def string(wanted: Strings) -> Node | None:
        if wanted.matching is not None:
            inside = less(wanted.matching, excluded)
            return None if inside == NEVER else inside
        kinds = wanted.place.kinds if wanted.place and not how.told else None
        return how.text(wanted.low, wanted.high, "".join(_OPENS[kind] for kind in sorted(kinds or ())))

    def fixed(value: Any, place: Schema | None) -> Node:
        written = value if isinstance(value, str) else dumps(value)
        return literal(written) if how.reads(written, value, place) else NEVER

    return Style(string, fixed, inner.key, inner.any_key, inner=inner, any=how.text(0, None))


_CDATA = ("<![CDATA[",)
_TAG_KEY = re.compile(r"[^\s<>\"'\ud800-\udfff]{1,256}")
_RETURN: Spelling = (("\r", False),)
_NUMERIC = "+-.0123456789" + _SPACES
_OPENS = {
    "object": "{" + _SPACES,
    "array": "[({" + _SPACES,
    "integer": _NUMERIC,
    "number": _NUMERIC + "iInN",
    "string": "",
    "boolean": "",
    "null": "",
}
"""Characters that text must not begin with to stay a string where such a value may stand too."""


# --- elements


def elements(tool: Tool, template: str, words: tuple[str, ...] = ()) -> Node:
    """`<city>Oslo</city>`, and elements in elements; `words`: those for types, where these are told."""
    return arguments(tool, _told_elements(template, words) if words else _elements(template))


@lru_cache(8)
def _elements(template: str) -> Style:
    """The top; inside, what elements alone would not tell stands as JSON."""
    before, middle, after = re.split(r"\{key\}|\{value\}", template, maxsplit=2)
    raw = _raw(_Raw((before,), before, told=False, strip=False))

    def key(name: str) -> Node:
        return seq(Mark(before), literal(name + middle)) if _TAG_KEY.fullmatch(name) else NEVER

    def ending(name: str) -> Node:
        return markup(after.replace("{key}", name))

    def item(inside: Node) -> Node:
        return seq(key("item"), inside, ending("item"))

    top = Style(raw.string, raw.fixed, key, NEVER, "", "", "", "", ending=ending, item=item, lists=("", ""))
    return replace(top, inner=replace(top, any=raw.any, plain=raw))


@lru_cache(8)
def _told_elements(template: str, words: tuple[str, ...]) -> Style:
    """Every element tells its type, so nothing is in doubt."""
    top = _params(template, words[:1], strip=False, cdata=False)
    before, _, rest = re.sub(r' \w+="\{key\}"', "", template).partition("{type}")
    rest, _, after = rest.partition("{value}")
    kinds = {"string": words[0], "object": words[2], "array": words[3]}

    def told(kind: str, written: Node) -> Node:
        return seq(literal(kinds.get(kind, words[1])), markup(rest), written)

    def item(inside: Node) -> Node:
        return seq(markup(before), inside, markup(after))

    return replace(
        top,
        inner=replace(
            top.values,
            key=top.key,
            any_key=top.any_key,
            open="",
            close="",
            comma="",
            item_comma="",
            after=top.after,
            inner=None,
            told=told,
            item=item,
            lists=("", ""),
        ),
    )


# --- lines


def kv_lines(tool: Tool, joint: str = "=", line: str = "\n") -> Node:
    """`city=Oslo` on a line of its own; what is no text stands in it as JSON."""
    return arguments(tool, _kv_lines(joint, line))


@lru_cache(8)
def _kv_lines(joint: str, line: str) -> Style:
    raw = _raw(_Raw((line,), line, told=False, strip=True))

    def key(name: str) -> Node:
        return literal(name + joint) if _TAG_KEY.fullmatch(name) and joint.strip() not in name else NEVER

    return Style(
        raw.string, raw.fixed, key, seq(_ANY_KEY, literal(joint)), "", "", "", "", after=literal(line), inner=raw
    )


# --- braces


def braces(tool: Tool, mark: str = '<|"|>', close: str = '<|"|>') -> Node:
    """`{city:<|"|>Oslo<|"|>,days:3}`."""
    return arguments(tool, _braces(mark, close))


@lru_cache(16)
def _braces(mark: str, close: str) -> Style:
    def between(inside: Node) -> Node:
        return seq(Mark(mark), inside, Mark(close))

    def string(wanted: Strings) -> Node | None:
        if wanted.matching is not None:
            inside = less(wanted.matching, close[0])
            return None if inside == NEVER else between(inside)
        return between(text((close,), wanted.low, wanted.high, before=close, name="string"))

    def plain(written: str) -> Node:
        return NEVER if stop(close).final.search(written) or not _encodes(written) else between(literal(written))

    def fixed(value: Any, _place: Schema | None) -> Node:
        if isinstance(value, str):
            return plain(value)
        if isinstance(value, dict):
            pairs = [seq(key(name), fixed(one, None)) for name, one in value.items()]
            return seq(literal("{"), *_joined(pairs), literal("}"))
        if isinstance(value, list):
            return seq(literal("["), *_joined([fixed(one, None) for one in value]), literal("]"))
        return literal(dumps(value))

    def key(name: str) -> Node:
        return seq(literal(name) if _BARE_KEY.fullmatch(name) else plain(name), literal(":"))

    return Style(string, fixed, key, seq(_ANY_KEY, literal(":")), comma=",", item_comma=",")


def _joined(parts: list[Node], comma: str = ",") -> list[Node]:
    return [piece for i, part in enumerate(parts) for piece in ((literal(comma), part) if i else (part,))]


def _encodes(written: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in written)


# --- python


def python(tool: Tool, *, json: bool = False) -> Node:
    """`weather(city="Oslo", days=3)`; `json`: with the words of JSON."""
    return seq(literal(tool.name + "("), arguments(tool, _python(top=True, json=json)), literal(")"))


@lru_cache(4)
def _python(*, top: bool, json: bool) -> Style:
    inside = json_style()

    def fixed(value: Any, _place: Schema | None) -> Node:
        return literal(dumps(value) if json else _expression(value))

    words = ("null", "true", "false") if json else ("None", "True", "False")
    if not top:
        return Style(_python_string, fixed, inside.key, inside.any_key, words=words)
    any_key = seq(_ANY_KEY, literal("="))
    return Style(_python_string, fixed, _keyword, any_key, "", "", words=words, inner=_python(top=False, json=json))


def _keyword(name: str) -> Node:
    return literal(name + "=") if name.isidentifier() else NEVER


def _python_string(wanted: Strings) -> Node | None:
    inside = escaped(wanted.matching) if wanted.matching else repeat(_PYTHON_CHAR, wanted.low, wanted.high)
    return seq(literal('"'), inside, literal('"'))


_PYTHON_CHAR = Rule("char", alt(chars('\x00-\x1f"\\', negated=True), seq(literal("\\"), chars('"\\nrt'))))


def _expression(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {_expression(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_expression, value)) + "]"
    return repr(value) if value is None or isinstance(value, bool) else dumps(value)
