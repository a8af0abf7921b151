"""What the doctor asks is what was meant: its requests are read back by our own protocols."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.doctor import bodies
from dragoman.messages import Call, Message, Request, Result, Text, Tool
from dragoman.protocols import chat, completions, messages_api, ollama, responses

TOOLS = (Tool("ping", "Pings.", {"type": "object", "properties": {"n": {"type": "integer"}}}), Tool("pong"))
CALLS = Message("assistant", (Call("ping", '{"n": 1}', "call_1"), Call("pong", "{}", "call_2")))
RESULTS = [
    Message("tool", (Result(f"call_{n}", (Text(f"answer {n}"),), name),)) for n, name in ((2, "pong"), (1, "ping"))
]
USER = Message("user", (Text("Hello"),))
SYSTEM = Message("system", (Text("Be brief."),))
PAIRS: list[Any] = [
    (bodies.chat, chat),
    (bodies.responses, responses),
    (bodies.messages, messages_api),
    (bodies.ollama, ollama),
]


def back(write: Any, protocol: Any, request: Request, stream: bool = False) -> tuple[Request, Any]:
    body = {key: value for key, value in write(request, stream).items() if value is not None}
    read: tuple[Request, Any] = protocol.read_request(body)
    return read


@pytest.mark.parametrize(("write", "protocol"), PAIRS)
def test_a_conversation_with_tools(write: Any, protocol: Any) -> None:
    asked = Request("m", (SYSTEM, USER, CALLS, *RESULTS), TOOLS, limit=7, sampling={"temperature": 0})
    read, settings = back(write, protocol, asked, stream=True)
    assert settings.stream
    assert (read.model, read.limit, read.sampling, read.choice) == ("m", 7, {"temperature": 0}, "auto")
    assert [tool.name for tool in read.tools] == ["ping", "pong"]
    parts = [part for message in read.messages for part in message.parts]
    assert [part.text for part in parts if isinstance(part, Text)] == ["Be brief.", "Hello"]
    assert [(part.name, part.arguments) for part in parts if isinstance(part, Call)] in (
        [("ping", '{"n": 1}'), ("pong", "{}")],
        [("ping", '{"n":1}'), ("pong", "{}")],
    )
    results = [part for part in parts if isinstance(part, Result)]
    assert [(part.name, part.parts[0].text) for part in results if isinstance(part.parts[0], Text)] == [
        ("pong", "answer 2"),
        ("ping", "answer 1"),
    ]


@pytest.mark.parametrize(("write", "protocol"), PAIRS[:3])
@pytest.mark.parametrize("choice", ["required", "none", "name:pong"])
def test_a_choice(write: Any, protocol: Any, choice: str) -> None:
    read, _ = back(write, protocol, Request("m", (USER,), TOOLS, choice, parallel=False, limit=7))
    assert (read.choice, read.parallel) == (choice, False)


@pytest.mark.parametrize(("write", "protocol"), PAIRS)
def test_a_schema(write: Any, protocol: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert back(write, protocol, Request("m", (USER,), schema=schema))[0].schema == schema


@pytest.mark.parametrize(("write", "protocol"), PAIRS)
def test_thinking(write: Any, protocol: Any) -> None:
    assert back(write, protocol, Request("m", (USER,), thinking=False, limit=9))[0].thinking is False
    assert back(write, protocol, Request("m", (USER,), thinking="low", limit=9))[0].thinking in ("low", True)


@pytest.mark.parametrize(("write", "protocol"), [PAIRS[0], *PAIRS[2:], (bodies.completions, completions)])
def test_stop_strings(write: Any, protocol: Any) -> None:
    assert back(write, protocol, Request("m", (USER,), stop=("a", "b"), limit=9))[0].stop == ("a", "b")
