"""Framing: messages with headers of every make, shown once and read from then on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.messages import Call, Reasoning, Text, Turn
from dragoman.syntax.decode import decode
from dragoman.syntax.definition import dump, load
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode
from dragoman.syntax.learn import Lesson, study

Messages = list[tuple[str, str, str]]


def framed(write: Callable[[Messages], str], begins: str, user: str):
    """A template that writes each part of a turn as a message: (kind, name of the tool, text)."""

    def render(messages, tools, add_generation_prompt=False, **flags):
        text = ""
        for message in messages:
            if message["role"] == "assistant":
                text += write(_parts(message))
            else:
                text += user % message["content"]
        return text + begins * add_generation_prompt

    return render


def _parts(message: dict[str, Any]) -> Messages:
    parts = [("thought", "", message["reasoning_content"])] if message.get("reasoning_content") else []
    parts += [("answer", "", message["content"])] if message["content"] else []
    for call in message.get("tool_calls", ()):
        parts.append(("call", call["function"]["name"], json.dumps(call["function"]["arguments"], ensure_ascii=False)))
    return parts


def channels(parts: Messages) -> str:
    heads = {
        "thought": "<|of|>musing<|is|>",
        "answer": "<|of|>reply<|is|>",
        "call": " to=tools.%s<|of|>work json<|is|>",
    }
    texts = []
    for at, (kind, name, text) in enumerate(parts):
        close = "<|do|>" if kind == "call" else "<|done|>" if at == len(parts) - 1 else "<|over|>"
        texts.append(f"<|go|>bot{heads[kind].replace('%s', name)}{text}{close}")
    return "".join(texts)


def addressed(parts: Messages) -> str:
    names = {"thought": "me", "answer": "you"}
    texts = [f"<|go|>bot to={names.get(kind, name)}<|is|>{text}" for kind, name, text in parts]
    return "<|next|>".join(texts) + "<|over|>"


def lines(parts: Messages) -> str:
    heads = {"thought": "/muse", "answer": "", "call": " -> work"}
    texts = [
        f"<|go|>bot{heads[kind]}\n" + (f'{{"name": "{name}", "arguments": {text}}}' if name else text)
        for kind, name, text in parts
    ]
    return "<|over|>\n".join(texts) + "<|over|><|done|>\n"


def marks(parts: Messages) -> str:
    heads = {"thought": "<|musing|>", "answer": "<|reply|>", "call": "<|work|>"}
    texts = [
        f"<|bot|>{heads[kind]}" + (f'{{"name": "{name}", "arguments": {text}}}' if name else text) + "<|over|>"
        for kind, name, text in parts
    ]
    return "".join(texts) + "<|done|>"


def named(parts: Messages) -> str:
    texts = [f"<|go|>bot\n<|for|>{name or 'everyone'}\n<|is|>{text}" for _, name, text in parts]
    return "\n".join(texts) + "<|done|>\n"


def again(parts: Messages) -> str:
    heads = {"thought": "<|musing|>", "answer": "<|reply|>"}
    calls = "".join(f"<|work|>{name}<|with|>{text}<|done|>" for kind, name, text in parts if kind == "call")
    texts = [f"<|go|>bot{heads[kind]}{text}<|over|>" for kind, _, text in parts if kind != "call"]
    return "".join(texts) + (f"<|go|>bot<|works|>{calls}<|worked|>" if calls else "")


WAYS = {
    "channels": framed(channels, "<|go|>bot", "<|go|>user<|is|>%s<|over|>"),
    "addressed": framed(addressed, "<|go|>bot", "<|go|>user<|is|>%s<|over|>"),
    "lines": framed(lines, "<|go|>bot", "<|go|>user\n%s<|over|>\n"),
    "marks": framed(marks, "<|bot|>", "<|user|><|reply|>%s<|over|>"),
    "named": framed(named, "<|go|>bot\n<|for|>", "<|go|>user\n<|for|>everyone\n<|is|>%s\n"),
    "again": framed(again, "<|go|>bot", "<|go|>user<|reply|>%s<|over|>"),
}
TURN = Turn(
    (Reasoning("Let me look."), Text("One moment."), Call("look_up", '{"what": "a \\"b\\" <c>", "n": [1, {}]}'))
)


@pytest.fixture(params=sorted(WAYS))
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return study(WAYS[request.param])


def test_messages_are_learnt(lesson: Lesson):
    assert lesson.unread == ()
    assert "messages" in lesson.found


def test_what_was_never_shown_is_written_and_read(lesson: Lesson):
    dialect = lesson.dialect
    parts = [part for part in TURN.parts if dialect.reasoning or not isinstance(part, Reasoning)]
    text = encode(dialect, Turn(tuple(parts)), prompt=dialect.begins)
    turn = decode(dialect, text, prompt=dialect.begins)
    assert turn.content == "One moment."
    assert [(call.name, json.loads(call.arguments)) for call in turn.calls] == [
        ("look_up", {"what": 'a "b" <c>', "n": [1, {}]})
    ]
    assert turn.reasoning == ("Let me look." if dialect.reasoning else "")


def test_the_file_holds_it(lesson: Lesson):
    assert dump(load(dump(lesson.dialect))) == dump(lesson.dialect)


def learnt(way: str) -> Dialect:
    return study(WAYS[way]).dialect


def test_a_channel_has_its_mark_and_a_call_its_recipient():
    frame = learnt("channels").frame
    assert frame is not None
    assert (frame.start, frame.role, frame.channel, frame.message) == ("<|go|>", "bot", "<|of|>", "<|is|>")
    assert frame.prefix == "tools."
    assert frame.channels["musing"][0] == "reasoning"
    assert list(frame.channels)[-1] == "reply"


def test_recipients_are_channels():
    frame = learnt("addressed").frame
    assert frame is not None
    assert frame.channels == {"me": ("reasoning", ""), "you": ("content", "")}


def test_a_header_may_be_a_line_or_one_mark():
    assert (frame := learnt("lines").frame) is not None
    assert frame.lines
    assert (frame := learnt("marks").frame) is not None
    assert frame.opens == ("<|musing|>", "<|work|>", "<|reply|>")


def test_marks_of_each_kind_need_no_frame():
    assert learnt("again").frame is None


def test_a_text_in_the_place_of_a_thought_says_nothing_of_answers():
    def render(messages, tools, add_generation_prompt=False, **flags):
        shown = [dict(message) for message in messages]
        for message in shown:
            if message.get("tool_calls") and message["content"]:
                message |= {"reasoning_content": message["content"], "content": ""}
        return WAYS["channels"](shown, tools, add_generation_prompt)

    found = study(render)
    assert found.unread == ()
    assert found.probes == study(WAYS["channels"]).probes - 2


def test_a_template_without_calls_may_have_messages():
    def render(messages, tools, **flags):
        return WAYS["channels"]([{**message, "tool_calls": []} for message in messages], tools, **flags)

    found = study(render)
    assert found.unread == ()
    assert found.dialect.reasoning == "<|of|>musing<|is|>{text}<|over|>"
