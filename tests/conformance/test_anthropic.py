"""Anthropic's Python client: plain, streamed, its helper that adds the stream up, and its loop that runs tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from ..server.conftest import Running
from .offers import LIMIT, MESSAGES, SKY, Person, get_weather, step, user
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, LOOKED, OSLO, PARIS, PERSON, STEPS, THOUGHT


@pytest.fixture
def client(server: Running) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as made:
        yield made


def ask(client: anthropic.Anthropic, given: Any, **more: Any) -> Any:
    given = user(given) if isinstance(given, str) else given
    return client.messages.create(**{"model": "demo", "messages": given, "max_tokens": 4096, **more})


def helped(client: anthropic.Anthropic, given: Any, **more: Any) -> tuple[Any, list[Any]]:
    """The helper's sum of a stream, and what it told on the way."""
    given = user(given) if isinstance(given, str) else given
    with client.messages.stream(**{"model": "demo", "messages": given, "max_tokens": 4096, **more}) as stream:
        events = list(stream)
        return stream.get_final_message(), events


def turn(client: anthropic.Anthropic, given: Any, streamed: bool, **more: Any) -> Any:
    return helped(client, given, **more)[0] if streamed else ask(client, given, **more)


def test_plain(client: anthropic.Anthropic):
    answer = ask(client, "plain")
    assert (answer.content[0].text, answer.stop_reason) == (GREETING, "end_turn")
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


def test_streamed(client: anthropic.Anthropic):
    events = list(ask(client, "plain", stream=True))
    assert "".join(event.delta.text for event in events if event.type == "content_block_delta") == GREETING
    assert events[0].message.usage.input_tokens > 0
    assert [event.type for event in events[-2:]] == ["message_delta", "message_stop"]


def test_helper(client: anthropic.Anthropic):
    final, events = helped(client, "plain")
    assert (final.content[0].text, final.stop_reason) == (GREETING, "end_turn")
    assert "".join(event.text for event in events if event.type == "text") == GREETING


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("thinking", [None, {"type": "enabled", "budget_tokens": 1024}, {"type": "adaptive"}])
def test_reasoning(client: anthropic.Anthropic, streamed: bool, thinking: Any):
    more = {"thinking": thinking} if thinking else {}
    final = turn(client, "think", streamed, **more)
    thought, text = final.content
    assert (thought.thinking, text.text) == (THOUGHT, ANSWER)
    assert thought.signature


@pytest.mark.parametrize("streamed", [False, True])
def test_two_calls_and_their_results(client: anthropic.Anthropic, streamed: bool):
    first = turn(client, "weather", streamed, tools=MESSAGES)
    thought, text, *calls = first.content
    assert (thought.thinking, text.text.strip(), first.stop_reason) == (THOUGHT, LOOKED, "tool_use")
    assert [call.input for call in calls] == [{"city": PARIS}, {"city": OSLO}]
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": SKY[call.input["city"]]} for call in calls[::-1]
    ]
    said = [*user("weather"), {"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    final = turn(client, said, streamed, tools=MESSAGES)
    assert (final.content[-1].text, final.stop_reason) == (FORECAST, "end_turn")


def test_a_call_without_arguments(client: anthropic.Anthropic):
    final, _ = helped(client, "nothing", tools=MESSAGES)
    assert final.content[0].input == {}


@pytest.mark.parametrize("streamed", [False, True])
def test_cut_by_the_limit(client: anthropic.Anthropic, streamed: bool):
    final = turn(client, "cut", streamed, max_tokens=LIMIT)
    assert final.stop_reason == "max_tokens"
    assert LONG.startswith(final.content[0].text)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_cut_call_is_never_shown_as_whole(client: anthropic.Anthropic, streamed: bool):
    final = turn(client, "half", streamed, tools=MESSAGES, max_tokens=100)
    assert final.stop_reason == "max_tokens"
    assert final.content[0].input == {"city": PARIS}


def test_breaks_in_the_middle(client: anthropic.Anthropic):
    told = ""
    with pytest.raises(anthropic.APIStatusError, match=FIRE):
        for event in ask(client, "break", stream=True):
            told += event.delta.text if event.type == "content_block_delta" else ""
    assert told
    assert LONG.startswith(told)
    with pytest.raises(anthropic.InternalServerError, match=FIRE):
        ask(client, "break")


def test_cancel(client: anthropic.Anthropic, server: Running):
    with client.messages.stream(model="demo", messages=user("stall"), max_tokens=4096) as stream:
        next(stream.text_stream)
        assert server.engine.running == 1
    # that the slot is free again is seen after every test


def test_time_out_frees_the_slot(client: anthropic.Anthropic):
    with pytest.raises(anthropic.APITimeoutError):
        ask(client, "stall", timeout=0.5)


def test_parse(client: anthropic.Anthropic):
    answer = client.messages.parse(model="demo", messages=user("person"), max_tokens=4096, output_format=Person)
    assert answer.parsed_output == Person.model_validate(PERSON)


def test_count_tokens(client: anthropic.Anthropic):
    bare = client.messages.count_tokens(model="demo", messages=user("plain")).input_tokens
    full = client.messages.count_tokens(model="demo", messages=user("plain"), tools=MESSAGES, system="Be brief.")
    assert 0 < bare < full.input_tokens


def test_models(client: anthropic.Anthropic):
    (model,) = client.models.list().data
    assert client.models.retrieve(model.id).display_name == "demo"


def test_the_loop_that_runs_tools(client: anthropic.Anthropic):
    tools = [anthropic.beta_tool(get_weather)]
    runner = client.beta.messages.tool_runner(model="demo", messages=user("weather"), max_tokens=4096, tools=tools)
    *_, last = runner
    assert last.content[-1].text == FORECAST


def test_a_long_loop(client: anthropic.Anthropic):
    said, turns = user("loop"), 0
    while (answer := turn(client, said, bool(turns % 2), tools=MESSAGES)).stop_reason == "tool_use":
        turns += 1
        call = answer.content[-1]
        assert call.input == {"number": turns}
        result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": step(turns)}]}
        said += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    assert (turns, answer.content[-1].text) == (STEPS, f"All {STEPS} steps are done.")


async def test_async(server: Running):
    async with (
        anthropic.AsyncAnthropic(base_url=server.url, auth_token="none") as client,
        client.messages.stream(model="demo", messages=user("weather"), tools=MESSAGES, max_tokens=4096) as stream,
    ):
        final = await stream.get_final_message()
    assert len(final.content) == 4
