"""Thinking split off a text on its way, and what else plug-ins share."""

from __future__ import annotations

import pytest

from dragoman import api
from dragoman.inside.streams import Thinking, call_id, dialects, envelope, read, thinks
from dragoman.messages import Call, Reasoning, Text, Turn

HERMES = api.get("hermes-json")
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {}}}]


def told(dialect, pieces, prompt: str = ""):
    thinking = Thinking(dialect, prompt)
    parts = [thinking.feed(piece) for piece in pieces] + [thinking.close()]
    return "".join(thought for thought, _ in parts), "".join(rest for _, rest in parts)


TEXTS = {
    "thinking and a call": (f"<think>\nhm\n</think>\n\n{CALL}", "", "hm", CALL),
    "no thinking": (f"Hi <b>you</b> {CALL}", "", "", f"Hi <b>you</b> {CALL}"),
    "opened by the prompt": (f"hm\n</think>\n\n{CALL}", "<|im_start|>assistant\n<think>\n", "hm", CALL),
    "closed by the prompt": (CALL, "<|im_start|>assistant\n<think>\n\n</think>\n\n", "", CALL),
    "thinking alone": ("<think>\nhm", "", "hm", ""),
    "a half mark at the end": ("<think>hm</think>ok <thi", "", "hm", "ok <thi"),
    "nothing": ("", "", "", ""),
}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("what", TEXTS)
def test_thinking_is_split_off_and_the_rest_is_verbatim(what: str, size: int):
    raw, prompt, thought, rest = TEXTS[what]
    assert told(HERMES, [raw[at : at + size] for at in range(0, len(raw), size)], prompt) == (thought, rest)


@pytest.mark.parametrize("dialect", [one for one in dialects() if one.reasoning and one.call], ids=lambda one: one.name)
def test_every_dialect_is_read_in_two_steps(dialect):
    turn = Turn((Reasoning("hm, so"), Call("f", '{"a": "x"}')))
    raw = api.encode(dialect, turn)
    thought, rest = told(dialect, list(raw))
    assert thought.strip() == "hm, so"
    again, content = read(dialect, rest, TOOLS)
    assert [(call.name, call.arguments) for call in again.calls] == [("f", '{"a": "x"}')]
    assert content == ""


def test_framed_dialects_are_left_to_the_engine():
    assert all(dialect.frame is None for dialect in dialects())
    assert len(dialects()) > 50


def test_thinking_that_nobody_split_off_stays():
    turn, content = read(HERMES, f"<think>\nhm\n</think>\n\nOk\n{CALL}", TOOLS)
    assert content == "<think>\nhm\n</think>\n\nOk"
    assert len(turn.calls) == 1


MARKS = [
    ("<|im_start|>assistant\n", None),
    ("<|im_start|>assistant\n<think>\n", True),
    ("<|im_start|>assistant\n<think>\nhm\n</think>\n\nok", False),
    ("<|im_start|>user\n</think><|im_end|>\n<|im_start|>assistant\n", None),
]


@pytest.mark.parametrize(("text", "open_"), MARKS)
def test_whether_the_thinking_is_open(text: str, open_):
    assert thinks(HERMES, text) is open_


def test_what_stands_around_arguments():
    assert envelope(HERMES, "f") == ('<tool_call>\n{"name": "f", "arguments": ', "}\n</tool_call>", "<tool_call>")
    assert envelope(api.get("qwen3-coder-xml"), "f") is None
    assert envelope(api.get("kimi-k2"), "f")[2] == "<|tool_calls_section_begin|>"


def test_ids():
    assert call_id("own") == "own"
    assert call_id() != call_id()
    assert call_id(Text("").text).startswith("call_")
