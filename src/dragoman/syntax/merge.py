"""Schemas in one piece: references followed, `allOf` merged into what stands beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any
from urllib.parse import unquote

from .kinds import Schema

__all__ = ["distinct", "merged", "resolve"]

DEEPEST = 32
MOST_BRANCHES = 64
STEPS = 1000
"""Parts that one schema is merged from; of more, some are left out."""


def resolve(ref: Any, root: Any) -> Any:
    """What a reference within the document points to; None if nothing does."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    node = root
    for step in filter(None, unquote(ref[1:]).split("/")):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def merged(schema: Mapping[str, Any], root: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A schema without `$ref`, `allOf` and `const` (an `enum` of one), and the keywords that could not be merged exactly."""
    merge = _Merge(root)
    return merge.whole(schema, 0), tuple(merge.unclear)


class _Merge:
    """One schema being merged."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.unclear: dict[str, None] = {}
        self.steps = 0

    def whole(self, schema: Any, depth: int) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            return {"enum": []} if schema is False else {}
        node = {
            key: one for key, one in schema.items() if key not in ("$ref", "allOf", "$defs", "definitions", "const")
        }
        if "const" in schema:
            node = self.both(node, {"enum": [schema["const"]]})
        for part in self._parts(schema, depth):
            node = self.both(node, self.whole(part, depth + 1))
        return node

    def _parts(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        parts = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
        if "$ref" in schema:
            parts.insert(0, resolve(schema["$ref"], self.root))
        self.steps += len(parts)
        if parts and (depth > DEEPEST or self.steps > STEPS or None in parts):
            self.unclear["$ref" if None in parts else "allOf"] = None
            return []
        return parts

    def both(self, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """What satisfies the one and the other."""
        return {**one, **other, **{key: self._keyword(key, one[key], other[key]) for key in one.keys() & other.keys()}}

    def _keyword(self, key: str, one: Any, other: Any) -> Any:
        if one == other or key in ("title", "description", "default", "examples"):
            return one
        if key == "properties":
            return {**one, **other, **{name: {"allOf": [one[name], other[name]]} for name in one.keys() & other.keys()}}
        if key == "type":
            return _types(one, other)
        if key == "enum":
            shared = set(map(_spelled, other))
            return [each for each in one if _spelled(each) in shared]
        if key == "required":
            return list(dict.fromkeys(each for each in (*one, *other) if isinstance(each, str)))
        if key.startswith(("min", "exclusiveMin")):
            return max(one, other)
        if key.startswith(("max", "exclusiveMax")):
            return min(one, other)
        if key in ("items", "additionalProperties"):
            return False if one is False or other is False else {"allOf": [one, other]}
        if key in ("anyOf", "oneOf") and len(one) * len(other) <= MOST_BRANCHES:
            return [{"allOf": [first, second]} for first in one for second in other]
        self.unclear[key] = None
        return one


def _types(one: Any, other: Any) -> list[str]:
    first, second = (found if isinstance(found, list) else [found] for found in (one, other))
    first, second = first[:MOST_BRANCHES], second[:MOST_BRANCHES]
    both = [each for each in first if each in second]
    if "number" in first and "integer" in second:
        both.append("integer")
    if "integer" in first and "number" in second:
        both.append("integer")
    return both


def distinct(branches: Sequence[Any], root: Any) -> bool:
    """Whether it is plain that no value satisfies two of the branches."""
    whole = [(Schema(branch, root), merged(branch, root)[0]) for branch in branches if isinstance(branch, Mapping)]
    if len(whole) > MOST_BRANCHES:
        return False
    return len(whole) == len(branches) and all(_apart(*one, *other) for one, other in combinations(whole, 2))


def _apart(one: Schema, first: Mapping[str, Any], other: Schema, second: Mapping[str, Any]) -> bool:
    if one.kinds is not None and other.kinds is not None and not _wide(one.kinds) & _wide(other.kinds):
        return True
    if _differ(first, second):
        return True
    properties, others = first.get("properties", {}), second.get("properties", {})
    shared = {*first.get("required", ())} & {*second.get("required", ())} & properties.keys() & others.keys()
    return any(_differ(properties[key], others[key]) for key in shared)


def _wide(kinds: frozenset[str]) -> frozenset[str]:
    return kinds | {"integer"} if "number" in kinds else kinds


def _differ(one: Any, other: Any) -> bool:
    """Whether two schemas name values, and none in common."""
    first, second = (_values(found) for found in (one, other))
    return bool(first and second) and not set(map(_spelled, first)) & set(map(_spelled, second))


def _spelled(value: Any) -> str:
    """What tells values apart; for JSON, unlike for Python, true is not 1."""
    return json.dumps(value, sort_keys=True)


def _values(schema: Any) -> list[Any]:
    if not isinstance(schema, Mapping):
        return []
    found = schema.get("enum")
    return [schema["const"]] if "const" in schema else found if isinstance(found, list) else []
