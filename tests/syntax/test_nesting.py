"""Where elements in elements tell what a value is."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.syntax.grammar import NEVER, Literal, Node, literal
from dragoman.syntax.kinds import Schema
from dragoman.syntax.nesting import nests, nothing
from dragoman.syntax.style import JSON, Style

TEXT = {"type": "string"}
OBJECT = {"type": "object", "properties": {"a": TEXT}}
LIST = {"type": "array", "items": TEXT}


def key(name: str) -> Node:
    return NEVER if " " in name else literal(name)


STYLE = Style(JSON.string, JSON.fixed, key, NEVER)


@pytest.mark.parametrize("schema", [OBJECT, LIST, {"type": ["object", "null"], "properties": {"a": TEXT}}])
def test_known_keys_and_items_nest(schema: dict[str, Any]):
    kind = "array" if schema is LIST else "object"
    assert nests(kind, schema, STYLE, Schema(schema))


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("object", {"type": "object"}),  # any keys: nothing closes them by name
        ("object", {"type": "object", "properties": {"a b": TEXT}}),  # no name of a tag
        ("object", {**OBJECT, "type": ["object", "array"]}),  # either might hold elements
        ("array", {"type": "array"}),
        ("array", {"type": "array", "items": TEXT, "prefixItems": [{"type": "integer"}]}),
        ("object", {}),
    ],
)
def test_what_would_be_in_doubt_does_not(kind: str, schema: dict[str, Any]):
    assert not nests(kind, schema, STYLE, Schema(schema))


def test_nothing_stands_as_json_where_it_is_valid():
    assert list(nothing("array", LIST)) == [Literal("[]")]
    assert list(nothing("object", OBJECT)) == [Literal("{}")]
    assert not list(nothing("array", {**LIST, "minItems": 1}))
    assert not list(nothing("object", {**OBJECT, "required": ["a"]}))
