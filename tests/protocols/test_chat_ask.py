from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.messages import Call, Media, Message, Reasoning, Request, Result, Text, Tool
from dragoman.protocols.chat import Settings, read_request, write_request

HELLO = (Message("user", (Text("hi"),)),)
TOOLS = (Tool("f", "d", {"type": "object"}, strict=True), Tool("g"))


def write(settings=None, **fields):
    return write_request(Request(**{"model": "m", "messages": HELLO, **fields}), settings or Settings())


def test_the_least_request():
    assert write() == {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": False}


def test_a_stream_with_its_usage():
    data = write(Settings(stream=True, include_usage=True))
    assert (data["stream"], data["stream_options"]) == (True, {"include_usage": True})
    assert "stream_options" not in write(Settings(include_usage=True))


def test_what_is_off_or_default_is_left_out():
    assert write(n=1, logprobs=None, tools=(), choice="none", parallel=False).keys() == {"model", "messages", "stream"}


REQUESTS = [
    Request(tools=TOOLS, choice="auto"),
    Request(tools=TOOLS, choice="required", parallel=False),
    Request(tools=TOOLS, choice="name:g"),
    Request(tools=TOOLS, choice="none"),
    Request(limit=7, stop=("a", "b"), n=3, logprobs=0),
    Request(logprobs=5, sampling={"temperature": 0.5, "logit_bias": [[7, -1]], "top_k": 3, "seed": 1}),
    Request(schema={}),
    Request(schema={"type": "object"}),
    Request(thinking=False, template_kwargs={"enable_thinking": False, "x": 1}),
    Request(thinking="low"),
    Request(messages=(*HELLO, Message("assistant", (Text("Once"),))), continue_last=True),
    Request(messages=(Message("system", (Text("a"), Text("b"))), Message("user"))),
    Request(
        messages=(
            Message("user", (Text("look"), Media("image", "http://x"), Media("video", "http://v"))),
            Message("user", (Media("audio", "data:audio/mp3;base64,AA", "audio/mp3"),)),
            Message("user", (Media("file", "data:a/b;base64,AA", "a/b", "n.pdf"),)),
            Message(
                "assistant", (Reasoning("r"), Text("a"), Call("f", '{"a": 1}', "c1"), Call("g", "{", "c2", valid=False))
            ),
            Message("tool", (Result("c2", (Text("2"),), "g"),)),
            Message("tool", (Result("c1", (), "f"),)),
            Message("assistant", (Call("f", "{}", "c3"),)),
            Message("assistant", (Text("no", "refusal"),)),
            Message("assistant"),
        ),
    ),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_what_is_written_reads_back(request_):
    request_.model = "m"
    request_.messages = request_.messages or HELLO
    if not request_.tools:
        request_.choice = "none"
    data = json.loads(json.dumps(write_request(request_, Settings())))
    assert read_request(data)[0] == request_


def test_results_in_one_message_become_one_message_each():
    results = Message("tool", (Result("a", (Text("1"),)), Result("b", (Text("2"),))))
    assert write(messages=(results,))["messages"] == [
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]


def test_results_beside_text_of_a_user_stay_in_order():
    both = Message("user", (Result("a", (Text("1"),)), Text("and?")))
    assert [message["role"] for message in write(messages=(both,))["messages"]] == ["tool", "user"]


def test_c31_a_custom_tool_is_offered_as_a_function():
    (tool,) = write(tools=(Tool("sh", kind="custom", parameters={"type": "object"}),))["tools"]
    assert tool == {"type": "function", "function": {"name": "sh", "parameters": {"type": "object"}}}


@given(st.lists(st.sampled_from(["system", "user"]), min_size=1), st.text())
def test_any_text_reads_back(roles, text):
    messages = tuple(Message(role, (Text(text),) if text else ()) for role in roles)
    assert read_request(write(messages=messages))[0].messages == messages
