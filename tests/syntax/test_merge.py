"""Schemas in one piece."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.syntax.merge import distinct, merged, resolve

ROOT: dict[str, Any] = {
    "$defs": {"a/b~c": {"type": "string"}, "é": True, "loop": {"$ref": "#/$defs/loop"}},
    "properties": {"x": {"anyOf": [{"const": 1}, {"const": 2}]}},
}


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("#", ROOT),
        ("#/$defs/a~1b~0c", {"type": "string"}),
        ("#/$defs/%C3%A9", True),
        ("#/properties/x/anyOf/1", {"const": 2}),
        ("#/properties/x/anyOf/7", None),
        ("#/properties/x/anyOf/y", None),
        ("#/$defs/none/deeper", None),
        ("other.json#/a", None),
        (3, None),
    ],
)
def test_references(ref: Any, expected: Any):
    assert resolve(ref, ROOT) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"allOf": [{"minLength": 2}, {"minLength": 5, "maxLength": 9}], "maxLength": 7}, {"minLength": 5, "maxLength": 7}),
        ({"allOf": [{"required": ["a"]}, {"required": ["b", "a"]}]}, {"required": ["a", "b"]}),
        ({"allOf": [{"enum": [1, 2, True]}, {"enum": [True, 2]}]}, {"enum": [2, True]}),
        ({"allOf": [{"enum": [1, 2]}], "const": 2}, {"enum": [2]}),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "number"}]}, {"type": ["integer"]}),
        ({"allOf": [{"type": "integer"}, {"type": ["number", "null"]}]}, {"type": ["integer"]}),
        ({"allOf": [True, {"title": "x"}], "title": "y"}, {"title": "y"}),
        ({"allOf": [False]}, {"enum": []}),
        ({"$ref": "#/$defs/a~1b~0c", "maxLength": 3}, {"type": "string", "maxLength": 3}),
        ({"allOf": [{"items": {"type": "string"}}, {"items": False}]}, {"items": False}),
        (
            {"properties": {"a": {"type": "string"}}, "allOf": [{"properties": {"a": {"maxLength": 1}, "b": True}}]},
            {"properties": {"a": {"allOf": [{"type": "string"}, {"maxLength": 1}]}, "b": True}},
        ),
        (
            {"anyOf": [{"minLength": 1}], "allOf": [{"anyOf": [{"maxLength": 2}, {"maxLength": 3}]}]},
            {"anyOf": [{"allOf": [{"minLength": 1}, {"maxLength": n}]} for n in (2, 3)]},
        ),
    ],
)  # fmt: skip
def test_merging(schema: dict[str, Any], expected: dict[str, Any]):
    assert merged(schema, ROOT) == (expected, ())


@pytest.mark.parametrize(
    ("schema", "unclear"),
    [
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, ("pattern",)),
        ({"allOf": [{"$ref": "#/nowhere"}]}, ("$ref",)),
        ({"allOf": [{"$ref": "#/$defs/loop"}]}, ("allOf",)),
        ({"anyOf": [{}] * 9, "allOf": [{"anyOf": [{"type": "null"}] * 9}]}, ("anyOf",)),
    ],
)
def test_what_cannot_be_merged_is_named(schema: dict[str, Any], unclear: tuple[str, ...]):
    assert merged(schema, ROOT)[1] == unclear


@pytest.mark.parametrize(
    ("branches", "expected"),
    [
        ([{"type": "string"}, {"type": "integer"}, {"type": "null"}], True),
        ([{"type": "number"}, {"type": "integer"}], False),
        ([{"type": "string"}, {}], False),
        ([{"const": "a"}, {"enum": ["b", "c"]}], True),
        ([{"const": 1}, {"const": True}], True),
        ([{"const": "a"}, {"type": "string"}], False),
        ([{"properties": {"k": {"const": k}}, "required": ["k"], "type": "object"} for k in "ab"], True),
        ([{"properties": {"k": {"const": k}}, "type": "object"} for k in "ab"], False),
        ([True, {"type": "string"}], False),
    ],
)
def test_distinct_branches(branches: list[Any], expected: bool):
    assert distinct(branches, ROOT) is expected
