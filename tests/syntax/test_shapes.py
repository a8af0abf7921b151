"""What each codec may be asked to read, and what it can never mistake."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from grammars import accepts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import UsageError
from dragoman.messages import Tool
from dragoman.syntax import shapes
from dragoman.syntax.grammar import Node, keep_out
from dragoman.syntax.sample import sample

TEMPLATE = "<parameter={key}>\n{value}\n</parameter>\n"


def tool(**properties: Any) -> Tool:
    return Tool("f", parameters={"type": "object", "properties": properties, "required": list(properties)})


def params(**properties: Any) -> Node:
    return shapes.params(tool(**properties), TEMPLATE)


def block(value: str, key: str = "x") -> str:
    return TEMPLATE.replace("{key}", key).replace("{value}", value)


STRING = {"type": "string"}


def test_a_whole_call():
    assert accepts(shapes.json_call(tool(x=STRING)), '{"name": "f", "arguments": {"x": "1"}}')
    assert accepts(
        shapes.json_call(tool(x=STRING), "tool_name", "parameters"), '{"tool_name": "f", "parameters": {"x": "1"}}'
    )
    assert accepts(shapes.json_object(tool(x=STRING)), '{"x": "1"}')


@pytest.mark.parametrize("parameters", [{}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_takes_none(parameters: dict[str, Any]):
    one = Tool("ping", parameters=parameters)
    assert accepts(shapes.json_object(one), "{}")
    assert not accepts(shapes.json_object(one), '{"a": 1}')
    assert accepts(shapes.params(one, TEMPLATE), "")
    assert accepts(shapes.braces(one), "{}")
    assert accepts(shapes.python(one), "ping()")


def test_a_tool_with_any_parameters():
    one = Tool("any", parameters={"type": "object"})
    assert accepts(shapes.json_object(one), '{"a": [1, {"b": null}]}')
    assert accepts(shapes.params(one, TEMPLATE), block("text", "a") + block("[1]", "b"))
    assert accepts(shapes.braces(one), '{a:<|"|>x<|"|>,b:[1,{c:true}]}')
    assert accepts(shapes.python(one), 'any(a="x", b=[1, {"c": True}])')


def test_a_tool_that_takes_one_text():
    assert accepts(shapes.json_object(Tool("code", kind="custom")), '{"input": "print(1)"}')


def test_parameters_that_are_no_object_become_one():
    one = Tool(
        "odd",
        parameters={"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}, "required": ["x"]},
    )
    assert accepts(shapes.json_object(one), '{"x": 1}')
    assert not accepts(shapes.json_object(one), '{"x": "1"}')
    either = Tool(
        "either",
        parameters={"anyOf": [{"properties": {"a": STRING}, "required": ["a"]}, {"type": "object", "properties": {}}]},
    )
    assert accepts(shapes.json_object(either), '{"a": ""}')
    assert accepts(shapes.json_object(either), "{}")


def test_parameters_that_nothing_satisfies_are_an_error():
    with pytest.raises(UsageError, match="'f' admit no arguments"):
        shapes.json_object(tool(x=False))
    with pytest.raises(UsageError, match="'f' admit no arguments"):
        params(**{"a key": STRING})


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (STRING, ["", "x", "a\nb", "\n", "<b>", "</param", '{"a": 1}', "null", "12"], ["</parameter>", "x<parameter=y>", "</ parameter>", "\r"]),
        ({"type": "integer"}, ["1", "-20"], ["x", "1.5", ""]),
        ({"type": "boolean"}, ["true", "false"], ["True"]),
        ({"type": ["string", "null"]}, ["x", "null", ""], []),
        ({"type": ["string", "integer"]}, ["x", "7", "x7"], [" 7x", "7x"]),
        ({"anyOf": [STRING, {"type": "array", "items": {"type": "integer"}}]}, ["x", "[1, 2]"], ["[x]", "(1)"]),
        ({"enum": ["a b", 1, None, [2]]}, ["a b", "1", "null", "[2]"], ["b"]),
        ({"enum": ["1", "x", 2]}, ["x", "2", "1"], ["3"]),
        ({"type": "string", "enum": ["1", "null", "</parameter>"]}, ["1", "null"], ["</parameter>"]),
        ({"type": "array", "items": STRING}, ["[]", '["a", "b"]'], ["['a']", '["</parameter>"]']),
        ({"type": "object", "properties": {"k": STRING}}, ["{}", '{"k": "v"}'], ['{"k": "</parameter>"}']),
        ({"type": "string", "pattern": "^[^a]+$"}, ["b", "b c"], ["a", "<"]),
        ({}, ["x", "1", "[1]", ""], ["</parameter>"]),
    ],
)  # fmt: skip
def test_values_of_parameters(schema: dict[str, Any], good: list[str], bad: list[str]):
    node = params(x=schema)
    assert [one for one in good if not accepts(node, block(one))] == []
    assert [one for one in bad if accepts(node, block(one))] == []


def test_optional_parameters_may_be_left_out():
    one = Tool("f", parameters={"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["b"]})
    node = shapes.params(one, TEMPLATE)
    assert accepts(node, block("1", "a") + block("2", "b"))
    assert accepts(node, block("2", "b"))
    assert not accepts(node, block("1", "a"))


def test_marks_around_the_call_can_be_kept_out_of_values():
    node = keep_out(params(x=STRING, y={"type": "array"}), ["<tool_call>"])
    assert accepts(params(x=STRING), block("<tool_call>"))
    assert not accepts(node, block("<tool_call>") + block("[]", "y"))
    assert not accepts(node, block("") + block('["<tool_call>"]', "y"))
    assert accepts(node, block("<tool>") + block('["<tool>"]', "y"))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (STRING, ['<|"|><|"|>', '<|"|>C:\\x "y", {z} <tool_call|><|"|>'], ['"x"', "x", '<|"|>a<|"|>b<|"|>', '<|"|>a<||"|>b<|"|>']),
        ({"type": "string", "maxLength": 2}, ['<|"|>ab<|"|>'], ['<|"|>abc<|"|>']),
        ({"enum": ["a", 1, True, {"k": ["v"]}]}, ['<|"|>a<|"|>', "1", "true", '{k:[<|"|>v<|"|>]}'], ["a"]),
        ({"type": "array", "items": {"type": "number"}}, ["[]", "[1,2.5]"], ["[1, 2]"]),
        ({"type": "object", "properties": {"a-b": STRING, "c d": {"type": "null"}}}, ['{a-b:<|"|><|"|>,<|"|>c d<|"|>:null}', "{}"], []),
    ],
)  # fmt: skip
def test_values_in_braces(schema: dict[str, Any], good: list[str], bad: list[str]):
    node = shapes.braces(tool(x=schema))
    assert [one for one in good if not accepts(node, "{x:" + one + "}")] == []
    assert [one for one in bad if accepts(node, "{x:" + one + "}")] == []


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_python_calls_are_python(seed: int):
    import ast

    schema = {
        "a": STRING,
        "b": {"type": "array", "items": {"type": ["boolean", "null", "number"]}},
        "c": {"enum": [None, {"x": "é\n"}]},
    }
    written = sample(shapes.python(tool(**schema)), random.Random(seed).randrange)
    call = ast.parse(written, mode="eval").body
    assert isinstance(call, ast.Call)
    arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    assert set(arguments) == {"a", "b", "c"}
    assert arguments["c"] in (None, {"x": "é\n"}, [1])
    json.dumps(arguments)
