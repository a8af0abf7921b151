"""Ollama's Python client: chat, generate and what it asks about models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ollama
import pytest

from ..server.conftest import Running
from .offers import CHAT, LIMIT, SKY, Person, step, user
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, LOOKED, OSLO, PARIS, PERSON, STEPS, THOUGHT


@pytest.fixture
def client(server: Running) -> Iterator[ollama.Client]:
    made = ollama.Client(host=server.url)
    yield made
    made._client.close()


def turn(client: ollama.Client, given: Any, streamed: bool, **more: Any) -> Any:
    """A message and why it ended, whole or added up."""
    given = user(given) if isinstance(given, str) else given
    if not streamed:
        return client.chat("demo", given, **more)
    whole, *parts = list(client.chat("demo", given, stream=True, **more))
    for part in parts:
        whole.message.content += part.message.content or ""
        whole.message.thinking = (whole.message.thinking or "") + (part.message.thinking or "")
        whole.message.tool_calls = [*(whole.message.tool_calls or ()), *(part.message.tool_calls or ())]
        whole.done_reason = part.done_reason
    return whole


both_ways = pytest.mark.parametrize("streamed", [False, True])


@both_ways
def test_plain(client: ollama.Client, streamed: bool):
    answer = turn(client, "plain", streamed)
    assert (answer.message.content, answer.done_reason) == (GREETING, "stop")


@both_ways
def test_reasoning(client: ollama.Client, streamed: bool):
    message = turn(client, "think", streamed, think=True).message
    assert (message.thinking, message.content) == (THOUGHT, ANSWER)
    assert not turn(client, "think", streamed, think=False).message.thinking


@both_ways
def test_two_calls_and_their_results(client: ollama.Client, streamed: bool):
    message = turn(client, "weather", streamed, tools=CHAT).message
    assert message.content.strip() == LOOKED
    cities = [call.function.arguments["city"] for call in message.tool_calls]
    assert cities == [PARIS, OSLO]
    results = [{"role": "tool", "tool_name": "get_weather", "content": SKY[city]} for city in cities]
    final = turn(client, [*user("weather"), message, *results], streamed, tools=CHAT)
    assert (final.message.content, final.done_reason) == (FORECAST, "stop")


@both_ways
def test_cut_by_the_limit(client: ollama.Client, streamed: bool):
    answer = turn(client, "cut", streamed, options={"num_predict": LIMIT})
    assert answer.done_reason == "length"
    assert LONG.startswith(answer.message.content)


@both_ways
def test_a_cut_call_is_never_shown(client: ollama.Client, streamed: bool):
    answer = turn(client, "half", streamed, tools=CHAT, options={"num_predict": 100})
    assert answer.done_reason == "length"
    assert [dict(call.function.arguments) for call in answer.message.tool_calls] == [{"city": PARIS}]


@both_ways
def test_breaks_in_the_middle(client: ollama.Client, streamed: bool):
    with pytest.raises(ollama.ResponseError, match=FIRE):
        turn(client, "break", streamed)


def test_cancel(client: ollama.Client, server: Running):
    stream = client.chat("demo", user("stall"), stream=True)
    next(stream)
    assert server.engine.running == 1
    stream.close()
    # that the slot is free again is seen after every test


def test_a_schema(client: ollama.Client):
    answer = client.chat("demo", user("person"), format=Person.model_json_schema())
    assert Person.model_validate_json(answer.message.content) == Person.model_validate(PERSON)


def test_generate(client: ollama.Client):
    assert "".join(part.response for part in client.generate("demo", "plain", stream=True)) == GREETING


def test_a_long_loop(client: ollama.Client):
    said, turns = user("loop"), 0
    while (message := turn(client, said, bool(turns % 2), tools=CHAT).message).tool_calls:
        turns += 1
        assert message.tool_calls[0].function.arguments == {"number": turns}
        said += [message, {"role": "tool", "tool_name": "step", "content": step(turns)}]
    assert (turns, message.content) == (STEPS, f"All {STEPS} steps are done.")


def test_models(client: ollama.Client):
    (model,) = client.list().models
    assert {"completion", "tools"} <= set(client.show(model.model).capabilities)
    assert client.ps().models[0].model == model.model


async def test_async(server: Running):
    client = ollama.AsyncClient(host=server.url)
    parts = await client.chat("demo", user("plain"), stream=True)
    assert "".join([part.message.content async for part in parts]) == GREETING
    await client._client.aclose()
