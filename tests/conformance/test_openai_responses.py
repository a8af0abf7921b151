"""OpenAI's Python client, Responses: plain, streamed, and its helpers; stateless as agents are, and with state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from ..server.conftest import Running
from .offers import LIMIT, RESPONSES, SKY, Person, step, user
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, PARIS, PATCH, PERSON, STEPS, THOUGHT

APPLY_PATCH: Any = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch" /(.|\\n)*/'},
}


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def ask(client: openai.OpenAI, given: Any, **more: Any) -> Any:
    return client.responses.create(model="demo", input=given, **more)


def helped(client: openai.OpenAI, given: Any, **more: Any) -> tuple[Any, list[Any]]:
    """The helper's sum of a stream, and what it told on the way."""
    with client.responses.stream(model="demo", input=given, **more) as stream:
        events = list(stream)
        return stream.get_final_response(), events


def turn(client: openai.OpenAI, given: Any, streamed: bool, **more: Any) -> Any:
    return helped(client, given, **more)[0] if streamed else ask(client, given, **more)


def results(response: Any) -> list[Any]:
    """The results of a response's calls, the last first."""
    return [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": SKY[json.loads(item.arguments)["city"]],
        }
        for item in reversed(response.output)
        if item.type == "function_call"
    ]


def test_plain(client: openai.OpenAI):
    answer = ask(client, "plain")
    assert (answer.output_text, answer.status) == (GREETING, "completed")
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def test_streamed(client: openai.OpenAI):
    events = list(ask(client, "plain", stream=True))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == GREETING
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.output_text == GREETING


def test_helper(client: openai.OpenAI):
    final, events = helped(client, "plain")
    assert final.output_text == GREETING
    assert [event.text for event in events if event.type == "response.output_text.done"] == [GREETING]


def test_reasoning(client: openai.OpenAI):
    for final in (ask(client, "think"), helped(client, "think")[0]):
        thought, message = final.output
        assert thought.content[0].text == THOUGHT
        assert message.content[0].text == ANSWER
    final, events = helped(client, "think", reasoning={"summary": "auto"})
    assert final.output[0].summary[0].text == THOUGHT
    told = [event.delta for event in events if event.type == "response.reasoning_summary_text.delta"]
    assert "".join(told) == THOUGHT


@pytest.mark.parametrize("streamed", [False, True])
def test_two_calls_and_their_results(client: openai.OpenAI, streamed: bool):
    settings: Any = {"tools": RESPONSES, "store": False, "include": ["reasoning.encrypted_content"]}
    first = turn(client, user("weather"), streamed, **settings)
    assert [item.type for item in first.output] == ["reasoning", "message", "function_call", "function_call"]
    replayed = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in first.output]
    final = turn(client, [*user("weather"), *replayed, *results(first)], streamed, **settings)
    assert (final.output_text, final.status) == (FORECAST, "completed")


@pytest.mark.parametrize("streamed", [False, True])
def test_results_to_a_response_that_is_kept(client: openai.OpenAI, streamed: bool):
    first = turn(client, "weather", streamed, tools=RESPONSES)
    final = turn(client, results(first), streamed, tools=RESPONSES, previous_response_id=first.id)
    assert final.output_text == FORECAST
    assert client.responses.retrieve(final.id).output_text == FORECAST
    client.responses.delete(final.id)


def test_cut_by_the_limit(client: openai.OpenAI):
    answer = ask(client, "cut", max_output_tokens=LIMIT)
    assert (answer.status, answer.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    assert LONG.startswith(answer.output_text)
    *_, last = ask(client, "cut", max_output_tokens=LIMIT, stream=True)
    assert (last.type, last.response.output_text) == ("response.incomplete", answer.output_text)


def test_a_cut_call_is_never_shown_as_whole(client: openai.OpenAI):
    answer = ask(client, "half", tools=RESPONSES, max_output_tokens=100)
    calls = [(item.status, item.arguments) for item in answer.output if item.type == "function_call"]
    assert ("completed", f'{{"city": "{PARIS}"}}') in calls
    assert all(status == "incomplete" for status, _ in calls[1:])


def test_breaks_in_the_middle(client: openai.OpenAI):
    told, last = "", None
    with pytest.raises(openai.APIError, match=FIRE):
        for last in ask(client, "break", stream=True):
            told += last.delta if last.type == "response.output_text.delta" else ""
    assert told
    assert LONG.startswith(told)
    with pytest.raises(openai.InternalServerError, match=FIRE):
        ask(client, "break")


def test_cancel(client: openai.OpenAI, server: Running):
    with ask(client, "stall", stream=True) as stream:
        next(iter(stream))
        while not server.engine.running:
            next(iter(stream))
    # that the slot is free again is seen after every test


def test_cancel_in_the_background(client: openai.OpenAI):
    for _ in range(20):  # at once: some are cancelled before they began
        began = ask(client, "stall", background=True)
        assert client.responses.cancel(began.id).status == "cancelled"


def test_parse(client: openai.OpenAI):
    answer = client.responses.parse(model="demo", input="person", text_format=Person)
    assert answer.output_parsed == Person.model_validate(PERSON)
    final, _ = helped(client, "person", text_format=Person)
    assert final.output_parsed == Person.model_validate(PERSON)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_tool_of_free_text(client: openai.OpenAI, streamed: bool):
    first = turn(client, user("patch"), streamed, tools=[APPLY_PATCH])
    (item,) = first.output
    assert (item.type, item.name, item.input) == ("custom_tool_call", "apply_patch", PATCH)
    result = {"type": "custom_tool_call_output", "call_id": item.call_id, "output": "Success."}
    replayed = item.model_dump(exclude_none=True)
    assert turn(client, [*user("patch"), replayed, result], streamed, tools=[APPLY_PATCH]).output_text == "It is done."


def test_a_long_loop(client: openai.OpenAI):
    given, turns = user("loop"), 0
    while (item := (answer := turn(client, given, bool(turns % 2), tools=RESPONSES, store=False)).output[-1]).type == (
        "function_call"
    ):
        turns += 1
        assert item.arguments == f'{{"number": {turns}}}'
        given += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        given.append({"type": "function_call_output", "call_id": item.call_id, "output": step(turns)})
    assert (turns, answer.output_text) == (STEPS, f"All {STEPS} steps are done.")


async def test_async(server: Running):
    async with openai.AsyncOpenAI(base_url=server.url, api_key="none") as client:
        async with client.responses.stream(model="demo", input="weather", tools=RESPONSES) as stream:
            final = await stream.get_final_response()
        assert len(results(final)) == 2
