"""Grammars on the real engine: a tiny model that knows no dialect writes valid calls in all of them."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from dragoman import api
from dragoman.engines.base import End, Options, Piece, Prompt, Segment
from dragoman.engines.embedded import Embedded
from dragoman.messages import Grammar, Tool, Turn
from dragoman.syntax.constrain import constrain
from dragoman.syntax.decode import Parser, fold

# One dialect of each make; every dialect is walked at random in tests/test_grammars.py.
MAKES = (
    "hermes-json",  # a JSON call between tags
    "mistral-json",  # a list of them behind a mark
    "llama3-json",  # without any mark
    "kimi-k2",  # a section, ids, JSON arguments
    "qwen3-coder-xml",  # a tag for each parameter
    "deepseek-v32-dsml",  # tags that tell a type
    "glm45",  # pairs
    "minimax-m3",  # elements
    "gemma4",  # braces
    "pythonic-list",  # Python
    "harmony",  # messages with headers
)
IN_BOTH = ("hermes-json", "qwen3-coder-xml", "gemma4", "harmony")

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

WEATHER = Tool(
    "get_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2, "maxLength": 14},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"enum": ["celsius", "fahrenheit"]},
        },
        "required": ["city", "days"],
        "additionalProperties": False,
    },
)
NOTE = Tool(
    "note",
    parameters={
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": {"type": "string", "maxLength": 10}, "minItems": 1, "maxItems": 2},
            "tag": {"type": "string", "pattern": "^[a-z]{2,6}$"},
            "deep": {"$ref": "#/$defs/deep"},
        },
        "required": ["lines", "tag"],
        "additionalProperties": False,
        "$defs": {"deep": {"type": "object", "properties": {"deep": {"$ref": "#/$defs/deep"}}, "additionalProperties": False}},
    },
)  # fmt: skip
TOOLS = [WEATHER, NOTE]
PROMPT = "<|im_start|>user\nHow is the weather in Paris for three days?<|im_end|>\n<|im_start|>assistant\n"

each_dialect = pytest.mark.parametrize("name", MAKES)
each_form = pytest.mark.parametrize("form", ["gbnf", "lark"])


async def generate(
    engine: Embedded, grammar: str, form: str, *, limit: int = 220, seed: int = 1
) -> tuple[list[Piece], End]:
    """What the model writes under a grammar."""
    options = Options(limit, grammar, form, {"temperature": 0.8, "seed": seed})
    pieces: list[Piece] = []
    async for batch in engine.stream(Prompt((Segment(PROMPT),)), options):
        for item in batch:
            if isinstance(item, End):
                return pieces, item
            if isinstance(item, Piece):
                pieces.append(item)
    raise AssertionError("a stream ends with an End")


def read(real: Embedded, name: str, pieces: list[Piece], end: End) -> Turn:
    one = Parser(api.get(name), TOOLS, prompt=PROMPT, specials=real.info.specials)
    events = [event for piece in pieces for event in one.feed(piece.text, piece.special)]
    return fold([*events, *one.close(end.reason)])


@pytest.mark.parametrize(("name", "form"), [*((name, "gbnf") for name in MAKES), *((name, "lark") for name in IN_BOTH)])
async def test_a_forced_call_is_valid(real: Embedded, name: str, form: str):
    for seed, tool in enumerate(TOOLS):
        grammar = constrain(
            api.get(name), TOOLS, f"name:{tool.name}", form=form, prompt=PROMPT, specials=real.info.specials
        )
        pieces, end = await generate(real, grammar, form, limit=160 if tool is WEATHER else 80, seed=seed)
        text = "".join(piece.text for piece in pieces)
        turn = read(real, name, pieces, end)
        assert [call.name for call in turn.calls] == [tool.name], text
        if end.reason == "length":
            assert turn.finish == "length"
            continue
        assert turn.calls[0].complete, text
        assert turn.finish == "tool_calls"
        jsonschema.validate(json.loads(turn.calls[0].arguments), dict(tool.parameters))


@each_dialect
async def test_a_limit_leaves_a_cut_call_or_none(real: Embedded, name: str):
    """However few tokens: nothing that was cut is told as a whole call."""
    grammar = constrain(api.get(name), TOOLS, "name:get_weather", prompt=PROMPT, specials=real.info.specials)
    for limit in (1, 3, 8):
        pieces, end = await generate(real, grammar, "gbnf", limit=limit)
        assert end.reason == "length"
        turn = read(real, name, pieces, end)
        assert turn.finish == "length"
        assert [call.name for call in turn.calls if not call.complete] == [call.name for call in turn.calls]
        for call in turn.calls:
            assert isinstance(json.loads((call.arguments + call.missing) or "{}"), dict), call


@each_form
async def test_an_answer_by_a_schema_is_valid(real: Embedded, form: str):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "n": {"type": "integer"}},
        "required": ["ok", "n"],
    }
    grammar = constrain(api.get("hermes-json"), [], "none", form=form, schema=schema, reasoning=False)
    pieces, end = await generate(real, grammar, form)
    assert end.reason == "stop"
    jsonschema.validate(json.loads("".join(piece.text for piece in pieces)), schema)


@pytest.mark.parametrize("name", IN_BOTH)
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
async def test_the_engine_reads_every_form_of_turn(real: Embedded, name: str, choice: str):
    """Also with marks as tokens (any tokens will do: these are the first of the vocabulary that end nothing)."""
    dialect = api.get(name)
    specials = {
        mark: 3 + i for i, mark in enumerate(dialect.special or ("<tool_call>", "</tool_call>", "<think>", "</think>"))
    }
    for form in ("gbnf", "lark"):
        await generate(real, constrain(dialect, TOOLS, choice, form=form, specials=specials), form, limit=3)


async def test_large_bounds_are_read(real: Embedded):
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {f"p{n}": {"type": "string", "maxLength": n} for n in (100, 999, 1001, 4000, 100_000)},
        "required": ["p4000"],
    }
    for name in IN_BOTH:
        grammar = constrain(api.get(name), [Tool("long", parameters=schema)], "required", reasoning=False)
        pieces, _ = await generate(real, grammar, "gbnf", limit=60)
        assert pieces


@each_form
@pytest.mark.parametrize("name", ["hermes-json", "qwen3-coder-xml"])
async def test_r21_a_free_text_keeps_to_its_grammar(real: Embedded, name: str, form: str):
    """An operation of two numbers, as Lark's users write it: left recursive, with blanks ignored."""
    definition = (
        'start: "calc(" sum ")"\nsum: sum ("+" | "-") NUMBER | NUMBER\nNUMBER: /[0-9]{1,3}/\n%ignore " "\n'
        if form == "gbnf"
        else 'start: "calc(" NUMBER (" + " NUMBER)~1..2 ")"\nNUMBER: /[0-9]{1,3}/\n'
    )
    tool = Tool("calculate", kind="custom", grammar=Grammar("lark", definition))
    grammar = constrain(
        api.get(name), [tool], "required", form=form, prompt=PROMPT, specials=real.info.specials, reasoning=False
    )
    pieces, end = await generate(real, grammar, form, limit=90)
    one = Parser(api.get(name), [tool], prompt=PROMPT, specials=real.info.specials)
    turn = fold([*(event for piece in pieces for event in one.feed(piece.text, piece.special)), *one.close(end.reason)])
    whole = [call for call in turn.calls if call.complete]
    assert whole or end.reason == "length"
    for call in whole:
        assert re.fullmatch(r"calc\(\d{1,3}( ?[-+] ?\d{1,3})* ?\) ?", json.loads(call.arguments)["input"])
