"""Whatever a server sends, the checks and the hearing say what is wrong with it, and never fail themselves."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import checks
from dragoman.checks.heard import HEAR
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Reasoning, Usage
from dragoman.messages import Request
from dragoman.protocols import chat, completions, messages_api, ollama, responses
from dragoman.syntax.decode import fold

EVENTS = [
    Usage(3), Reasoning("Hm."), Content("Hello", part=1), CallStart(0, "", "ping", 2), CallArgs(0, '{"a": 1}'),
    CallEnd(0, complete=True, valid=True), Usage(3, 4, 1, 2), Finish("tool_calls"),
]  # fmt: skip
PROTOCOLS: dict[str, Any] = {
    "chat": (chat, checks.check_chat_stream, checks.check_chat_answer, checks.compare, checks.check_error),
    "responses": (responses, checks.check_responses_stream, checks.check_response, checks.compare_responses, None),
    "messages": (
        messages_api, checks.check_messages_stream, checks.check_messages_answer, checks.compare_messages,
        checks.check_messages_error,
    ),
    "ollama": (
        ollama, checks.check_ollama_stream, checks.check_ollama_answer, checks.compare_ollama, checks.check_ollama_error
    ),
    "completions": (
        completions, checks.check_completions_stream, checks.check_completions_answer, checks.compare_completions, None
    ),
}  # fmt: skip
JUNK = [None, True, 0, -1, 1.5, 10**30, "", "x", "\ud800", [], {}, [None], [[]], [{}], {"a": None}, {"index": "a"}]


def written(name: str) -> tuple[bytes, dict[str, Any]]:
    protocol, request = PROTOCOLS[name][0], Request(model="m")
    facts: dict[str, Any] = {"answer_id": "resp_1", "created": 7, "ids": lambda: "call_1"}
    if name == "completions":
        from dragoman.messages import Raw

        request.prompts = (Raw("x"),)
    writer = protocol.Writer(request, protocol.Settings(), **facts)
    stream = writer.write(EVENTS) + writer.close()
    return stream, json.loads(json.dumps(protocol.answer([fold(EVENTS)], request, protocol.Settings(), **facts)))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of every object and array."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def spoilt(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        if found := list(places(value)):
            holder, key = chance.choice(found)
            if isinstance(holder, dict) and chance.random() < 0.3:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(chance.choice(JUNK))
    return value


def spoilt_stream(stream: bytes, chance: random.Random) -> bytes:
    lines = stream.split(b"\n")
    for number, line in enumerate(lines):
        head, data = (b"data: ", line[6:]) if line.startswith(b"data: {") else (b"", line)
        if data.startswith(b"{") and chance.random() < 0.4:
            lines[number] = head + json.dumps(spoilt(json.loads(data), chance)).encode()
        elif chance.random() < 0.03:
            lines[number] = chance.choice([b"", b"data: [DONE]", b"data: {", b"\xff", b"event: x", b"data: 5", b"null"])
    return b"\n".join(lines)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("seed", range(8))
def test_spoilt_answers(name: str, seed: int) -> None:
    _, check_stream, check_answer, compare, check_error = PROTOCOLS[name]
    stream, answer = written(name)
    chance = random.Random(f"{name} {seed}")
    hear_stream, hear_answer = HEAR[name]
    for _ in range(25):
        live, whole = spoilt_stream(stream, chance), spoilt(answer, chance)
        assert str(hear_stream(live))
        assert str(hear_answer(whole))
        for findings in (check_stream(live), check_answer(whole), compare(live, whole)):
            assert all(finding.rule in checks.RULES for finding in findings)
        if check_error:
            assert all(
                finding.rule in checks.RULES for finding in check_error(spoilt({"error": {"message": 1}}, chance))
            )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_good_ones_are_heard_alike(name: str) -> None:
    stream, answer = written(name)
    live, whole = (hear(body) for hear, body in zip(HEAR[name], (stream, answer), strict=True))
    assert live.content == whole.content == "Hello"
    if name != "completions":
        assert live.reasoning == whole.reasoning == "Hm."
        assert [call.name for call in live.calls] == [call.name for call in whole.calls] == ["ping"]
        assert [json.loads(call.arguments) for call in live.calls] == [{"a": 1}]
        assert live.finish == whole.finish == "tool_calls"
