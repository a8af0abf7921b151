"""dragoman in front of dragoman: what one says, the other passes on whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from dragoman.engines.script import Script
from dragoman.engines.upstream import Settings, Upstream

from .conftest import WEATHER, Running, ask, joined, running

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TURN = f"<think>\nThe user asks.\n</think>\n\nLet me see.\n{CALL}<|im_end|>"


@contextmanager
def chained(*turns: dict[str, Any], way: str = "chat", **settings: Any) -> Iterator[Running]:
    script = Script({"model": "demo", "dialect": "hermes-json", "turn": list(turns)})
    with ExitStack() as stack:
        behind = stack.enter_context(running(script, **settings))
        front = Upstream(Settings(url=behind.url, way=way))
        yield stack.enter_context(running(front))


WAYS = ["chat", "responses", "messages", "ollama"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("way", WAYS)
async def test_a_whole_turn(stream: bool, way: str) -> None:
    with chained({"output": TURN}, way=way) as front:
        body = {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER], "stream": stream}
        answer = await ask(front, body)
    if stream:
        found = joined(answer.chunks)
        assert (found["reasoning_content"], found["content"]) == ("The user asks.", "Let me see.")
        assert found["calls"][0]["name"] == "get_weather"
        assert json.loads(found["calls"][0]["arguments"]) == {"city": "Paris"}
        assert found["finish"] == "tool_calls"
    else:
        (choice,) = answer.json["choices"]
        assert choice["message"]["reasoning_content"] == "The user asks."
        assert choice["message"]["content"] == "Let me see."
        assert choice["finish_reason"] == "tool_calls"


async def test_reasoning_that_stands_in_the_text_is_taken_out_again() -> None:
    with chained({"output": TURN}, reasoning_field="inline") as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER]})
    message = answer.json["choices"][0]["message"]
    assert message["reasoning_content"].strip() == "The user asks."
    assert message["content"].strip() == "Let me see."


@pytest.mark.parametrize("field", ["reasoning", "both"])
async def test_reasoning_under_every_name(field: str) -> None:
    with chained({"output": TURN}, reasoning_field=field) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER]})
    assert answer.json["choices"][0]["message"]["reasoning_content"] == "The user asks."


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_in_the_middle_stays_an_error(way: str) -> None:
    with chained({"output": "one two three", "after": 2, "error": "on fire"}, way=way) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "stream": True})
    assert "on fire" in answer.chunks[-1]["error"]["message"]
    assert answer.data[-1] != "[DONE]"


async def test_log_probabilities_may_be_asked_for() -> None:
    with chained({"output": "Hi"}) as front:
        script = front.engine
        answer = await ask(
            front, {"messages": [{"role": "user", "content": "Hi"}], "logprobs": True, "top_logprobs": 2}
        )
        assert answer.status == 200
        assert script.voices[0].talks


@pytest.mark.parametrize("way", WAYS)
async def test_usage_and_limits_pass_on(way: str) -> None:
    with chained({"output": "one two three four"}, way=way) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2})
    assert answer.json["choices"][0]["finish_reason"] == "length"
    assert answer.json["usage"]["completion_tokens"] == 2


async def test_a_stop_string_is_matched_here() -> None:
    with chained({"output": "one two STOP three"}) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "stop": "STOP"})
    (choice,) = answer.json["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("one two ", "stop")
