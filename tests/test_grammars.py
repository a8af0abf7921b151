"""The promise P9 for grammars, in every dialect: what is written under one decodes to what was asked for.

And the other way round: what encode writes, the grammar allows.
`make test` runs 2,000 examples of each promise, spread over the dialects; `pytest --long` runs 2,000 for each dialect.
"""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import Any

import pytest
from grammars import accepts, ids, lark_accepts, lark_error, parameters, problems
from hypothesis import given
from hypothesis import strategies as st
from llguidance.gbnf_to_lark import gbnf_to_lark
from scenes import examples

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Tool, Turn
from dragoman.syntax.constrain import MOST, constrain, grammar
from dragoman.syntax.decode import Parser, fold
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.grammar import NEVER, Node
from dragoman.syntax.lark import lark
from dragoman.syntax.sample import sample
from dragoman.syntax.schema import loosened
from dragoman.syntax.template import parse

CALLING = [name for name in api.names() if api.get(name).call]
THINKING = [name for name in CALLING if api.get(name).reasoning]

for_each = pytest.mark.parametrize("name", CALLING)

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
POOL = "ab C1\n<>/{}[]|\"'\\,:=é_tf"
SEEDS = st.integers(0, 2**32)


@cache
def tokens(name: str) -> tuple[str, ...]:
    """Marks that a tokenizer of this dialect may have as tokens: those of its templates, but none that ends a turn."""
    dialect = api.get(name)
    templates = (dialect.reasoning, dialect.section, dialect.call, *dialect.content)
    literals = [piece for template in templates for piece in parse(template) if isinstance(piece, str)]
    found = [tag for literal in literals for tag in re.findall(r"<[^<>\s]+>", literal)]
    return tuple(dict.fromkeys((*dialect.special, *found)))


def pieces(text: str, marks: tuple[str, ...]) -> list[str]:
    """Text as an engine would send it: every mark in a piece of its own."""
    return (
        [piece for piece in re.split("(" + "|".join(map(re.escape, marks)) + ")", text) if piece] if marks else [text]
    )


def read(name: str, text: str, tools: list[Tool], marks: tuple[str, ...] = (), reason: str = "stop") -> Turn:
    one = Parser(api.get(name), tools, specials=ids(marks) if marks else None)
    events = [event for piece in pieces(text, marks) for event in one.feed(piece, piece in marks)]
    return fold([*events, *one.close(reason)])


def written(node: Node, seed: int, size: int = 200) -> str:
    return sample(node, random.Random(seed).randrange, size=size, pool=POOL)


def schema_of(call: Call, tools: list[Tool] = TOOLS) -> dict[str, Any]:
    return dict(next(tool.parameters for tool in tools if tool.name == call.name))


# --- what is written under a grammar


@for_each
def test_p9_a_forced_call_is_one_valid_call(name: str):
    @examples()
    @given(parameters, SEEDS, st.booleans())
    def check(schema, seed, as_tokens):
        marks = tokens(name) if as_tokens else ()
        tools = [Tool("make_it", parameters=schema), WEATHER]
        try:
            node = grammar(api.get(name), tools, "name:make_it", specials=ids(marks), parallel=False)
        except UsageError:
            return  # the schema admits nothing, or only what this syntax cannot write
        text = written(node, seed)
        found = read(name, text, tools, marks)
        assert [call.name for call in found.calls] == ["make_it"], text
        assert all(call.complete and call.valid for call in found.calls), text
        assert not found.content, text
        assert not found.notices, (text, found.notices)
        assert found.finish == "tool_calls"
        if not loosened(schema):
            assert not problems(json.loads(found.calls[0].arguments), schema), text

    check()


@for_each
def test_p9_several_calls_are_all_valid(name: str):
    @examples()
    @given(SEEDS, st.booleans())
    def check(seed, as_tokens):
        marks = tokens(name) if as_tokens else ()
        text = written(_required(name, marks), seed)
        found = read(name, text, TOOLS, marks)
        assert found.calls
        for call in found.calls:
            assert call.complete, text
            assert not problems(json.loads(call.arguments), schema_of(call)), text
        assert all(isinstance(part, Call | Reasoning) for part in found.parts), text

    check()


@for_each
def test_free_turns_are_content_and_valid_calls(name: str):
    @examples()
    @given(SEEDS, st.booleans())
    def check(seed, as_tokens):
        marks = tokens(name) if as_tokens else ()
        text = written(_free(name, marks), seed)
        found = read(name, text, TOOLS, marks)
        kinds = [type(part).__name__[0] for part in found.parts]
        assert re.fullmatch("R?T{0,2}C*", "".join(kinds)), (text, kinds)
        for call in found.calls:
            assert call.complete, text
            assert not problems(json.loads(call.arguments), schema_of(call)), text

    check()


@cache
def _required(name: str, marks: tuple[str, ...]) -> Node:
    return grammar(api.get(name), TOOLS, "required", specials=ids(marks))


@cache
def _free(name: str, marks: tuple[str, ...]) -> Node:
    return grammar(api.get(name), TOOLS, specials=ids(marks))


@for_each
def test_no_calls_means_none(name: str):
    node = grammar(api.get(name), TOOLS, "none")
    for seed in range(20):
        found = read(name, written(node, seed), TOOLS)
        assert not found.calls
        assert found.finish == "stop"


@for_each
@pytest.mark.parametrize("choice", ["none", "auto"])
def test_an_answer_by_a_schema(name: str, choice: str):
    node = grammar(api.get(name), TOOLS, choice, schema=ANSWER)
    for seed in range(20):
        found = read(name, written(node, seed), TOOLS)
        assert found.calls or not problems(json.loads(found.content), ANSWER)
        assert choice == "auto" or not found.calls


@for_each
def test_a_named_tool_is_called_once(name: str):
    node = grammar(api.get(name), TOOLS, "name:ping")
    for seed in range(20):
        assert [call.name for call in read(name, written(node, seed), TOOLS).calls] == ["ping"]


@for_each
def test_one_call_only(name: str):
    node = grammar(api.get(name), TOOLS, "required", parallel=False)
    for seed in range(20):
        assert len(read(name, written(node, seed), TOOLS).calls) == 1


@pytest.mark.parametrize("name", THINKING)
def test_reasoning_holds_no_mark_that_would_end_it(name: str):
    node = grammar(api.get(name), [PING], "required")
    for seed in range(30):
        found = read(name, written(node, seed), [PING])
        assert [type(part) for part in found.parts if not isinstance(part, Call)] in ([], [Reasoning])


# --- a cut


@for_each
def test_a_turn_cut_short_is_a_cut_call_or_a_whole_one(name: str):
    """A limit of tokens cuts anywhere: nothing half-written is told as whole, whatever the grammar had in mind."""

    @examples(4)
    @given(SEEDS, st.booleans(), st.integers(0, 999))
    def check(seed, as_tokens, place):
        marks = tokens(name) if as_tokens else ()
        text = written(_required(name, marks), seed, 80)
        whole = read(name, text, TOOLS, marks).calls
        units = [unit for piece in pieces(text, marks) for unit in ([piece] if piece in marks else piece)]
        cut = read(name, "".join(units[: place * len(units) // 1000]), TOOLS, marks, "length").calls
        assert len(cut) <= len(whole)
        for part, full in zip(cut, whole, strict=False):
            assert part.name == full.name
            if part.complete:
                assert json.loads(part.arguments) == json.loads(full.arguments), text
            else:
                assert part is cut[-1]

    check()


# --- what encode writes


@for_each
def test_what_a_dialect_writes_its_grammar_allows(name: str):
    """Any turn of the tools below, judged by a recognizer of its own, and by llguidance."""
    dialect = api.get(name)
    node = grammar(dialect, SIMPLE)
    judge = lark(node)
    for turn in turns_of(dialect):
        text = encoded(dialect, turn)
        text = text if turn.parts and isinstance(turn.parts[-1], Call) else _unclosed(dialect, text)
        assert accepts(node, text), text
        assert lark_accepts(judge, list(text.encode())), text
        assert not turn.calls or accepts(grammar(dialect, SIMPLE, "required"), text)


def turns_of(dialect: Dialect) -> list[Turn]:
    """What it can write."""
    lines = not dialect.reasoning.endswith("{text}\n")  # else a thought is one line
    return [turn for turn in SOME_TURNS if not turn.reasoning or (dialect.reasoning and lines)]


def encoded(dialect: Dialect, turn: Turn) -> str:
    """What encode writes; an answer alone in its block, which encode may leave out."""
    text = api.encode(dialect, turn)
    alone = dialect.content and dialect.blocks and dialect.frame is None and text == turn.content
    return dialect.content[0].replace("{text}", text) if alone else text


def _unclosed(dialect: Dialect, text: str) -> str:
    """Without the mark that ends an answer's message: an engine takes its end token there."""
    last = parse(dialect.content[0])[-1] if dialect.content else ""
    return text.removesuffix(last) if isinstance(last, str) and last and dialect.frame else text


SIMPLE = [
    Tool(
        "put",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "n": {"type": "integer"},
                "x": {"type": "number"},
                "ok": {"type": "boolean"},
                "list": {"type": "array", "items": {"type": "integer"}},
                "obj": {"type": "object", "properties": {"deep": {"type": ["string", "null"]}}},
            },
        },
    ),
    PING,
]
CALLS = [
    Call("ping", "{}"),
    Call("put", '{"path": "a b/ç.txt"}'),
    Call("put", '{"path": "line\\nand <b>", "n": -12, "x": 0.5, "ok": true}'),
    Call("put", '{"list": [1, 2, 3], "obj": {"deep": "down"}}'),
    Call("put", '{"list": [], "obj": {"deep": null}}'),
]
SOME_TURNS = [
    *(Turn((call,)) for call in CALLS),
    Turn(tuple(CALLS)),
    Turn((Reasoning("First this.\nThen that."), CALLS[0], CALLS[1])),
    Turn((Text("Just words: 1 < 2."),)),
]


@for_each
def test_calls_come_to_an_end(name: str):
    dialect, ping = api.get(name), Call("ping", "{}")
    node = grammar(dialect, [PING], "required", reasoning=False)
    assert accepts(node, api.encode(dialect, Turn((ping,) * MOST)))
    assert not accepts(node, api.encode(dialect, Turn((ping,) * (MOST + 1))))
    assert not accepts(node, "")


# --- the forms


@for_each
@pytest.mark.parametrize("as_tokens", [False, True])
def test_llguidance_lets_pass_what_the_tree_allows(name: str, as_tokens: bool):
    marks = tokens(name) if as_tokens else ()
    for choice in ("auto", "required", "none"):
        node = grammar(api.get(name), TOOLS, choice, specials=ids(marks))
        text = lark(node, ids(marks))
        assert lark_error(text, marks) == ""
        for seed in range(6):
            example = written(node, seed, 120)
            spelled = [
                token
                for piece in pieces(example, marks)
                for token in ([ids(marks)[piece]] if piece in marks else piece.encode())
            ]
            assert lark_accepts(text, spelled, marks), example


@for_each
def test_the_gbnf_is_well_formed(name: str):
    for choice in ("auto", "required", "none", "name:note"):
        assert lark_error(gbnf_to_lark(constrain(api.get(name), TOOLS, choice))) == ""


@for_each
def test_marks_that_are_tokens_are_references(name: str):
    """In the same places: what is spelled without references is spelled with them."""
    marks = tokens(name)
    for choice in ("auto", "required"):
        text = constrain(api.get(name), TOOLS, choice, specials=ids(marks))
        assert ("<[" in text) is any(mark in constrain(api.get(name), TOOLS, choice) for mark in marks)
        assert not [mark for mark in marks if f'"{mark}' in text]


@for_each
def test_end_marks_are_in_no_grammar(name: str):
    dialect = api.get(name)
    every = {**ids(tokens(name)), **{mark: 900 + i for i, mark in enumerate(dialect.ends)}}
    ends = {str(every[mark]) for mark in dialect.ends}
    for choice in ("auto", "required", "none"):
        assert not ends & set(re.findall(r"<\[(\d+)\]>", constrain(dialect, TOOLS, choice, specials=every)))


@for_each
def test_grammars_stay_small(name: str):
    tools = [Tool(f"tool_{i}", parameters=NOTE.parameters) for i in range(20)]
    assert len(constrain(api.get(name), tools, "required")) < 60_000
    assert len(constrain(api.get(name), tools, "required", form="lark")) < 20_000


# --- reasoning


@pytest.mark.parametrize("name", THINKING)
def test_reasoning_is_offered_to_models_that_know_its_mark(name: str):
    def thinks(specials: dict[str, int]) -> bool:
        return "thoughts" in constrain(api.get(name), [PING], "required", specials=specials)

    assert thinks({})
    assert thinks(ids(tokens(name)))
    opening = api.get(name).reasoning.partition("{text}")[0]
    assert thinks({"<|im_start|>": 1}) is (re.search(r"[<\[]", opening) is None)  # a phrase is a token nowhere


@for_each
def test_without_reasoning_the_calls_come_at_once(name: str):
    dialect = api.get(name)
    node = grammar(dialect, [PING], "required", reasoning=False)
    call = api.encode(dialect, Turn((Call("ping", "{}"),)))
    assert accepts(node, call)
    if dialect.reasoning:
        assert not accepts(node, api.encode(dialect, Turn((Reasoning("Hm."), Call("ping", "{}")))))


def test_no_dialect_is_left_out():
    assert len(CALLING) > 50
    assert [name for name in CALLING if grammar(api.get(name), TOOLS, "required") == NEVER] == []
