"""Constrain: the forms of a turn, where a prompt lets it begin, and mistakes (promise 9 is in `test_grammars`)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from grammars import accepts, ids

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Text, Tool, Turn
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.constrain import constrain, grammar
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.gbnf import gbnf

CITY = {"city": {"type": "string", "maxLength": 30}, "days": {"type": "integer", "minimum": 1, "maximum": 14}}
WEATHER = Tool("get_weather", parameters={"type": "object", "properties": CITY, "required": ["city"]})
PING = Tool("ping")
NOTE = Tool(
    "note",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string"}, "more": {"type": "object"}},
        "required": ["text"],
    },
)
TOOLS = [WEATHER, PING, NOTE]
PINGED = "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}<|call|>"


def specials(dialect: Dialect) -> tuple[str, ...]:
    """Marks that a tokenizer of this dialect may have as tokens."""
    return dialect.special or ("<tool_call>", "</tool_call>", "<think>", "</think>")


def read(dialect: Dialect, text: str, tools: list[Tool], prompt: str = "") -> Turn:
    return api.decode(dialect, text, tools, prompt=prompt)


# --- the forms of a turn


def test_the_grammar_is_readable():
    hermes = api.get("hermes-json")
    lines = (
        r'root ::= "<tool_call>\n" call "\n</tool_call>" ("\n<tool_call>\n" call "\n</tool_call>"){0,15}',
        r'call ::= "{\"name\": \"get_weather\", \"arguments\": " get-weather "}" | "{\"name\": \"ping\", \"arguments\": {}}"',
        r'get-weather ::= "{\"city\": " city (", \"days\": " days)? "}"',
        r'city ::= "\"" char{0,30} "\""',
        r'days ::= [1-9] | "1" [0-4]',
        r"char ::= [^\x00-\x1F\x22\x5C] | escape",
    )
    assert constrain(hermes, [WEATHER, PING], "required", reasoning=False).splitlines()[:-1] == list(lines)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hermes-json", '<think>\nSo.\n</think>\n\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'),
        (
            "hermes-json",
            '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
        ),
        (
            "qwen35-xml",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "gemma4",
            '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:3}<tool_call|><|tool_call>call:ping{}<tool_call|>',
        ),
        ("gemma4", "<|channel>thought\nHm.\n<channel|><|tool_call>call:ping{}<tool_call|>"),
        (
            "harmony",
            '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
        ),
        (
            "harmony",
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant" + "<|start|>assistant".join([PINGED] * 2),
        ),
    ],
)
def test_what_a_dialect_writes_is_allowed(name: str, text: str):
    assert accepts(grammar(api.get(name), TOOLS, "required"), text)
    assert accepts(grammar(api.get(name), TOOLS), text)


def test_a_call_mark_that_is_a_token_ends_the_turn_by_itself():
    harmony = api.get("harmony")
    node = grammar(harmony, [PING], "required", specials=ids(specials(harmony)), reasoning=False)
    assert accepts(node, "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}")
    assert not accepts(node, "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}<|call|>")
    assert str(ids(specials(harmony))["<|call|>"]) not in gbnf(node, ids(specials(harmony)))


# --- reasoning and the prompt

HERMES, QWEN, GEMMA, HARMONY = (api.get(name) for name in ("hermes-json", "qwen35-xml", "gemma4", "harmony"))
CALL = {
    "hermes-json": '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
    "qwen35-xml": "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
    "gemma4": "<|tool_call>call:ping{}<tool_call|>",
    "harmony": PINGED,
}


@pytest.mark.parametrize(
    ("dialect", "prompt", "before", "not_before"),
    [
        (HERMES, "<|im_start|>assistant\n", ["", "<think>\nx\n</think>\n\n"], ["x\n</think>\n\n"]),
        (QWEN, "<|im_start|>assistant\n<think>\n", ["x\n</think>\n\n", "\n</think>\n\n"], ["", "<think>\nx\n</think>\n\n"]),
        (QWEN, "<|im_start|>assistant\n<think>", ["\nx\n</think>\n\n"], ["", "x\n</think>\n\n"]),
        (QWEN, "<|im_start|>assistant\n<think>\n\n</think>\n\n", [""], ["<think>\nx\n</think>\n\n", "\n\n"]),
        (QWEN, "<|im_start|>assistant\n<think>\nx\n</think>", ["\n\n"], ["", "<think>\nx\n</think>\n\n"]),
        (QWEN, "<think>\nold</think>\n<|im_end|>\n<|im_start|>assistant\n", ["", "<think>\nx\n</think>\n\n"], ["\n\n"]),
        (QWEN, "no assistant part <think>", ["\nx\n</think>\n\n"], [""]),
        (GEMMA, "<|turn>model\n<|channel>thought\n<channel|>", [""], ["<|channel>thought\nx\n<channel|>"]),
        (GEMMA, "<tool_response|><|channel>thought\n", ["x\n<channel|>"], ["", "<|channel>thought\nx\n<channel|>"]),
        (HARMONY, "<|start|>assistant", ["", "<|channel|>analysis<|message|>x<|end|><|start|>assistant"], ["x"]),
        (HARMONY, "<|start|>assistant<|channel|>analysis<|message|>so", ["x<|end|><|start|>assistant"], [""]),
        (HARMONY, "<|start|>assistant<|channel|>analysis<|message|>so<|end|>", ["<|start|>assistant"], [""]),
        (HARMONY, "<|start|>system<|message|><|channel|>analysis<|message|> is a channel", [""], ["x<|end|>"]),
    ],
)  # fmt: skip
def test_the_prompt_decides_where_the_turn_begins(
    dialect: Dialect, prompt: str, before: list[str], not_before: list[str]
):
    node, call = grammar(dialect, [PING], "required", prompt=prompt), CALL[dialect.name]
    assert [one for one in before if not accepts(node, one + call)] == []
    assert [one for one in not_before if accepts(node, one + call)] == []
    for one in before:
        found = read(dialect, one + call, [PING], prompt=prompt)
        assert [call.name for call in found.calls] == ["ping"]
        assert found.reasoning.strip() in ("x", "")


def test_a_dialect_without_reasoning_and_with_ids():
    plain = Dialect("plain", call="[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{args}", args=JsonObject(), ends=("</s>",))
    text = "[TOOL_CALLS]ping[CALL_ID]abcDEF123[ARGS]{}"
    assert accepts(grammar(plain, [PING], "required"), text)
    assert not accepts(grammar(plain, [PING], "required"), "<think>" + text)
    assert [(call.name, call.id) for call in read(plain, text, [PING]).calls] == [("ping", "abcDEF123")]


# --- the forms


def test_free_content_is_content():
    found = read(HERMES, "I call: it\n", TOOLS)
    assert accepts(grammar(HERMES, TOOLS), "I call: it\n")
    assert found.parts == (Text("I call: it\n"),)


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"choice": "always"}, "tool choice 'always': use auto, required, none, or name:NAME"),
        ({"choice": "name:"}, "tool choice 'name:'"),
        ({"choice": "name:nope"}, "no tool is named 'nope'; on offer: get_weather, ping, note"),
        ({"choice": "required", "tools": []}, "on offer: none"),
        ({"form": "ebnf"}, "grammar form 'ebnf': use one of gbnf, lark, structural_tag, json_schema"),
        ({"choice": "none", "schema": {"enum": []}}, "the schema of the answer admits no value"),
        ({"choice": "required", "tools": [Tool("x", parameters={"properties": {"a": False}, "required": ["a"]})]}, "'x' admit no arguments"),
    ],
)  # fmt: skip
def test_mistakes_are_told(arguments: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=re.escape(message)):
        constrain(HERMES, **{"tools": TOOLS, **arguments})


def test_the_library_takes_names_and_plain_tools():
    plain = {"type": "function", "function": {"name": "ping", "parameters": {}}}
    assert api.constrain("hermes", [plain], "required") == constrain(HERMES, [PING], "required")
