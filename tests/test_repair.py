"""What an upstream left in its text is decoded again; what it split off stays as it is."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import api
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning
from dragoman.messages import Call, Text, Tool
from dragoman.messages import Reasoning as Thought
from dragoman.repair import Repair
from dragoman.syntax.fold import fold

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})]


def repair(dialect: str = "hermes-json", tools: Any = TOOLS) -> Repair:
    return Repair(api.get(dialect), tools)


def run(*items: str | Event, finish: str = "stop", **settings: Any) -> list[Event]:
    made = repair(**settings)
    found: list[Event] = []
    for item in items:
        found += made.feed(item) if isinstance(item, str) else made.take([item])
    return [*found, *made.close(finish)]


def parts(*items: str | Event, **settings: Any) -> Any:
    return fold(run(*items, **settings)).parts


def test_text_stays_text():
    assert parts("Hel", "lo  ", "\n\n there ") == (Text("Hello  \n\n there "),)


def test_a_leaked_call_is_one():
    assert parts('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>') == (Call("f", '{"a": 1}'),)


def test_leaked_reasoning_is_reasoning():
    assert parts("<think>", "hm</th", "ink>\n\nYes") == (Thought("hm"), Text("Yes"))


def test_what_was_split_off_stays():
    call = [CallStart(0, "x", "f", 2), CallArgs(0, "{}"), CallEnd(0, complete=True, valid=True)]
    events = run(Reasoning("r", part=0), "Hello", *call, "bye")
    assert fold(events).parts == (Thought("r"), Text("Hello"), Call("f", "{}", "x"), Text("bye"))
    assert [event.part for event in events if hasattr(event, "part")] == [0, 1, 2, 3]


def test_calls_are_numbered_anew():
    own = [CallStart(0, "x", "f", 1), CallArgs(0, "{}"), CallEnd(0, complete=True, valid=True)]
    leaked = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    events = run(leaked, *own, leaked)
    assert [event.index for event in events if isinstance(event, CallStart | CallEnd)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("tail", ["<|im_end|>", "<|im_end|>\n"])
def test_a_mark_that_ends_turns_is_dropped_at_the_end(tail: str):
    assert parts("Hello", tail) == (Text("Hello"),)


@pytest.mark.parametrize("cut", range(1, 27))
def test_a_mark_that_ends_turns_is_text_in_the_middle(cut: int):
    text = "The mark <|im_end|> ends it"
    events = run(text[:cut], text[cut:])
    assert "".join(event.text for event in events if isinstance(event, Content)).split() == text.split()
    assert events[-1] == Finish("stop")


def test_a_leaked_call_that_was_cut_is_cut():
    events = run('<tool_call>\n{"name": "f", "arguments": {"a": 1', finish="length")
    assert events[-1] == Finish("length")
    assert not fold(events).calls[0].complete


def test_a_notice_parts_nothing():
    assert parts("Hel", Notice("cut"), "lo") == (Text("Hello"),)


def test_nothing_is_nothing():
    assert run("", "") == [Finish("stop")]


@pytest.mark.parametrize("name", api.names())
def test_every_dialect_can_be_repaired(name: str):
    made = Repair(api.get(name), TOOLS)
    assert fold([*made.feed("Hello"), *made.close()]).parts == (Text("Hello"),)


def test_an_answer_may_begin_in_reasoning():
    made = Repair(api.get("hermes-json"), TOOLS, prompt="<|im_start|>assistant\n<think>\n")
    events = [*made.feed("hm</th"), *made.feed("ink>\n\nYes"), *made.close()]
    assert fold(events).parts == (Thought("hm"), Text("Yes"))


def test_reasoning_that_was_split_off_was_the_beginning():
    made = Repair(api.get("hermes-json"), TOOLS, prompt="<|im_start|>assistant\n<think>\n")
    events = [*made.take([Reasoning("hm")]), *made.feed("Yes"), *made.close()]
    assert fold(events).parts == (Thought("hm"), Text("Yes"))
