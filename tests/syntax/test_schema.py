"""JSON Schema as grammar: what it writes satisfies the schema, what it does not enforce is named."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from grammars import accepts, problems, schemas
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.gbnf import gbnf
from dragoman.syntax.grammar import NEVER
from dragoman.syntax.sample import sample
from dragoman.syntax.schema import Walk, loosened, value
from dragoman.syntax.style import JSON

TREE = {
    "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["v"]}},
    "$ref": "#/$defs/node",
}  # fmt: skip


def allows(schema: Any, one: Any) -> bool:
    return accepts(value(schema), json.dumps(one, ensure_ascii=False))


@settings(max_examples=1500)
@given(schemas, st.integers(0, 2**32))
def test_what_is_written_satisfies_the_schema(schema: dict[str, Any], seed: int):
    node = value(schema)
    if node == NEVER or loosened(schema):
        return
    written = sample(node, random.Random(seed).randrange, size=120)
    assert not problems(json.loads(written), schema), written


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", 'a"b', "日本語"], ["a", "abcd", 1, "\n\n\n\n"]),
        ({"type": "integer", "minimum": -3, "exclusiveMaximum": 12}, [-3, 0, 11], [-4, 12, 1.5, "1"]),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, [4], [3]),
        ({"type": "number"}, [1, -1.5, 1e10], ["1", None]),
        ({"type": ["string", "null"]}, ["", None], [1]),
        ({"type": "string", "nullable": True}, ["", None], [1]),
        ({"type": "int"}, [3], [True, "x"]),
        ({"enum": ["a", 1, None, {"x": [1, 2]}]}, ["a", 1, None, {"x": [1, 2]}], ["b", {"x": [1]}]),
        ({"type": "string", "enum": ["a", 1]}, ["a"], [1]),
        ({"const": False}, [False], [0, None, True]),
        ({"anyOf": [{"type": "integer"}, {"const": "all"}]}, [1, "all"], ["x"]),
        ({"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, [1, True], ["x"]),
        ({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^z+$"}]}, ["a", "zzz"], ["ab", 1]),
        ({"allOf": [{"type": "string"}, {"maxLength": 2}, {"minLength": 2}]}, ["ab"], ["a", "abc"]),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "number"}]}, [1], ["a", 1.5]),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, [[], [1], [1, 2]], [[1, 2, 3], ["a"]]),
        ({"type": "array", "minItems": 1}, [[1], ["a", None]], [[]]),
        ({"type": "array", "items": False}, [[]], [[1]]),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, [[], ["a"], ["a", 1]], [[1], ["a", 1, 2]]),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 2}, "minItems": 2}, [[1, 2], [1, 2, 2]], [[1], [2, 2]]),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 2}, "maxItems": 2}, [[], [1], [1, 2]], [[1, 2, 2]]),
        ({"type": "array", "items": [{"const": 1}, {"const": 2}], "minItems": 2}, [[1, 2]], [[1]]),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": False, "minItems": 2}, [], [[1], [1, 2]]),
        ({"type": "object"}, [{}, {"a": 1, "b": {"c": []}}], [[], 1]),
        ({"type": "object", "properties": {}}, [{}], [{"a": 1}]),
        ({"type": "object", "properties": {}, "additionalProperties": True}, [{"a": 1}], [1]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1}], [{"a": "x"}]),
        ({"type": "object", "minProperties": 1, "maxProperties": 2}, [{"a": 1}, {"a": 1, "b": 2}], [{}, {"a": 1, "b": 2, "c": 3}]),
        ({"type": "object", "properties": {"a": {"const": 1}}, "minProperties": 1}, [{"a": 1}], [{}]),
        ({"type": "object", "required": ["x"]}, [{"x": 1}, {"x": None}], [{}]),
        ({"type": "object", "properties": {"a": {"const": 1}, "b": False}}, [{}, {"a": 1}], [{"b": 1}]),
        ({"properties": {"a": {"type": "integer"}}}, [{"a": 1}, {}], [1]),
        ({"minLength": 1}, ["x"], [""]),
        ({}, [1, "x", None, {"a": [True]}], []),
        (True, [1, "x"], []),
        (TREE, [{"v": 1}, {"v": 1, "kids": [{"v": 2, "kids": []}]}], [{}, {"v": 1, "kids": [{}]}]),
    ],
)  # fmt: skip
def test_each_keyword(schema: Any, good: list[Any], bad: list[Any]):
    assert [one for one in good if not allows(schema, one)] == []
    assert [one for one in bad if allows(schema, one)] == []


def test_properties_keep_their_order_and_their_commas():
    properties = {key: {"const": key} for key in "abcd"}
    for required in ([], ["a"], ["b"], ["c", "d"], ["a", "d"], list("abcd")):
        schema = {"type": "object", "properties": properties, "required": required}
        for chosen in range(16):
            one = {key: key for i, key in enumerate("abcd") if chosen >> i & 1}
            assert allows(schema, one) is all(key in one for key in required)
    assert not allows({"type": "object", "properties": properties}, {"b": "b", "a": "a"})


@pytest.mark.parametrize("schema", [False, {"enum": []}, {"type": "string", "minLength": 2, "maxLength": 1}, {"type": "object", "properties": {"a": False}, "required": ["a"]}, {"allOf": [{"const": 1}, {"const": 2}]}, {"type": "object", "required": ["a"], "additionalProperties": False}])  # fmt: skip
def test_what_nothing_satisfies_is_never(schema: Any):
    assert value(schema) == NEVER


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer", "multipleOf": 3}, ["#/multipleOf"]),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}, ["#/properties/a/pattern"]),
        (
            {"type": "array", "items": {"not": {}, "type": "string"}, "uniqueItems": True},
            ["#/uniqueItems", "#/items/not"],
        ),
        ({"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}, ["#/oneOf"]),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, []),
        ({"$ref": "https://example.org/x"}, ["#/$ref"]),
        ({"$ref": "#/$defs/none"}, ["#/$ref"]),
        ({"type": "string", "pattern": "^ab|c$", "maxLength": 1}, ["#/maxLength"]),
        ({"type": "string", "pattern": "^[ab]{1,9}$", "maxLength": 3}, []),
        ({"type": "number", "minimum": 0.2, "maximum": 0.3}, ["#/minimum"]),
        (TREE, []),
    ],
)
def test_what_is_not_enforced_is_named(schema: Any, expected: list[str]):
    assert list(loosened(schema)) == expected


def test_a_pattern_of_one_class_keeps_its_bounds():
    node = value({"type": "string", "pattern": "^[ab]{1,9}$", "maxLength": 3, "minLength": 2})
    assert [accepts(node, f'"{"a" * n}"') for n in range(1, 5)] == [False, True, True, False]


def test_a_definition_is_one_rule_wherever_it_is_used():
    schema = {"type": "object", "properties": {k: {"$ref": "#/$defs/node"} for k in "abcdef"}, "$defs": TREE["$defs"]}
    grammar = gbnf(value(schema))
    assert grammar.count("\nnode ::=") == 1
    assert "node-2" not in grammar


def test_definitions_that_refer_to_each_other_do_not_multiply():
    defs = {
        f"d{i}": {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 2}"}]}}
        for i in range(40)
    }
    schema = {"$defs": {**defs, "d40": {"type": "null"}, "d41": {"type": "null"}}, "$ref": "#/$defs/d0"}
    assert len(gbnf(value(schema))) < 6000


def test_endless_schemas_end():
    loop: dict[str, Any] = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "object"}]}}, "$ref": "#/$defs/a"}
    assert value(loop) != NEVER
    assert "#/allOf" in loosened(loop)
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"type": "array", "items": deep}
    assert any(place.endswith("/depth") for place in loosened(deep))


def test_five_hundred_optional_properties_stay_small():
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(500)}}
    assert len(gbnf(value(schema))) < 200_000


def test_the_walk_says_what_it_loosened():
    walk = Walk({"type": "string", "format": "date"})
    walk.value(walk.root, JSON)
    assert walk.loosened == {}
