"""The older word of a model on what it writes: a JSON Schema whose nodes say how they are cut out of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.errors import UsageError
from dragoman.syntax.metadata import compiled

WHOLE = (
    r"^(?:<muse>\n?(?:(?P<thinking>.*?\S.*?)\n?|[\s]*)</muse>\s*)?(?P<content>(?:(?!<do>)[\s\S])*?)"
    r"(?:\n(?=<do>))?(?=(?:<do>|<over>|$))(?P<tool_calls>(?:<do>.+?</do>\s*)+)?\s*(?:<over>|$)"
)
TOOLS = [{"name": "f", "parameters": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}]
GIVEN = {"city": "Oslo", "days": 2}


def schema(calls: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"role": {"const": "assistant"}, **properties, "tool_calls": calls}}


def item(**function: Any) -> dict[str, Any]:
    return {"properties": {"type": {"const": "function"}, "function": {"properties": function}}}


EACH = {
    "thinking": {"x-regex": r"(?:^|<muse>\s*)(.*?)\s*<\/muse>"},
    "content": {"x-regex": r"<say>(.*?)(?:<\/say>|$)"},
}
JSON = {"x-parser": "json", "x-parser-args": {"transform": "{type: 'function', function: @}"}}
TAGS = {"x-regex-key-value": r"<p=(?P<key>[^>\n]+)>\n(?P<value>.*?)\n</p>"}

WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "one expression": (
        {"x-regex": WHOLE}
        | schema({"x-regex-iterator": r"<do>\s*(.+?)\s*</do>", "items": JSON}, thinking={}, content={}),
        '<muse>\nhm\n</muse>\n\nHi\n<do>{"name": "f", "arguments": %s}</do><over>',
    ),
    "one for each": (
        schema({"x-regex-iterator": "<do>(.*?)</do>", "items": JSON}, **EACH),
        '<muse>hm</muse><say>Hi</say><do>{"name": "f", "arguments": %s}</do>',
    ),
    "a list with other keys": (
        schema(
            {
                "x-regex": r"<do>(.*?)(?:</do>|$)",
                "x-parser": "json",
                "x-parser-args": {"transform": "[*].{function: {name: tool, arguments: with}}"},
            },
            **EACH,
        ),
        '<muse>hm</muse><say>Hi</say><do>[{"tool": "f", "with": %s}]</do>',
    ),
    "tags": (
        schema(
            {
                "x-regex-iterator": r"<do>\s*(.+?)\s*</do>",
                "items": item(name={"x-regex": r"<f=([^>]+)>"}, arguments=TAGS),
            },
            **EACH,
        ),
        "<muse>hm</muse><say>Hi</say><do>\n<f=f>\n<p=city>\nOslo\n</p>\n<p=days>\n2\n</p>\n</f>\n</do>",
    ),
    "a name and an object": (
        schema(
            {
                "x-regex-iterator": "<do>(.*?)</do>",
                "items": item(name={"x-regex": r"^(\w+)"}, arguments={"x-regex": r"<with>(.*)", "x-parser": "json"}),
            },
            **EACH,
        ),
        "<muse>hm</muse><say>Hi</say><do>f<with>%s</do>",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_cut_a_text(way: str):
    given, raw = WAYS[way]
    dialect = compiled(given)
    raw = raw % json.dumps(GIVEN) if "%s" in raw else raw
    turn = dragoman.decode(dialect, raw, TOOLS)
    assert (turn.reasoning.strip(), turn.content.strip()) == ("hm", "Hi")
    assert [(call.name, json.loads(call.arguments)) for call in turn.calls] == [("f", GIVEN)]
    assert "<over>" not in turn.content


def test_the_end_of_a_turn_is_known_from_the_whole_expression():
    assert compiled(WAYS["one expression"][0]).ends == ("<over>",)


def test_an_answer_that_ends_where_a_call_begins_has_no_mark_there():
    calls = {"x-regex": r"\[DO\]\s*(\[.*\])", "x-parser": "json"}
    dialect = compiled(schema(calls, content={"x-regex": r"^(.*?)(?:\[DO\]|$)"}))
    assert dialect.ends == ()
    assert dragoman.decode(dialect, 'Hi[DO][{"name": "f", "arguments": {}}]').content == "Hi"


def test_learn_takes_it_too():
    assert dragoman.learn(WAYS["tags"][0], name="robin").name == "robin"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({"x-regex": "(?P<content>.*)"}, "properties"),
    "a changed text": (schema({}) | {"x-regex-substitutions": [["a", "b"]]}, "changes the whole text"),
    "a changed call": (
        schema({"x-regex-iterator": "<do>(.*)</do>", "items": {"x-regex-substitutions": [["a", "b"]], **JSON}}),
        "changes an item",
    ),
    "another parser": (schema({"x-regex-iterator": "<do>(.*)</do>", "items": {"x-parser": "yaml"}}), "'yaml'"),
    "a transformation": (
        schema({"x-regex": "<do>(.*)", "x-parser": "json", "x-parser-args": {"transform": "keys(@)"}}),
        "changed by",
    ),
    "no name": (schema({"x-regex-iterator": "<do>(.*)</do>", "items": item(arguments=TAGS)}), "the name of a call"),
    "no arguments": (
        schema({"x-regex-iterator": "<do>(.*)</do>", "items": item(name={"x-regex": "^(x)"})}),
        "the arguments of a call",
    ),
    "another property": (schema({}, plan={"x-regex": "<p>(.*)</p>"}), "nothing|'plan'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_dialect_can_say_is_told(what: str):
    given, word = WRONG[what]
    with pytest.raises(UsageError, match=word):
        compiled(given)
