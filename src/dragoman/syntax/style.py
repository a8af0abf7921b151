"""How a syntax writes JSON values: what `schema` walks through is the same for all, what it writes is a `Style`.

    JSON       {"key": "text", "n": 1}
    braces     {key:<|"|>text<|"|>,n:1}
    python     key="text", n=1
    params     <parameter=key>text</parameter>, and JSON for other values than strings

A style never writes text that would be read back as something else: a string that may not hold a mark has an exact
`Text` in its place, and a fixed value that cannot be written is `NEVER`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .grammar import (
    EMPTY,
    NEVER,
    Chars,
    Literal,
    Node,
    Rule,
    Spelling,
    alt,
    chars,
    literal,
    rebuilt,
    repeat,
    seq,
    text,
)
from .kinds import Schema
from .reader import stop
from .recursion import productive

__all__ = ["CHAR", "JSON", "Strings", "Style", "dumps", "escaped", "json_style", "less"]


@dataclass(frozen=True, slots=True)
class Strings:
    """Which strings may stand at a place: their length, what they match, and the schema of the place."""

    low: int = 0
    high: int | None = None
    matching: Node | None = None
    place: Schema | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Style:
    """One way to write values.

    `string` writes the strings of a kind, or None where it cannot keep to what they match.
    `fixed` writes one known value at a place.  `key` writes what stands before a value, `any_key` any such key.
    `after` follows a value, `ending` does where that depends on the key.  `comma` parts pairs, `item_comma` items.  `inner` is the style of values inside.
    `any` writes any value, where there is a simpler way than by all the others.
    `told` writes a value with the word for its type, where values have one.
    `item` writes what stands around an item, `lists` what does around all.
    `plain` writes what would be read back as something else here: alternatives, tuples, objects with any keys.
    """

    string: Callable[[Strings], Node | None]
    fixed: Callable[[Any, Schema | None], Node]
    key: Callable[[str], Node]
    any_key: Node
    open: str = "{"
    close: str = "}"
    comma: str = ", "
    item_comma: str = ", "
    after: Node = EMPTY
    ending: Callable[[str], Node] | None = None
    words: tuple[str, str, str] = ("null", "true", "false")
    inner: Style | None = None
    any: Node | None = None
    told: Callable[[str, Node], Node] | None = None
    item: Callable[[Node], Node] | None = None
    lists: tuple[str, str] = ("[", "]")
    plain: Style | None = None

    @property
    def values(self) -> Style:
        """The style of values inside of objects and lists."""
        return self.inner or self


# --- JSON

_CONTROLS = ("\x00", "\x1f")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f"}
_HALF = re.compile("[\ud800-\udfff]")
_HEX = chars("0-9a-fA-F")
_TWO = repeat(_HEX, 2, 2)
_PLAIN = alt(seq(chars("0-9a-cA-CefEF"), repeat(_HEX, 3, 3)), seq(chars("dD"), chars("0-7"), _TWO))
_PAIR = seq(chars("dD"), chars("89abAB"), _TWO, literal("\\u"), chars("dD"), chars("c-fC-F"), _TWO)
_ESCAPE = Rule("escape", seq(literal("\\"), alt(chars('"\\/bfnrt'), seq(literal("u"), alt(_PLAIN, _PAIR)))))

CHAR = Rule("char", alt(Chars((_CONTROLS, ('"', '"'), ("\\", "\\")), negated=True), _ESCAPE))


def dumps(value: Any) -> str:
    """A value as JSON; lone surrogates, which no UTF-8 can carry, stay escaped."""
    written = json.dumps(value, ensure_ascii=False)
    return written if written.isascii() else _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", written)


@lru_cache(64)
def json_style(without: tuple[str, ...] = ()) -> Style:
    """JSON whose strings hold none of the marks, for JSON inside of something that ends at a mark."""
    first = "".join({mark[0]: None for mark in without})

    def string(wanted: Strings) -> Node | None:
        if wanted.matching is not None:
            inside = escaped(less(wanted.matching, first))
        else:
            inside = _guarded(without, wanted.low, wanted.high) if without else repeat(CHAR, wanted.low, wanted.high)
        return None if inside == NEVER else seq(literal('"'), inside, literal('"'))

    def plain(written: str) -> Node:
        return NEVER if without and stop(*without).final.search(written) else literal(written)

    any_string = seq(literal('"'), _guarded(without, 1, 40) if without else repeat(CHAR, 1, 40), literal('"'))
    any_key = seq(any_string, literal(": "))
    return Style(string, lambda value, _: plain(dumps(value)), lambda key: plain(dumps(key) + ": "), any_key)


def _guarded(without: tuple[str, ...], low: int, high: int | None) -> Node:
    """The inside of a JSON string that holds none of the marks; a bounded one holds no first character of theirs."""
    if low == 0 and high is None:
        outside: Spelling = (('"\\' + "".join(map(chr, range(32))), False),)
        piece = text((*without, outside), open=True, name="string")
        return seq(piece, repeat(seq(_ESCAPE, piece)))
    first = dict.fromkeys((mark[0], mark[0]) for mark in without)
    return repeat(alt(Chars((_CONTROLS, ('"', '"'), ("\\", "\\"), *first), negated=True), _ESCAPE), low, high)


def escaped(node: Node) -> Node:
    """Text of a pattern as the inside of a JSON string."""

    def leaf(node: Node) -> Node:
        match node:
            case Literal(plain):
                return literal(dumps(plain)[1:-1])
            case Chars(ranges, negated):
                special = [literal(to) for char, to in _ESCAPES.items() if char in node]
                if negated:
                    return alt(Chars((*ranges, _CONTROLS, ('"', '"'), ("\\", "\\")), negated=True), *special)
                kept = node.less('"\\' + "".join(map(chr, range(32))))
                return alt(*([kept] if kept.ranges else []), *special)
        return node

    return rebuilt(node, leaf)


def less(node: Node, excluded: str) -> Node:
    """A pattern that writes none of some characters."""

    def leaf(node: Node) -> Node:
        match node:
            case Literal(plain):
                return NEVER if {*plain} & {*excluded} else node
            case Chars():
                kept = node.less(excluded)
                return kept if kept.ranges or kept.negated else NEVER
        return node

    return productive(rebuilt(node, leaf)) if excluded else node


JSON = json_style()
