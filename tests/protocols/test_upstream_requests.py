"""A request that is written for an upstream reads back as the same request, as far as the protocol has fields for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dragoman.messages import Call, Media, Message, Raw, Reasoning, Request, Result, Text, Tool
from dragoman.protocols import completions, messages_api, ollama, responses

HELLO = (Message("user", (Text("hi"),)),)
TOOLS = (Tool("f", "d", {"type": "object"}, strict=True), Tool("g", parameters={"type": "object"}))
FREE = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
CALLS = (
    Message("system", (Text("a"),)),
    Message("user", (Text("look"), Media("image", "data:image/png;base64,iVBORAAA", "image/png"))),
    Message("assistant", (Reasoning("r"), Text("a"), Call("f", '{"a":1}', "c1"), Call("g", "{}", "c2"))),
    Message("tool", (Result("c1", (Text("1"),), "f"),)),
    Message("tool", (Result("c2", (Text("2"),), "g"),)),
    Message("assistant", (Call("f", '{"a":2}', "c3"),)),
    Message("tool", (Result("c3", (Text("3"),), "f"),)),
    Message("user", (Text("go on"),)),
)
COMMON = [
    Request(tools=TOOLS, choice="auto"),
    Request(limit=7, sampling={"temperature": 0.5, "top_k": 3, "top_p": 0.5, "min_p": 0.1}),
    Request(schema={"type": "object", "properties": {"a": {"type": "string"}}}),
    Request(thinking=False),
    Request(tools=TOOLS, messages=CALLS, choice="auto"),
]
FORCED = [
    Request(tools=TOOLS, choice="required", parallel=False),
    Request(tools=TOOLS, choice="name:g"),
    Request(tools=TOOLS, choice="none"),
]


def back(module: Any, request: Request, settings: Any = None) -> Request:
    data = module.write_request(request, settings or module.Settings(stream=True))
    read, told = module.read_request(data)
    assert told.stream
    assert not told.ignored
    return read


def complete(request: Request) -> Request:
    choice = request.choice if request.tools else "none"
    return replace(request, model="m", messages=request.messages or HELLO, choice=choice, limit=request.limit or 5)


@pytest.mark.parametrize(
    "request_", [*COMMON, *FORCED, Request(logprobs=3), Request(schema={}), Request(thinking="low")]
)
def test_responses(request_: Request) -> None:
    request = complete(request_)
    assert back(responses, request) == request


def test_responses_have_free_text_tools_and_phases() -> None:
    tools = (Tool("patch", "Patch.", FREE, kind="custom"), Tool("f"))
    said = (Text("first", "commentary"), Text("then", "final"), Call("patch", '{"input":"*** x\\n"}', "c1"))
    messages = (*HELLO, Message("assistant", said), Message("tool", (Result("c1", (Text("ok"),), "patch"),)))
    request = complete(Request(tools=tools, choice="name:patch", messages=messages))
    data = responses.write_request(request, responses.Settings())
    assert data["tool_choice"] == {"type": "custom", "name": "patch"}
    assert {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** x\n"} in data["input"]
    assert responses.read_request(data)[0] == request


def test_responses_take_all_kinds_of_media() -> None:
    media = (
        Media("image", "http://x/y.png"),
        Media("file", "data:a/b;base64,AA", "a/b", "n.pdf"),
        Media("file", "http://x/y.pdf"),
        Media("audio", "data:audio/mp3;base64,AA", "audio/mp3"),
    )
    request = complete(Request(messages=(Message("user", (*media, Text("see"))),)))
    assert back(responses, request) == request


@pytest.mark.parametrize("request_", [*COMMON, *FORCED, Request(stop=("a", "b")), Request(thinking="high")])
def test_messages(request_: Request) -> None:
    request = complete(request_)
    assert back(messages_api, request) == request


def test_messages_group_what_one_role_says() -> None:
    data = messages_api.write_request(complete(Request(messages=CALLS)), messages_api.Settings())
    assert data["system"] == [{"type": "text", "text": "a"}]
    assert [message["role"] for message in data["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in data["messages"][2]["content"]] == ["tool_result", "tool_result"]
    assert [block["type"] for block in data["messages"][4]["content"]] == ["tool_result", "text"]


def test_messages_always_have_a_limit() -> None:
    data = messages_api.write_request(Request("m", HELLO), messages_api.Settings())
    assert data["max_tokens"] == 32_000


def test_messages_say_that_a_tool_failed() -> None:
    failed = Message("tool", (Result("c1", (Text("no"),), error=True),))
    data = messages_api.write_request(Request("m", (*HELLO, failed)), messages_api.Settings())
    assert data["messages"][0]["content"][1]["is_error"] is True


def test_arguments_that_are_no_object_are_told_all_the_same() -> None:
    said = Message("assistant", (Call("f", "{oops", "c1", valid=False),))
    for module in (messages_api, ollama):
        data = module.write_request(Request("m", (*HELLO, said)), module.Settings())
        call = data["messages"][1]
        found = (
            call["content"][0]["input"] if "tool_calls" not in call else call["tool_calls"][0]["function"]["arguments"]
        )
        assert found == {"_raw": "{oops"}


@pytest.mark.parametrize(
    "request_", [*COMMON, Request(stop=("a",)), Request(logprobs=3), Request(schema={}), Request(thinking="low")]
)
def test_ollama(request_: Request) -> None:
    request = complete(request_)
    read = back(ollama, request)
    tools = tuple(replace(tool, strict=False) for tool in request.tools)  # which Ollama has no word for
    read.messages = tuple(Message(message.role, _texts_last(message.parts)) for message in read.messages)
    request.messages = tuple(Message(message.role, _texts_last(message.parts)) for message in request.messages)
    assert read == replace(request, tools=tools)


def _texts_last(parts: Any) -> Any:
    """Where images stand among the texts cannot be said there."""
    return (
        *(part for part in parts if not isinstance(part, Text)),
        *(part for part in parts if isinstance(part, Text)),
    )


def test_ollama_knows_no_tools_where_none_may_be_called() -> None:
    assert "tools" not in ollama.write_request(Request("m", HELLO, TOOLS, "none"), ollama.Settings())


@pytest.mark.parametrize(
    "request_",
    [
        Request("m", prompts=(Raw("a"),), limit=3, stop=("x",), n=2, logprobs=2, sampling={"seed": 1}, choice="auto"),
        Request("m", prompts=(Raw(ids=(1, 2)),), choice="auto"),
        Request("m", prompts=(Raw("a"), Raw("b")), choice="auto"),
    ],
)
def test_completions(request_: Request) -> None:
    assert back(completions, request_, completions.Settings(stream=True, include_usage=True)) == request_
