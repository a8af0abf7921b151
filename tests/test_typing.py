"""Values by the tool's schema: each kind of schema, in each way to write arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import api
from dragoman.messages import Tool

USER = {"type": "object", "properties": {"zip": {"type": "string"}, "n": {"type": "integer"}}}
SCHEMAS: dict[str, Any] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "union": {"type": ["integer", "string"]},
    "either": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    "one": {"oneOf": [{"type": "boolean"}, {"type": "string"}]},
    "all": {"allOf": [{"type": "integer"}]},
    "named": {"$ref": "#/$defs/User"},
    "maybe": {"anyOf": [{"$ref": "#/$defs/User"}, {"type": "null"}]},
    "word": {"$ref": "#/$defs/Word"},
    "digit": {"enum": [1, 2]},
    "fixed": {"const": 3},
    "nullable": {"type": "integer", "nullable": True},
    "nothing": {"type": ["string", "null"]},
    "object": {"type": "object", "properties": {"zip": {"type": "string"}, "k": {"type": "integer"}}},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "list": {"type": "array", "items": {"type": "integer"}},
    "words": {"type": "array", "items": {"type": "string"}},
    "any": {},
    "true": True,
}
TOOL = Tool(
    "f", parameters={"type": "object", "$defs": {"User": USER, "Word": {"enum": ["1", "b"]}}, "properties": SCHEMAS}
)

# What stands there as text, and what it means.
TEXTS = [
    ("text", "12", "12"), ("text", "null", "null"), ("text", " true", " true"), ("number", "3", 3), ("number", "2.50", 2.5),
    ("flag", "True", True), ("flag", "FALSE", False), ("flag", "1", True), ("flag", "0", False),
    ("union", "12", 12), ("union", "twelve", "twelve"), ("either", "null", None), ("either", "None", None),
    ("either", "2.5", 2.5), ("one", "true", True), ("one", "yes", "yes"), ("all", "7", 7), ("all", "7.0", 7), ("all", "007", 7),
    ("named", '{"zip": "07", "n": 3}', {"zip": "07", "n": 3}), ("named", "{'zip': '07', 'n': '3'}", {"zip": "07", "n": 3}),
    ("maybe", "null", None), ("maybe", '{"zip": "1"}', {"zip": "1"}), ("word", "1", "1"), ("digit", "1", 1), ("fixed", "3", 3),
    ("nullable", "null", None), ("nullable", "5", 5), ("nothing", "null", None), ("nothing", "x", "x"),
    ("object", '{"zip": "1", "k": "2"}', {"zip": "1", "k": 2}), ("map", '{"a": "1"}', {"a": 1}),
    ("list", "[1, 2]", [1, 2]), ("list", "['1', '2']", [1, 2]), ("list", "(1, 2)", [1, 2]), ("words", '["1"]', ["1"]),
    ("any", "5", 5), ("any", "x y", "x y"), ("any", '{"a": [1]}', {"a": [1]}), ("true", "true", True), ("unknown", "5", 5),
]  # fmt: skip

TAGGED = {
    "qwen3-coder-xml": "<tool_call>\n<function=f>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>",
    "seed-oss-xml": "<seed:tool_call>\n<function=f>\n<parameter=KEY>VALUE</parameter>\n</function>\n</seed:tool_call>",
    "glm45": "<tool_call>f\n<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
    "minimax-m2": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="KEY">VALUE</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "deepseek-v4-dsml": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="KEY">VALUE'
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
    "minimax-m3": ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<KEY>VALUE]<]minimax[>[</KEY>'
    "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>",
    "minicpm5": '<function name="f"><param name="KEY">VALUE</param></function>',
}

QUOTED = {
    "hermes-json": '<tool_call>\n{"name": "f", "arguments": {"KEY": VALUE}}\n</tool_call>',
    "deepseek-v31": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"
    '{"KEY": VALUE}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "gemma4": "<|tool_call>call:f{KEY:VALUE}<tool_call|>",
    "pythonic-list": "[f(KEY=VALUE)]",
}

FREE = ("text", "union", "one", "word", "nothing", "any", "true", "unknown")
"""Places where a quoted value may stay the string that it is."""


def value(dialect: str, raw: str, key: str) -> Any:
    (call,) = api.decode(dialect, raw, [TOOL]).calls
    return json.loads(call.arguments)[key]


@pytest.mark.parametrize("dialect", TAGGED)
@pytest.mark.parametrize(("key", "text", "wanted"), TEXTS)
def test_text_is_typed_by_the_schema(dialect: str, key: str, text: str, wanted: Any):
    found = value(dialect, TAGGED[dialect].replace("KEY", key).replace("VALUE", text), key)
    assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize("dialect", QUOTED)
@pytest.mark.parametrize(("key", "text", "wanted"), TEXTS)
def test_a_quoted_value_is_typed_where_no_string_may_stand(dialect: str, key: str, text: str, wanted: Any):
    quoted = f'<|"|>{text}<|"|>' if dialect == "gemma4" else json.dumps(text)
    found = value(dialect, QUOTED[dialect].replace("KEY", key).replace("VALUE", quoted), key)
    wanted = text if key in FREE else wanted
    assert (type(found), found) == (type(wanted), wanted)


@pytest.mark.parametrize("dialect", QUOTED)
@pytest.mark.parametrize("key", SCHEMAS)
def test_an_unquoted_value_says_what_it_is(dialect: str, key: str):
    for written in ("12", "[true]", "null"):
        text = written.replace("true", "True").replace("null", "None") if dialect == "pythonic-list" else written
        assert value(dialect, QUOTED[dialect].replace("KEY", key).replace("VALUE", text), key) == json.loads(written)
