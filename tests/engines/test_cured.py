"""Whatever a client sends back, the next request is one that servers take."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.engines.cured import cured
from dragoman.messages import Call, Message, Reasoning, Result, Text

USER = Message("user", (Text("hi"),))


def assistant(*parts: object) -> Message:
    return Message("assistant", parts)  # type: ignore[arg-type]


def result(call_id: str, text: str = "1", name: str = "") -> Message:
    return Message("tool", (Result(call_id, (Text(text),), name),))


def test_a_sound_history_stays_as_it_is() -> None:
    sound = (USER, assistant(Reasoning("r"), Text("a"), Call("f", '{"a": 1}', "c")), result("c", name="f"), USER)
    assert cured(sound) == sound


@pytest.mark.parametrize("arguments", ['{"a": "b', "nonsense", "[1]", '"x"'])
def test_arguments_are_always_an_object(arguments: str) -> None:
    _, said, _ = cured([USER, assistant(Call("f", arguments, "c", valid=False)), result("c")])
    (call,) = said.parts
    assert isinstance(call, Call)
    assert json.loads(call.arguments) == {"_raw": arguments}


def test_no_arguments_are_an_empty_object() -> None:
    _, said, _ = cured([USER, assistant(Call("f", "", "c")), result("c")])
    assert said.parts == (Call("f", "{}", "c"),)


def test_a_call_that_nobody_answered_has_an_answer() -> None:
    _, _, first, second, last = cured([USER, assistant(Call("f", "{}", "c"), Call("g", "{}", "d")), result("d"), USER])
    assert first.parts[0].id == "d"  # type: ignore[union-attr]
    (missing,) = second.parts
    assert isinstance(missing, Result)
    assert (missing.id, missing.name, missing.error) == ("c", "f", True)
    assert last == USER


def test_a_result_without_its_call_is_text() -> None:
    assert cured([USER, result("gone", "42", "f")]) == (USER, Message("user", (Text("A result of f:\n42"),)))


def test_calls_and_results_without_ids_find_each_other() -> None:
    _, said, told = cured([USER, assistant(Call("f", "{}")), result("", "42")])
    assert said.parts[0].id == told.parts[0].id == "call_1"  # type: ignore[union-attr]


PARTS = st.one_of(
    st.builds(Text, st.text(max_size=3)),
    st.builds(Call, st.sampled_from("fg"), st.sampled_from(["{}", "{", ""]), st.sampled_from(["", "a", "b"])),
    st.builds(lambda name: Result(name, (Text("x"),)), st.sampled_from(["", "a", "b"])),
)
MESSAGES = st.lists(
    st.builds(lambda role, parts: Message(role, tuple(parts)), st.sampled_from(["user", "assistant", "tool"]), st.lists(PARTS, max_size=3)),
    max_size=5,
)  # fmt: skip


@examples(10)
@given(MESSAGES)
def test_every_history_is_one_that_servers_take(messages: list[Message]) -> None:
    for message in messages:
        if message.role == "assistant":
            message.parts = tuple(part for part in message.parts if not isinstance(part, Result))
        else:
            message.parts = tuple(part for part in message.parts if not isinstance(part, Call))
    waiting: list[str] = []
    for message in cured(messages):
        found = [part for part in message.parts if isinstance(part, Result)]
        assert (message.role == "tool") == bool(found)
        for one in found:
            assert one.id in waiting
            waiting.remove(one.id)
        if not found:
            assert waiting == []
        ids = [part.id for part in message.parts if isinstance(part, Call)]
        assert all(isinstance(json.loads(part.arguments), dict) for part in message.parts if isinstance(part, Call))
        waiting += ids
    assert waiting == []
