"""The front: names to dialects, and the verbs that take either."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import pairwise
from multiprocessing import get_context

import pytest

import dragoman
from dragoman import api
from dragoman.errors import UnknownDialect, UsageError
from dragoman.messages import Tool, Turn
from dragoman.syntax.decode import Policy
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.learn import learn

TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def test_names_are_sorted_and_without_aliases():
    assert api.names() == sorted(set(api.names()))
    assert "hermes-json" in api.names()
    assert "hermes" not in api.names()


def test_a_dialect_has_its_name_its_aliases_and_itself():
    hermes = api.get("hermes-json")
    assert hermes.name == "hermes-json"
    assert {api.get(alias) for alias in hermes.aliases} == {hermes}
    assert api.get(hermes) is hermes


def test_no_alias_hides_a_name_and_none_is_taken_twice():
    dialects = [api.get(name) for name in api.names()]
    aliases = [alias for dialect in dialects for alias in dialect.aliases]
    assert len(aliases) == len(set(aliases))
    assert not {*aliases} & {*api.names()}


def test_an_unknown_name_says_what_looks_like_it():
    with pytest.raises(UnknownDialect, match="did you mean gemma4") as caught:
        api.get("gema4")
    assert "gemma4" in caught.value.near


def test_a_name_unlike_any_says_where_they_are_listed():
    with pytest.raises(UnknownDialect, match="`dragoman dialects` lists them all") as caught:
        api.get("zzzz")
    assert caught.value.near == ()


def test_decode_takes_a_name_or_a_dialect():
    by_name = api.decode("hermes", CALL, TOOLS)
    assert by_name == api.decode(api.get("hermes"), CALL, TOOLS)
    assert by_name.calls[0].name == "f"
    assert by_name.finish == "tool_calls"


def test_decode_hands_on_all_it_is_given():
    spans: list[tuple[int, int, str]] = []
    turn = api.decode(
        "hermes-json", "hm<think>", TOOLS, prompt="<|im_start|>assistant\n<think>", specials={"<think>": 1}, finish="length",
        policy=Policy(recover="strict"), trace=lambda *span: spans.append(span),
    )  # fmt: skip
    assert (turn.reasoning, turn.finish, spans) == ("hm<think>", "length", [(0, 2, "reasoning"), (2, 9, "reasoning")])


def test_many_turns_keep_their_order_and_share_their_tools():
    turns = api.decode_many("hermes-json", (text for text in ("a", CALL, "b")), (tool for tool in TOOLS), finish="stop")
    assert [(turn.content, len(turn.calls)) for turn in turns] == [("a", 0), ("", 1), ("b", 0)]
    assert turns == [api.decode("hermes-json", text, TOOLS) for text in ("a", CALL, "b")]


def test_many_turns_may_have_unknown_tools_or_a_prompt():
    assert [turn.calls[0].name for turn in api.decode_many("hermes-json", [CALL])] == ["f"]
    (turn,) = api.decode_many(
        "hermes-json", ["a"], prompt="<|im_start|>assistant\n<think>", policy=Policy(), finish="length"
    )
    assert (turn.reasoning, turn.finish) == ("a", "length")


def test_what_a_batch_passes_around_pickles():
    turn = api.decode("hermes-json", CALL, TOOLS)
    assert pickle.loads(pickle.dumps(turn)) == turn
    assert pickle.loads(pickle.dumps(api.get("harmony"))).name == "harmony"


def test_encode_takes_a_name_or_a_dialect():
    turn = api.decode("hermes-json", CALL)
    raw = api.encode("hermes", turn)
    assert raw == api.encode(api.get("hermes-json"), turn)
    assert api.decode("hermes-json", raw, TOOLS).calls == turn.calls


def test_constrain_takes_tools_in_any_shape():
    grammar = api.constrain("hermes-json", TOOLS, "required")
    assert grammar == api.constrain(
        api.get("hermes-json"), [Tool("f", parameters=TOOLS[0]["function"]["parameters"])], "required"
    )
    assert "tool_call" in grammar


def test_constrain_refuses_what_it_does_not_know():
    with pytest.raises(UsageError):
        api.constrain("hermes-json", TOOLS, "name:g")
    with pytest.raises(UsageError):
        api.constrain("hermes-json", TOOLS, form="bnf")


def test_detect_is_the_best_of_detections():
    template = "{{ '<tool_call>' }} {'name': ..., 'arguments': ...}"
    assert api.detect(template) == api.detections(template)[0][0] == "hermes-json"
    assert api.detect("no marks at all") is None
    assert api.detect(vocab=iter(api.get("harmony").special)) == "harmony"


def test_a_dialect_of_ones_own_needs_no_name():
    mine = Dialect("mine", reasoning="[[{text}]]", ends=("[end]",))
    assert api.decode(mine, "[[hm]]Text[end]").reasoning == "hm"
    assert api.encode(mine, Turn()) == ""


def test_what_is_public_is_there():
    assert [name for name in dragoman.__all__ if not hasattr(dragoman, name)] == []
    assert dragoman.__all__ == sorted(dragoman.__all__)


def test_many_on_several_cores():
    with get_context("spawn").Pool(2) as pool:
        turns = api.decode_many("hermes-json", [CALL] * 50, TOOLS, each=partial(pool.map, chunksize=10))
    assert turns == api.decode_many("hermes-json", [CALL] * 50, TOOLS)


@pytest.mark.parametrize("name", api.names())
def test_spans_tile_the_text(name: str):
    dialect = api.get(name)
    text = f"Hi {dialect.call or 'you'} ok"
    spans = api.spans(name, text)
    assert "".join(text[start:end] for start, end, _ in spans) == text
    assert {role for _, _, role in spans} <= {"content", "reasoning", "arguments", "markup", "unread"}
    assert all(one[2] != other[2] for one, other in pairwise(spans))


def test_spans_tell_the_roles():
    raw = f"<think>\nhm\n</think>\n\nOk.\n{CALL}"
    told = {}
    for start, end, role in api.spans("hermes-json", raw, TOOLS):
        told[role] = told.get(role, "") + raw[start:end]
    assert (told["reasoning"], told["content"]) == ("hm", "Ok.")
    assert '"name"' not in told["arguments"]
    assert "<tool_call>" in told["markup"]


def test_learning_is_public():
    assert dragoman.learn is learn
