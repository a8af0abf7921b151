"""JSON Schema as grammar: the text of the values that satisfy it, in any `Style`.

Enforced: `type` (also a list, and the loose names that `kinds` knows), `properties` in their declared order,
`required`, `additionalProperties` of objects that declare no properties, `items`, `prefixItems`, `minItems`,
`maxItems`, `minLength`, `maxLength`, simple `pattern`s, `minimum`, `maximum` and their exclusive forms, `enum`,
`const`, `anyOf`, `oneOf`, `allOf`, `$ref` (also recursive), `nullable`.

Narrower than the schema, so what is written stays valid: objects that declare properties get no others; optional
properties keep their order; numbers have at most 16 digits; of an array of `prefixItems` only those.

Wider than the schema: the keywords in `LOOSE`, a `pattern` that is not simple, a `oneOf` whose branches overlap, and
references that lead nowhere.  `Walk.loosened` lists each with its place; whoever needs them checks the value.
`format` is an annotation and not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil, floor
from typing import Any

from .alike import text_of
from .extent import steps
from .grammar import EMPTY, NEVER, Alt, Chars, Literal, Node, Repeat, Rule, Seq, alt, literal, maybe, repeat, seq
from .kinds import Schema
from .merge import distinct, merged, resolve
from .nesting import nests, nothing
from .numbers import NUMBER, bound, integers, numbers
from .pattern import pattern, span
from .style import JSON, Strings, Style

__all__ = ["LOOSE", "MATCHING", "Walk", "anything", "loosened", "value"]

LOOSE = (
    "not",
    "if",
    "multipleOf",
    "uniqueItems",
    "contains",
    "propertyNames",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "maxProperties",
)
"""Keywords that are not enforced, other keywords beside them are."""

MATCHING = "\0matching"
"""Beside the type of a string: a grammar tree that it matches.  No schema that came as JSON can hold one."""

DEEPEST = 48
"""Schemas nested deeper than this are taken for any value."""

OPTIONAL_ITEMS = 64
"""Of the items that have a schema for each place, so many that need not be there may be."""

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_HINTS = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}


def value(schema: Any, style: Style = JSON) -> Node:
    """The text of the values that satisfy a schema."""
    return Walk(schema).value(schema, style)


def loosened(schema: Any) -> tuple[str, ...]:
    """What of a schema its grammar does not enforce, as JSON pointers."""
    walk = Walk(schema)
    walk.value(schema, JSON)
    return tuple(walk.loosened)


@lru_cache(64)
def anything(style: Style) -> Node:
    """Any value."""
    if style.any is not None:
        return style.any
    rule = Rule("value")
    inner = rule if style.values is style else anything(style.values)
    pair = seq(style.any_key, inner, style.after)
    rule.node = alt(
        style.string(Strings()) or NEVER,
        NUMBER,
        *map(literal, style.words),
        seq(literal(style.open), _several(pair, style.comma, 0, None), literal(style.close)),
        seq(literal("["), _several(inner, style.item_comma, 0, None), literal("]")),
    )
    return rule


_PLAIN = ("string", "boolean", "integer", "number")
_NOTES = {"type", "description", "title", "default", "examples"}


@lru_cache(256)
def _plain(kind: str, style: Style) -> Node:
    """What most parameters are: a type, and nothing else said of it."""
    schema = {"type": kind, "nullable": False}
    return Walk(schema).value(schema, style)


@lru_cache(1024)
def _shared_pair(key: str, written: str, style: Style) -> tuple[Node, tuple[str, ...]]:
    """A pair of an object, and what of its schema is not enforced, from the object's place on."""
    walk = Walk(json.loads(written))
    node = walk._new_pair(key, walk.root, style, "")  # noqa: SLF001 (it is ours)
    return node, tuple(walk.loosened)


class Walk:
    """One schema being walked; `loosened` collects what was not enforced."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.loosened: dict[str, None] = {}
        self.rules: dict[tuple[str, Style], Rule] = {}
        self.depth = 0
        self.steps = steps()

    def value(self, schema: Any, style: Style, place: Schema | None = None, path: str = "#") -> Node:
        """The values that satisfy `schema`.  `place`: all that may stand there, if `schema` is a branch of it."""
        if place is None and type(schema) is dict and schema.get("type") in _PLAIN and not schema.keys() - _NOTES:
            self.steps.take(path)
            return _plain(schema["type"], style)
        place = place or Schema(schema, self.root)
        if schema is False or self.depth > DEEPEST or not isinstance(schema, Mapping):
            self._loose(path, "depth", when=self.depth > DEEPEST)
            return NEVER if schema is False else anything(style)
        self.depth += 1
        self.steps.take(path)
        try:
            return self._value(schema, style, place, path)
        finally:
            self.depth -= 1

    def _value(self, schema: Mapping[str, Any], style: Style, place: Schema, path: str) -> Node:
        if "$ref" in schema and not set(schema) - {"$ref", "$defs", "definitions", "description", "title", "default"}:
            return self._reference(schema["$ref"], style, place, path)
        node, unclear = merged(schema, self.root)
        for keyword in (*unclear, *(word for word in LOOSE if word in node)):
            self._loose(path, keyword)
        if isinstance(node.get("enum"), list):
            return self._fixed(node, style, place)
        for word in ("anyOf", "oneOf"):
            if isinstance(branches := node.get(word), list):
                return self._branches(node, word, branches, style, place, path)
        kinds = _kinds(node)
        told = style.told or (lambda _, written: written)
        ways = (told(kind, self._typed(kind, node, style, place, path)) for kind in kinds)
        return alt(*ways) if kinds else anything(style)

    def _loose(self, path: str, keyword: str, *, when: bool = True) -> None:
        if when:
            self.loosened[f"{path}/{keyword}"] = None

    def _reference(self, ref: str, style: Style, place: Schema, path: str) -> Node:
        """A definition is one rule, wherever it is referred to, from within itself too."""
        key = (ref, style)
        if key not in self.rules:
            target = resolve(ref, self.root)
            if target is None:
                self._loose(path, "$ref")
                return anything(style)
            self.rules[key] = Rule(ref.rstrip("/#").rpartition("/")[2] or "schema")
            self.rules[key].node = self.value(target, style, place, path)
        return NEVER if self.rules[key].node == NEVER else self.rules[key]

    def _fixed(self, node: Mapping[str, Any], style: Style, place: Schema) -> Node:
        kinds = _kinds(node) if "type" in node else _TYPES
        return alt(*(style.fixed(one, place) for one in node["enum"] if _is_one_of(one, kinds)))

    def _branches(
        self, node: Mapping[str, Any], word: str, branches: Sequence[Any], style: Style, place: Schema, path: str
    ) -> Node:
        rest, style = {key: one for key, one in node.items() if key != word}, style.plain or style
        self._loose(path, word, when=word == "oneOf" and not distinct(branches, self.root))
        ways = [
            self.value({"allOf": [rest, branch]} if rest else branch, style, place, f"{path}/{word}/{i}")
            for i, branch in enumerate(branches)
        ]
        return alt(*ways)

    def _typed(self, kind: str, node: Mapping[str, Any], style: Style, place: Schema, path: str) -> Node:
        if style.plain and kind in ("object", "array"):
            if nests(kind, node, style, place):
                nested = replace(style, plain=None, inner=style)
                return alt(self._typed(kind, node, nested, place, path), *nothing(kind, node))
            style = style.plain
        if kind == "object":
            return self._object(node, style, path)
        if kind == "array":
            return self._array(node, style, path)
        if kind == "string":
            return self._string(node, style, place, path)
        if kind in ("integer", "number"):
            return self._number(kind, node, path)
        null, true, false = style.words
        return literal(null) if kind == "null" else alt(literal(true), literal(false))

    # --- objects

    def _object(self, node: Mapping[str, Any], style: Style, path: str) -> Node:
        return seq(literal(style.open), self.members(node, style, path), literal(style.close))

    def members(self, node: Mapping[str, Any], style: Style, path: str = "#") -> Node:
        """What stands inside the braces of an object."""
        declared = node.get("properties")
        properties = dict(declared) if isinstance(declared, Mapping) else {}
        required = dict.fromkeys(key for key in node.get("required") or () if isinstance(key, str))
        more = node.get("additionalProperties", declared is None)
        for key in required:
            properties.setdefault(
                key, more if isinstance(more, Mapping) else "additionalProperties" not in node or more
            )
        least = _count(node, "minProperties") or 0
        if not properties:
            return self._map(node, more, least, style, path) if more is not False else (NEVER if least else EMPTY)
        self._loose(path, "minProperties", when=least > max(1, len(required)))
        pairs = [(self._pair(key, one, style, path), key in required) for key, one in properties.items()]
        kept = [(pair, must) for pair, must in pairs if must or pair != NEVER]
        return _ordered(kept, style.comma, least=bool(least))

    def _pair(self, key: str, schema: Any, style: Style, path: str) -> Node:
        """A key and its value; those that are alike are made once, and so are one rule."""
        if not (written := text_of(schema)):
            return self._new_pair(key, schema, style, path)
        node, loosened = _shared_pair(key, written, style)
        self.loosened.update((path + one, None) for one in loosened)
        self.steps.take(path)
        return node

    def _new_pair(self, key: str, schema: Any, style: Style, path: str) -> Node:
        inside = self.value(schema, style.values, path=f"{path}/properties/{key}")
        return seq(style.key(key), _named(key, inside), style.ending(key) if style.ending else style.after)

    def _map(self, node: Mapping[str, Any], more: Any, least: int, style: Style, path: str) -> Node:
        """An object with any keys."""
        inside = self.value({} if more is True else more, style.values, path=f"{path}/additionalProperties")
        pair = seq(style.any_key, inside, style.after)
        return _several(pair, style.comma, least, _count(node, "maxProperties"))

    # --- arrays

    def _array(self, node: Mapping[str, Any], style: Style, path: str) -> Node:
        items = node.get("items", True)
        before = node.get("prefixItems", items if isinstance(items, list) else [])
        low, high = _count(node, "minItems") or 0, _count(node, "maxItems")
        if before:
            inside = self._tuple(node, before, low, high, style, path)
        else:
            item = NEVER if items is False else self._item(items, style, f"{path}/items")
            inside = _several(_named("item", item), style.item_comma, low, high)
        return seq(literal(style.lists[0]), inside, literal(style.lists[1]))

    def _item(self, schema: Any, style: Style, path: str) -> Node:
        inside = self.value(schema, style.values, path=path)
        return style.item(inside) if style.item and inside != NEVER else inside

    def _tuple(
        self, node: Mapping[str, Any], before: Sequence[Any], low: int, high: int | None, style: Style, path: str
    ) -> Node:
        """Items with a schema for each place; further ones only where the schema asks for them."""
        known = [self._item(one, style, f"{path}/prefixItems/{i}") for i, one in enumerate(before)]
        rest = node.get("additionalItems" if isinstance(node.get("items"), list) else "items", True)
        further = self._item(rest, style, f"{path}/items") if low > len(known) or "items" in node else NEVER
        most = len(known) if high is None else min(high, len(known))
        tail: Node = NEVER if high is not None and high < low else EMPTY
        if most == len(known) and further != NEVER:
            left = None if high is None else high - most
            tail = repeat(seq(literal(style.item_comma), further), max(0, low - most), left)
        elif low > most:
            tail = NEVER
        elif most > low + OPTIONAL_ITEMS:
            most = low + OPTIONAL_ITEMS
        items = [seq(literal(style.item_comma) if i else EMPTY, known[i]) for i in range(most)]
        for item in reversed(items[low:]):
            tail = maybe(seq(item, tail))
        return seq(*items[:low], tail)

    # --- strings and numbers

    def _string(self, node: Mapping[str, Any], style: Style, place: Schema, path: str) -> Node:
        if isinstance(whole := node.get(MATCHING), Seq | Alt | Repeat | Rule | Chars | Literal):
            return style.string(Strings(matching=whole, place=place)) or NEVER
        low, high = _count(node, "minLength") or 0, _count(node, "maxLength")
        if isinstance(node.get("pattern"), str):
            matching = pattern(node["pattern"])
            matching, kept = _fitted(matching, low, high)
            found = style.string(Strings(matching=matching, place=place)) if matching is not None else None
            if found is not None:
                self._loose(path, "minLength", when=not kept and "minLength" in node)
                self._loose(path, "maxLength", when=not kept and "maxLength" in node)
                return found
            self._loose(path, "pattern")
        return style.string(Strings(low, high, place=place)) or NEVER

    def _number(self, kind: str, node: Mapping[str, Any], path: str) -> Node:
        low, above = bound(node, "minimum", "exclusiveMinimum", max)
        high, below = bound(node, "maximum", "exclusiveMaximum", min)
        if kind == "integer":
            first = None if low is None else floor(low) + 1 if above else ceil(low)
            last = None if high is None else ceil(high) - 1 if below else floor(high)
            return integers(first, last)
        found = numbers(low, high, above=above, below=below)
        self._loose(path, "minimum", when=found == NEVER)
        return NUMBER if found == NEVER else found


# --- pieces


def _ordered(pairs: Sequence[tuple[Node, bool]], comma: str, *, least: bool) -> Node:
    """Pairs in their order, those that must be and those that may be, with commas between what is there."""
    between = literal(comma)
    first = next((i for i, (_, must) in enumerate(pairs) if must), None)
    if first is None:
        some = _some([pair for pair, _ in pairs], between)
        return some if least else maybe(some)
    before = [maybe(seq(pair, between)) for pair, _ in pairs[:first]]
    after = [seq(between, pair) if must else maybe(seq(between, pair)) for pair, must in pairs[first + 1 :]]
    return seq(*before, pairs[first][0], *after)


def _some(pairs: Sequence[Node], between: Node) -> Node:
    """At least one of the pairs."""
    if len(pairs) < 2:
        return pairs[0] if pairs else NEVER
    half = len(pairs) // 2
    pairs = [_named("pair", pair) for pair in pairs]
    rest = [maybe(seq(between, pair)) for pair in pairs[half:]]
    return alt(seq(_some(pairs[:half], between), *rest), _some(pairs[half:], between))


def _several(part: Node, comma: str, low: int, high: int | None) -> Node:
    """The part from `low` to `high` times, with commas between."""
    if high == 0 or part == NEVER:
        return EMPTY if low == 0 else NEVER
    more = repeat(seq(literal(comma), part), max(0, low - 1), None if high is None else high - 1)
    found = seq(part, more)
    return found if low else maybe(found)


def _named(name: str, node: Node) -> Node:
    """The same as a rule of its own, where it is more than a word."""
    small = not isinstance(node, Seq | Alt) or (
        isinstance(node, Alt) and all(isinstance(p, Literal) for p in node.parts)
    )
    return node if small or node in (EMPTY, NEVER) else Rule(name, node)


def _kinds(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types to write; where the schema does not say, those that its other keywords are about; () is any."""
    if "type" in node:
        found = _named_kinds(node["type"]) if isinstance(node["type"], str) else _listed_kinds(node["type"])
    else:
        found = frozenset(kind for kind, words in _HINTS.items() if any(word in node for word in words))
    if node.get("nullable") is True and found:
        found |= {"null"}
    return tuple(kind for kind in _TYPES if kind in found and not (kind == "integer" and "number" in found))


def _listed_kinds(names: Any) -> frozenset[str]:
    return Schema({"type": names}).kinds or frozenset(_TYPES)


_named_kinds = lru_cache(256)(_listed_kinds)


def _is_one_of(one: Any, kinds: Sequence[str]) -> bool:
    kind = Schema({"const": one}).kinds or frozenset()
    return bool(kind & {*kinds, *(("integer",) if "number" in kinds else ())})


def _count(node: Mapping[str, Any], word: str) -> int | None:
    found = node.get(word)
    return int(found) if isinstance(found, int | float) and found >= 0 else None


def _fitted(matching: Node | None, low: int, high: int | None) -> tuple[Node | None, bool]:
    """What a pattern matches within the bounds, and whether they are kept."""
    if isinstance(matching, Repeat) and isinstance(matching.part, Chars):
        high = high if matching.high is None else matching.high if high is None else min(high, matching.high)
        return repeat(matching.part, max(low, matching.low), high), True
    if matching is None:
        return None, False
    least, most = span(matching)
    return matching, low <= least and (high is None or (most is not None and most <= high))
