"""Constrain: what is written under a grammar decodes to what was asked for (promise 9), in every dialect."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from grammars import accepts, ids, lark_accepts, lark_error, parameters, problems
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance.gbnf_to_lark import gbnf_to_lark

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Tool, Turn
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.constrain import constrain, grammar
from dragoman.syntax.decode import Parser, fold
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.gbnf import gbnf
from dragoman.syntax.grammar import Node
from dragoman.syntax.lark import lark
from dragoman.syntax.sample import sample
from dragoman.syntax.schema import loosened

# The dialects whose grammars are proved here; the others share their codecs.
PROVED = ("hermes-json", "qwen3-coder-xml", "qwen35-xml", "harmony", "gemma4")
DIALECTS = [api.get(name) for name in PROVED]
each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)

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
ANSWER = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
PINGED = "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}<|call|>"
POOL = "ab C1\n<>/{}[]|\"'\\,:=é_tf"


def specials(dialect: Dialect) -> tuple[str, ...]:
    """Marks that a tokenizer of this dialect may have as tokens."""
    return dialect.special or ("<tool_call>", "</tool_call>", "<think>", "</think>")


def pieces(text: str, marks: tuple[str, ...]) -> list[str]:
    """Text as an engine would send it: every mark in a piece of its own."""
    return [piece for piece in re.split("(" + "|".join(map(re.escape, marks)) + ")", text) if piece]


def turn(dialect: Dialect, text: str, tools: list[Tool], marks: tuple[str, ...] = (), prompt: str = "") -> Turn:
    one = Parser(dialect, tools, prompt=prompt, specials=ids(marks) if marks else None)
    events = [
        event for piece in (pieces(text, marks) if marks else [text]) for event in one.feed(piece, piece in marks)
    ]
    return fold([*events, *one.close()])


def written(node: Node, seed: int, size: int = 200) -> str:
    return sample(node, random.Random(seed).randrange, size=size, pool=POOL)


# --- promise 9


@each_dialect
@settings(max_examples=400)
@given(parameters, st.integers(0, 2**32), st.booleans())
def test_p9_a_forced_call_is_one_valid_call(dialect: Dialect, schema: dict[str, Any], seed: int, as_tokens: bool):
    marks = specials(dialect) if as_tokens else ()
    tools = [Tool("make_it", parameters=schema), WEATHER]
    try:
        node = grammar(dialect, tools, "name:make_it", specials=ids(marks), parallel=False)
    except UsageError:
        return  # the schema admits nothing, or only what this syntax cannot write
    text = written(node, seed)
    found = turn(dialect, text, tools, marks)
    assert [call.name for call in found.calls] == ["make_it"], text
    assert all(call.complete and call.valid for call in found.calls), text
    assert not found.content, text
    assert not found.notices, (text, found.notices)
    assert found.finish == "tool_calls"
    if not loosened(schema):
        assert not problems(json.loads(found.calls[0].arguments), schema), text


@each_dialect
@settings(max_examples=200)
@given(st.integers(0, 2**32), st.booleans())
def test_p9_several_calls_are_all_valid(dialect: Dialect, seed: int, as_tokens: bool):
    marks = specials(dialect) if as_tokens else ()
    text = written(grammar(dialect, TOOLS, "required", specials=ids(marks)), seed)
    found = turn(dialect, text, TOOLS, marks)
    assert found.calls
    for call in found.calls:
        schema = next(tool.parameters for tool in TOOLS if tool.name == call.name)
        assert call.complete, text
        assert not problems(json.loads(call.arguments), dict(schema)), text
    assert all(isinstance(part, Call | Reasoning) for part in found.parts), text


@each_dialect
@settings(max_examples=200)
@given(st.integers(0, 2**32), st.booleans())
def test_free_turns_are_content_and_valid_calls(dialect: Dialect, seed: int, as_tokens: bool):
    marks = specials(dialect) if as_tokens else ()
    text = written(grammar(dialect, TOOLS, specials=ids(marks)), seed)
    found = turn(dialect, text, TOOLS, marks)
    kinds = [type(part).__name__[0] for part in found.parts]
    assert re.fullmatch("R?T{0,2}C*", "".join(kinds)), (text, kinds)
    assert all(call.complete and call.valid for call in found.calls), text


@each_dialect
@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_no_calls_means_none(dialect: Dialect, seed: int):
    found = turn(dialect, written(grammar(dialect, TOOLS, "none"), seed), TOOLS)
    assert not found.calls
    assert found.finish == "stop"


@each_dialect
@settings(max_examples=50)
@given(st.integers(0, 2**32), st.sampled_from(["none", "auto"]))
def test_an_answer_by_a_schema(dialect: Dialect, seed: int, choice: str):
    found = turn(dialect, written(grammar(dialect, TOOLS, choice, schema=ANSWER), seed), TOOLS)
    assert found.calls or not problems(json.loads(found.content), ANSWER)
    assert choice == "auto" or not found.calls


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


@each_dialect
def test_one_call_only(dialect: Dialect):
    node = grammar(dialect, [PING], "required", parallel=False, reasoning=False)
    one = written(node, 0)
    assert accepts(node, one)
    assert not accepts(node, one + one)
    assert not accepts(node, one + "\n" + one)
    assert not accepts(node, "")


@each_dialect
def test_calls_come_to_an_end(dialect: Dialect):
    node = grammar(dialect, [PING], "required", reasoning=False)
    one = written(grammar(dialect, [PING], "name:ping", reasoning=False), 0)
    between = {"harmony": "<|start|>assistant", "gemma4": ""}.get(dialect.name, "\n")
    assert accepts(node, between.join([one] * 16))
    assert not accepts(node, between.join([one] * 17))


@each_dialect
def test_a_named_tool_is_called_once(dialect: Dialect):
    node = grammar(dialect, TOOLS, "name:ping")
    for seed in range(20):
        assert len(turn(dialect, written(node, seed), TOOLS).calls) == 1


@each_dialect
def test_reasoning_is_offered_to_models_that_know_its_mark(dialect: Dialect):
    def thinks(specials: dict[str, int]) -> bool:
        return "thoughts" in constrain(dialect, [PING], "required", specials=specials)

    assert thinks({})
    assert thinks(ids(specials(dialect)))
    assert not thinks({"<|im_start|>": 1})


@each_dialect
def test_a_named_tool_is_the_only_one(dialect: Dialect):
    node = grammar(dialect, TOOLS, "name:ping")
    for seed in range(20):
        assert {call.name for call in turn(dialect, written(node, seed), TOOLS).calls} == {"ping"}


@each_dialect
def test_end_marks_are_in_no_grammar(dialect: Dialect):
    every = {**ids(specials(dialect)), **{mark: 900 + i for i, mark in enumerate(dialect.ends)}}
    ends = {str(every[mark]) for mark in dialect.ends}
    for choice in ("auto", "required", "none"):
        assert not ends & set(re.findall(r"<\[(\d+)\]>", constrain(dialect, TOOLS, choice, specials=every)))


def test_a_call_mark_that_is_a_token_ends_the_turn_by_itself():
    harmony = api.get("harmony")
    node = grammar(harmony, [PING], "required", specials=ids(specials(harmony)), reasoning=False)
    assert accepts(node, "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}")
    assert not accepts(node, "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{}<|call|>")
    assert str(ids(specials(harmony))["<|call|>"]) not in gbnf(node, ids(specials(harmony)))


@each_dialect
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_marks_that_are_tokens_are_references(dialect: Dialect, choice: str):
    marks = specials(dialect)
    text = constrain(dialect, TOOLS, choice, specials=ids(marks))
    assert "<[" in text
    assert not any(f'"{mark}' in text for mark in marks)


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
        found = turn(dialect, one + call, [PING], prompt=prompt)
        assert [call.name for call in found.calls] == ["ping"]
        assert found.reasoning.strip() in ("x", "")


@each_dialect
def test_without_reasoning_the_calls_come_at_once(dialect: Dialect):
    node = grammar(dialect, [PING], "required", reasoning=False)
    assert accepts(node, CALL.get(dialect.name, CALL["qwen35-xml"]))
    assert not accepts(node, "<think>\nx\n</think>\n\n" + CALL["qwen35-xml"])
    open_prompt = "<|im_start|>assistant\n<think>\n"
    assert accepts(
        grammar(QWEN, [PING], "required", prompt=open_prompt, reasoning=False), "\n</think>\n\n" + CALL["qwen35-xml"]
    )


@each_dialect
def test_reasoning_holds_no_mark_that_would_end_it(dialect: Dialect):
    node = grammar(dialect, [PING], "required")
    for seed in range(30):
        assert (
            len([part for part in turn(dialect, written(node, seed), [PING]).parts if isinstance(part, Reasoning)]) <= 1
        )


def test_a_dialect_without_reasoning_and_with_ids():
    plain = Dialect("plain", call="[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{args}", args=JsonObject(), ends=("</s>",))
    text = "[TOOL_CALLS]ping[CALL_ID]abcDEF123[ARGS]{}"
    assert accepts(grammar(plain, [PING], "required"), text)
    assert not accepts(grammar(plain, [PING], "required"), "<think>" + text)
    assert [(call.name, call.id) for call in turn(plain, text, [PING]).calls] == [("ping", "abcDEF123")]


# --- the forms


@each_dialect
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@pytest.mark.parametrize("as_tokens", [False, True])
def test_llguidance_lets_pass_what_the_tree_allows(dialect: Dialect, choice: str, as_tokens: bool):
    marks = specials(dialect) if as_tokens else ()
    node = grammar(dialect, TOOLS, choice, specials=ids(marks))
    text = lark(node, ids(marks))
    assert lark_error(text, marks) == ""
    for seed in range(12):
        example = written(node, seed, 120)
        tokens = [
            token
            for piece in pieces(example, specials(dialect))
            for token in ([ids(marks)[piece]] if piece in marks else piece.encode())
        ]
        assert lark_accepts(text, tokens, marks), example


@each_dialect
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
def test_the_gbnf_is_well_formed(dialect: Dialect, choice: str):
    assert lark_error(gbnf_to_lark(constrain(dialect, TOOLS, choice))) == ""


@each_dialect
def test_grammars_stay_small(dialect: Dialect):
    tools = [Tool(f"tool_{i}", parameters=NOTE.parameters) for i in range(20)]
    assert len(constrain(dialect, tools, "required")) < 60_000
    assert len(constrain(dialect, tools, "required", form="lark")) < 20_000


def test_free_content_is_content():
    found = turn(HERMES, "I call: it\n", TOOLS)
    assert accepts(grammar(HERMES, TOOLS), "I call: it\n")
    assert found.parts == (Text("I call: it\n"),)


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"choice": "always"}, "tool choice 'always': use auto, required, none, or name:NAME"),
        ({"choice": "name:"}, "tool choice 'name:'"),
        ({"choice": "name:nope"}, "needs a tool; on offer: get_weather, ping, note"),
        ({"choice": "required", "tools": []}, "on offer: none"),
        ({"form": "ebnf"}, "grammar form 'ebnf': use one of gbnf, lark"),
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
