"""OpenAI's Python client, Chat Completions: plain, streamed, and its helpers that add the stream up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from ..server.conftest import Running
from .offers import CHAT, LIMIT, SKY, Person, step, user
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, LOOKED, PARIS, PERSON, STEPS, THOUGHT


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def ask(client: openai.OpenAI, words: str, **more: Any) -> Any:
    return client.chat.completions.create(model="demo", messages=user(words), **more)


def helped(client: openai.OpenAI, messages: list[Any], **more: Any) -> Any:
    """The helper's sum of a stream, and what it told on the way."""
    with client.chat.completions.stream(model="demo", messages=messages, **more) as stream:
        events = list(stream)
        return stream.get_final_completion(), events


def test_plain(client: openai.OpenAI):
    answer = ask(client, "plain")
    assert answer.choices[0].message.content == GREETING
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_streamed(client: openai.OpenAI):
    chunks = list(ask(client, "plain", stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == GREETING
    assert len(chunks) > 10
    assert chunks[-1].usage.completion_tokens > 0


def test_helper(client: openai.OpenAI):
    final, events = helped(client, user("plain"))
    assert final.choices[0].message.content == GREETING
    assert [event.content for event in events if event.type == "content.done"] == [GREETING]


def test_reasoning(client: openai.OpenAI):
    message = ask(client, "think").choices[0].message
    assert (message.reasoning_content, message.content) == (THOUGHT, ANSWER)
    chunks = list(ask(client, "think", stream=True))
    thought = "".join(getattr(chunk.choices[0].delta, "reasoning_content", "") for chunk in chunks)
    assert thought == THOUGHT


@pytest.mark.parametrize("streamed", [False, True])
def test_two_calls_and_their_results(client: openai.OpenAI, streamed: bool):
    messages = user("weather")
    message = turn(client, messages, streamed).choices[0].message
    assert message.content.strip() == LOOKED
    calls = [call.function for call in message.tool_calls]
    assert [call.name for call in calls] == ["get_weather"] * 2
    messages.append(message.model_dump(exclude_none=True))
    for call in reversed(message.tool_calls):  # clients send results in the order of their end
        city = json.loads(call.function.arguments)["city"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": SKY[city]})
    final = turn(client, messages, streamed)
    assert (final.choices[0].message.content, final.choices[0].finish_reason) == (FORECAST, "stop")


def turn(client: openai.OpenAI, messages: list[Any], streamed: bool) -> Any:
    if streamed:
        return helped(client, messages, tools=CHAT)[0]
    return client.chat.completions.create(model="demo", messages=messages, tools=CHAT)


def test_a_call_without_arguments(client: openai.OpenAI):
    final, events = helped(client, user("nothing"), tools=CHAT)
    assert final.choices[0].message.tool_calls[0].function.arguments == "{}"
    assert any(event.type == "tool_calls.function.arguments.done" for event in events)


def test_cut_by_the_limit(client: openai.OpenAI):
    choice = ask(client, "cut", max_tokens=LIMIT).choices[0]
    assert choice.finish_reason == "length"
    assert LONG.startswith(choice.message.content)
    with pytest.raises(openai.LengthFinishReasonError):
        helped(client, user("cut"), max_tokens=LIMIT)


def test_a_cut_call_is_never_shown_as_whole(client: openai.OpenAI):
    choice = ask(client, "half", tools=CHAT, max_tokens=100).choices[0]
    assert choice.finish_reason == "length"
    assert [call.function.arguments for call in choice.message.tool_calls] == [f'{{"city": "{PARIS}"}}']
    assert list(ask(client, "half", tools=CHAT, max_tokens=100, stream=True))[-1].choices[0].finish_reason == "length"


def test_breaks_in_the_middle(client: openai.OpenAI):
    told = ""
    with pytest.raises(openai.APIError, match=FIRE):
        for chunk in ask(client, "break", stream=True):
            told += chunk.choices[0].delta.content or ""
    assert told
    assert LONG.startswith(told)
    with pytest.raises(openai.InternalServerError, match=FIRE):
        ask(client, "break")


def test_cancel(client: openai.OpenAI, server: Running):
    with ask(client, "stall", stream=True) as stream:
        next(iter(stream))
        assert server.engine.running == 1
    # that the slot is free again is seen after every test


def test_time_out_frees_the_slot(client: openai.OpenAI):
    with pytest.raises(openai.APITimeoutError):
        ask(client, "stall", timeout=0.5)


def test_parse(client: openai.OpenAI):
    answer = client.chat.completions.parse(model="demo", messages=user("person"), response_format=Person)
    assert answer.choices[0].message.parsed == Person.model_validate(PERSON)
    final, _ = helped(client, user("person"), response_format=Person)
    assert final.choices[0].message.parsed == Person.model_validate(PERSON)


def test_a_long_loop(client: openai.OpenAI):
    messages, turns = user("loop"), 0
    while (message := turn(client, messages, streamed=bool(turns % 2)).choices[0].message).tool_calls:
        (call,) = message.tool_calls
        turns += 1
        assert call.function.arguments == f'{{"number": {turns}}}'
        messages.append(message.model_dump(exclude_none=True))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": step(turns)})
    assert (turns, message.content) == (STEPS, f"All {STEPS} steps are done.")


def test_models(client: openai.OpenAI):
    (model,) = client.models.list().data
    assert client.models.retrieve(model.id).id == "demo"


async def test_async(server: Running):
    async with openai.AsyncOpenAI(base_url=server.url, api_key="none") as client:  # also without /v1
        async with client.chat.completions.stream(model="demo", messages=user("weather"), tools=CHAT) as stream:
            final = await stream.get_final_completion()
        assert len(final.choices[0].message.tool_calls) == 2
