"""The grammar of each codec: which texts of its syntax are valid calls of a tool.

One function for each codec, called by the codec's `grammar`.
Strings that end at a mark never hold one that would end them, or the call, when it is read back.
"""

from __future__ import annotations

import json
import re
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
from .reader import stop
from .schema import Walk
from .style import JSON, Strings, Style, dumps, escaped, json_style, less
from .template import marks

__all__ = ["arguments", "braces", "json_call", "json_object", "params", "python"]

_BARE_KEY = re.compile(r"[\w.\-$]+")
_ANY_KEY = seq(chars("A-Za-z_"), repeat(chars("A-Za-z0-9_"), 0, 40))
_SPACES = "".join(char for char in map(chr, range(0x3001)) if char.isspace())

_FREE = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""The arguments of a tool that takes one free text."""

_NONE: dict[str, Any] = {"type": "object", "properties": {}}


def arguments(tool: Tool, style: Style = JSON) -> Node:
    """The arguments of a tool as one object; a tool without parameters takes none."""
    schema = tool.parameters or (_FREE if tool.kind == "custom" else _NONE)
    whole = schema if schema.get("type") == "object" else {"allOf": [schema, {"type": "object"}]}
    node = Walk(schema).value(whole, style)
    if node == NEVER:
        raise UsageError(f"the parameters of the tool {tool.name!r} admit no arguments")
    return node if isinstance(node, Literal) or node == EMPTY else Rule(tool.name, node)


def json_object(tool: Tool) -> Node:
    """`{"city": "Oslo"}`."""
    return arguments(tool)


def json_call(tool: Tool, name: str = "name", args: str = "arguments") -> Node:
    """`{"name": "weather", "arguments": {"city": "Oslo"}}`."""
    head = "{" + f"{dumps(name)}: {dumps(tool.name)}, {dumps(args)}: "
    return seq(literal(head), arguments(tool), literal("}"))


# --- parameters


def params(tool: Tool, template: str, without: tuple[str, ...] = ()) -> Node:
    """`<parameter=city>Oslo</parameter>` with the template's newlines; values hold none of the marks `without` either."""
    return arguments(tool, _params(template, without))


@lru_cache(64)
def _params(template: str, without: tuple[str, ...]) -> Style:
    before, middle, after = re.split(r"\{(?:key|value)\}", template)
    kept_out = tuple(dict.fromkeys((marks(after)[0], marks(before)[-1], *without)))

    def key(name: str) -> Node:
        return seq(markup(before), literal(name), markup(middle)) if _TAG_KEY.fullmatch(name) else NEVER

    any_key = seq(markup(before), _ANY_KEY, markup(middle))
    raw = _raw(kept_out, after)
    return Style(raw.string, raw.fixed, key, any_key, "", "", "", "", after=markup(after), inner=raw)


def _raw(kept_out: tuple[str, ...], after: str) -> Style:
    """Values as raw text: strings as they are, anything else as JSON."""
    inner = json_style(kept_out)
    first = "".join({mark[0]: None for mark in kept_out})

    def free(low: int, high: int | None, opens: str = "") -> Node:
        return text((*kept_out, _RETURN), low, high, before=after, opens=opens, open=True, name="value")

    def string(wanted: Strings) -> Node | None:
        if wanted.matching is not None:
            inside = less(wanted.matching, first + "\r")
            return None if inside == NEVER else inside
        kinds = wanted.place.kinds if wanted.place else None
        return free(wanted.low, wanted.high, "".join(_OPENS[kind] for kind in sorted(kinds or ())))

    def fixed(value: Any, place: Schema | None) -> Node:
        written = value if isinstance(value, str) else dumps(value)
        read = (
            typed(written, place or Schema({}))[0]
            if place is None or place.kinds != frozenset(("string",))
            else dumps(written)
        )
        return literal(written) if dumps(json.loads(read)) == dumps(value) and _holds_none(written, kept_out) else NEVER

    return Style(string, fixed, inner.key, inner.any_key, inner=inner, any=free(0, None))


def _holds_none(written: str, kept_out: tuple[str, ...]) -> bool:
    return "\r" not in written and not stop(*kept_out).final.search(written) and _encodes(written)


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


# --- braces


def braces(tool: Tool, mark: str = '<|"|>') -> Node:
    """`{city:<|"|>Oslo<|"|>,days:3}`."""
    return arguments(tool, _braces(mark))


@lru_cache(16)
def _braces(mark: str) -> Style:
    def between(inside: Node) -> Node:
        return seq(Mark(mark), inside, Mark(mark))

    def string(wanted: Strings) -> Node | None:
        if wanted.matching is not None:
            inside = less(wanted.matching, mark[0])
            return None if inside == NEVER else between(inside)
        return between(text((mark,), wanted.low, wanted.high, before=mark, name="string"))

    def plain(written: str) -> Node:
        return NEVER if stop(mark).final.search(written) or not _encodes(written) else between(literal(written))

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


def python(tool: Tool) -> Node:
    """`weather(city="Oslo", days=3)`."""
    return seq(literal(tool.name + "("), arguments(tool, _python(top=True)), literal(")"))


@lru_cache(2)
def _python(*, top: bool) -> Style:
    inside = json_style()

    def fixed(value: Any, _place: Schema | None) -> Node:
        return literal(_expression(value))

    words = ("None", "True", "False")
    if not top:
        return Style(_python_string, fixed, inside.key, inside.any_key, words=words)
    any_key = seq(_ANY_KEY, literal("="))
    return Style(_python_string, fixed, _keyword, any_key, "", "", words=words, inner=_python(top=False))


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
