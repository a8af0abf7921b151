from __future__ import annotations

from typing import Any

import pytest

from dragoman import api
from dragoman.engines.base import ModelInfo, Piece
from dragoman.engines.script import Script
from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.events import Content
from dragoman.messages import Grammar, Message, Raw, Request, Text, Tool
from dragoman.server.prepare import call_id, prepare, unenforced
from dragoman.server.roster import Served
from dragoman.syntax.decode import Policy

MARKS = {"<|im_end|>": 1, "<tool_call>": 2, "<|im_start|>": 3, "<other>": 4}
HI = (Message("user", (Text("Hi"),)),)


def served(dialect="hermes-json") -> Served:
    return Served(Script({"turn": []}), ModelInfo("m", specials=MARKS), api.get(dialect))


async def prepared(**request: Any):
    return await prepare(Request(**request), served(), Policy(), call_id)


async def test_a_conversation_is_rendered():
    (choice,) = await prepared(messages=HI)
    assert choice.prompt.text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


async def test_a_raw_prompt_stays_as_it_is_and_nothing_is_decoded():
    (choice,) = await prepared(prompts=(Raw("<think>\nHi"),))
    assert choice.prompt.text == "<think>\nHi"
    said = "a</think><tool_call>{}</tool_call>"
    assert choice.generation.feed(Piece(said)) == [Content(said)]
    assert choice.generation.feed(Piece("<|im_end|>", (1,), special=True)) == []
    assert choice.generation.ended


async def test_marks_of_the_dialect_still_arrive_as_text():
    (choice,) = await prepared(prompts=(Raw("Hi"),))
    assert set(choice.options.marks) == {"<|im_end|>", "<tool_call>", "<|im_start|>"}


async def test_every_prompt_has_its_answers_and_their_seeds_differ():
    choices = await prepared(prompts=(Raw("a"), Raw("b")), n=2, sampling={"seed": 5})
    assert [(choice.index, choice.prompt.text) for choice in choices] == [(0, "a"), (1, "a"), (2, "b"), (3, "b")]
    assert [choice.options.sampling["seed"] for choice in choices] == [5, 6, 5, 6]


async def test_a_schema_becomes_a_grammar_without_the_dialects_marks():
    (choice,) = await prepared(prompts=(Raw(""),), schema={"enum": ["a"]})
    assert '\\"a\\"' in choice.options.grammar
    assert "<think>" not in choice.options.grammar


@pytest.mark.parametrize(("strict", "choice"), [(True, "auto"), (False, "auto"), (True, "none"), (False, "required")])
async def test_a_tool_that_is_strict_or_forced_becomes_a_grammar(strict: bool, choice: str):
    tool = Tool("ping", strict=strict)
    (made,) = await prepared(messages=HI, tools=(tool,), choice=choice)
    assert ("ping" in made.options.grammar) is ((strict and choice == "auto") or choice == "required")
    assert bool(made.options.grammar) is ("ping" in made.options.grammar)


FREE = Tool("sh", kind="custom", grammar=Grammar("regex", "[a-z]{2}[0-9]", "tools[0].format"))


@pytest.mark.parametrize("choice", ["auto", "required", "name:sh"])
async def test_r21_the_grammar_of_a_free_text_tool_is_enforced(choice: str):
    (made,) = await prepared(messages=HI, tools=(FREE,), choice=choice)
    assert "[a-z]{2} [0-9]" in made.options.grammar
    (none,) = await prepared(messages=HI, tools=(FREE,), choice="none")
    assert not none.options.grammar


def test_s9_an_engine_without_grammars_is_told_of():
    one, asked = served(), Request(messages=HI, tools=(FREE, Tool("f")))
    assert unenforced(asked, one) == ()
    one.engine.grammars = ""
    assert unenforced(asked, one) == ("tools[0].format",)
    asked.choice = "none"
    assert unenforced(asked, one) == ()
    one.engine.grammars, one.engine.talks, asked.choice = "gbnf", True, "auto"
    assert unenforced(asked, one) == ("tools[0].format",)


async def test_s9_a_grammar_that_cannot_be_kept_is_noted_and_only_a_forced_call_is_refused():
    odd = Tool("f", parameters={"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]})
    (made,) = await prepared(messages=HI, tools=(FREE, odd))
    assert (made.options.grammar, made.noted) == ("", ("tools[0].format",))
    (fits,) = await prepared(messages=HI, tools=(FREE,))
    assert fits.options.grammar
    assert fits.noted == ()
    odd.strict = True
    with pytest.raises(RequestError):
        await prepared(messages=HI, tools=(FREE, odd))
    with pytest.raises(RequestError):
        await prepared(messages=HI, tools=(FREE, odd), choice="required")


async def test_schemas_that_cost_too_much_are_the_clients():
    deep: Any = {"type": "string"}
    for _ in range(300):
        deep = {"items": deep}
    with pytest.raises(RequestError, match="nested more than 200") as caught:
        await prepared(messages=HI, tools=(Tool("f", parameters={"properties": {"x": deep}}),), choice="required")
    assert (caught.value.param, caught.value.status) == ("tools", 400)


async def test_token_ids_need_an_engine_that_knows_them():
    with pytest.raises(UnsupportedFeature):
        await prepared(prompts=(Raw(ids=(1, 2)),))


async def test_a_schema_that_nothing_fits_is_the_clients():
    with pytest.raises(RequestError, match="schema") as caught:
        await prepared(messages=HI, schema={"enum": []})
    assert caught.value.param == "response_format"


def test_ids_of_calls_are_fresh():
    assert call_id() != call_id()
    assert call_id().startswith("call_")
