from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Tool
from dragoman.protocols.chat_tools import FREE_TEXT, read_tools
from dragoman.protocols.fields import Fields


def function(name="f", **more):
    return {"type": "function", "function": {"name": name, **more}}


TWO = [function("f"), function("g")]


def read(**fields):
    return read_tools(Fields(fields))


def refused(**fields) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read(**fields)
    assert caught.value.param in caught.value.message
    return caught.value


def test_a_function_with_all_its_fields():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools, choice = read(tools=[function("f", description="d", parameters=schema, strict=True)])
    assert tools == (Tool("f", "d", schema, strict=True),)
    assert choice == "auto"


def test_the_flat_form_of_other_apis_is_read_too():
    assert read(tools=[{"type": "function", "name": "f", "parameters": {}}])[0] == (Tool("f"),)


def test_null_members_are_absent():
    assert read(tools=[function("f", description=None, parameters=None, strict=None)])[0] == (Tool("f"),)


@pytest.mark.parametrize("holder", ["custom", None])
def test_c31_a_custom_tool_is_a_function_with_one_string(holder):
    inner = {"name": "sh", "description": "d", "format": {"type": "text"}}
    tool = {"type": "custom", holder: inner} if holder else {"type": "custom", **inner}
    assert read(tools=[tool])[0] == (Tool("sh", "d", FREE_TEXT, kind="custom"),)


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"tools": {}}, "tools", "must be an array"),
        ({"tools": ["f"]}, "tools[0]", "must be an object"),
        ({"tools": [{}]}, "tools[0].type", "is missing"),
        ({"tools": [function(), {"type": "web_search"}]}, "tools[1].type", "'web_search' are not offered"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name", "is missing"),
        ({"tools": [function("a b")]}, "tools[0].function.name", "it is 'a b'"),
        ({"tools": [function("x" * 129)]}, "tools[0].function.name", "up to 128"),
        (
            {"tools": [function("f", parameters="{}")]},
            "tools[0].function.parameters",
            "must be an object; it is a string",
        ),
        ({"tools": [function("f"), function("f")]}, "tools[1]", "which an earlier tool has"),
        (
            {"tools": [{"type": "custom", "custom": {"name": "s", "format": {"type": "grammar"}}}]},
            "tools[0].custom.format.syntax",
            "lark or regex",
        ),
        ({"tools": TWO, "functions": [{"name": "f"}]}, "functions", "only one of the two"),
        ({"tools": TWO, "tool_choice": "always"}, "tool_choice", "none, auto, required or an object"),
        ({"tools": TWO, "tool_choice": 1}, "tool_choice", "a string or an object; it is an integer"),
        ({"tool_choice": "required"}, "tool_choice", "the request offers no tools"),
        ({"tools": TWO, "tool_choice": function("h")}, "tool_choice.function.name", "does not offer"),
        ({"tools": TWO, "tool_choice": {"type": "function"}}, "tool_choice.name", "is missing"),
        (
            {"tools": TWO, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"tools": []}}},
            "tool_choice.allowed_tools.tools",
            "is missing",
        ),
        (
            {"tools": TWO, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "x", "tools": TWO}}},
            "tool_choice.allowed_tools.mode",
            "auto, required; it is 'x'",
        ),
        (
            {"tools": TWO, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"tools": [function("h")]}}},
            "tool_choice.allowed_tools.tools[0].function.name",
            "does not offer",
        ),
        ({"functions": [{}]}, "functions[0].name", "is missing"),
        ({"functions": [{"name": "f"}], "function_call": {"name": "g"}}, "function_call.name", "does not offer"),
    ],
)
def test_c25_what_cannot_be_read_is_named(fields, param, words):
    error = refused(**fields)
    assert error.param == param
    assert words in error.message


@pytest.mark.parametrize("name", ["a", "mcp.server-1:tool/x", "größe", "x" * 128])
def test_names_may_be_more_than_one_vendor_allows(name):
    assert read(tools=[function(name)])[0] == (Tool(name),)


@pytest.mark.parametrize(
    ("choice", "read_as"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("any", "required"),
        (function("g"), "name:g"),
        ({"type": "function", "name": "g"}, "name:g"),
        ({"type": "custom", "custom": {"name": "g"}}, "name:g"),
    ],
)
def test_c25_choices(choice, read_as):
    tools, chosen = read(tools=TWO, tool_choice=choice)
    assert chosen == read_as
    assert len(tools) == 2


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_c25_without_tools_there_is_nothing_to_choose(choice):
    assert read(tool_choice=choice) == ((), "none")


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_c25_allowed_tools_leave_only_those(mode, flat):
    inner = {"mode": mode, "tools": [function("g")]}
    choice = {"type": "allowed_tools", **(inner if flat else {"allowed_tools": inner})}
    assert read(tools=TWO, tool_choice=choice) == ((Tool("g"),), mode)


@pytest.mark.parametrize(
    ("call", "choice"), [(None, "auto"), ("none", "none"), ("auto", "auto"), ({"name": "f"}, "name:f")]
)
def test_c25_old_functions(call, choice):
    assert read(functions=[{"name": "f", "description": "d"}], function_call=call) == ((Tool("f", "d"),), choice)
