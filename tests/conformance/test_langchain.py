"""LangChain's ChatOpenAI, over Chat Completions and over Responses: what LangGraph and its agents stand on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from ..server.conftest import Running
from .offers import LIMIT, SKY, Person, get_weather, step
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, PARIS, PERSON, STEPS, THOUGHT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what a client imports is its own affair
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

_HTTP: dict[str, Any] = {}


@pytest.fixture(params=["chat", "responses"])
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def model(server: Running, protocol: str) -> ChatOpenAI:
    return make(server, protocol)


@pytest.fixture(autouse=True, scope="module")
def http() -> Iterator[None]:
    """One set of connections, closed at the end."""
    with openai.DefaultHttpxClient() as client:
        _HTTP["http_client"] = client
        yield


def make(server: Running, protocol: str, **settings: Any) -> ChatOpenAI:
    responses = protocol == "responses"
    reasoning = {"reasoning": {"summary": "auto"}} if responses else {}
    # Unless it is told, LangChain keeps connections across event loops, and asks other servers than OpenAI's for no usage.
    settings = {
        "max_retries": 0,
        "use_responses_api": responses,
        "stream_usage": True,
        **_HTTP,
        **reasoning,
        **settings,
    }
    return ChatOpenAI(model="demo", base_url=f"{server.url}/v1", api_key="none", **settings)


def streamed(model: Any, given: Any) -> AIMessage:
    first, *rest = list(model.stream(given))
    for chunk in rest:
        first += chunk
    return first


def turn(model: Any, given: Any, live: bool) -> AIMessage:
    return streamed(model, given) if live else model.invoke(given)


both_ways = pytest.mark.parametrize("live", [False, True])


@both_ways
def test_plain(model: ChatOpenAI, live: bool):
    answer = turn(model, "plain", live)
    assert answer.text == GREETING
    assert answer.usage_metadata["output_tokens"] > 0


@both_ways
def test_reasoning(model: ChatOpenAI, protocol: str, live: bool):
    answer = turn(model, "think", live)
    assert answer.text == ANSWER
    if protocol == "responses":  # over Chat it has no place for reasoning
        assert [block["reasoning"] for block in answer.content_blocks if block["type"] == "reasoning"] == [THOUGHT]


@both_ways
def test_two_calls_and_their_results(model: ChatOpenAI, live: bool):
    bound = model.bind_tools([get_weather])
    said: list[Any] = [HumanMessage("weather")]
    said.append(turn(bound, said, live))
    calls = said[-1].tool_calls
    assert len(calls) == 2
    said += [ToolMessage(SKY[call["args"]["city"]], tool_call_id=call["id"]) for call in calls[::-1]]
    assert turn(bound, said, live).text == FORECAST


@both_ways
def test_cut_by_the_limit(server: Running, protocol: str, live: bool):
    answer = turn(make(server, protocol, max_tokens=LIMIT), "cut", live)
    assert answer.text
    assert LONG.startswith(answer.text)
    facts = answer.response_metadata
    if protocol == "chat":
        assert facts["finish_reason"] == "length"
    else:
        assert facts["incomplete_details"]["reason"] == "max_output_tokens"


def test_a_cut_call_is_never_shown_as_whole(server: Running, protocol: str):
    """Live arguments are mended by LangChain itself: those who fear that ask for whole calls."""
    made = make(server, protocol, max_tokens=100, extra_body={"tool_arguments": "buffered"})
    answer = streamed(made.bind_tools([get_weather]), "half")
    assert [call["args"] for call in answer.tool_calls] == [{"city": PARIS}]


def test_breaks_in_the_middle(model: ChatOpenAI):
    with pytest.raises(openai.APIError, match=FIRE):
        model.invoke("break")
    told = ""
    with pytest.raises(openai.APIError, match=FIRE):
        for chunk in model.stream("break"):
            told += chunk.text
    assert told


def test_cancel(model: ChatOpenAI, server: Running):
    stream = model.stream("stall")
    while not next(stream).text:
        pass
    assert server.engine.running == 1
    stream.close()
    # that the slot is free again is seen after every test


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_a_structured_answer(model: ChatOpenAI, method: str):
    assert model.with_structured_output(Person, method=method).invoke("person") == Person.model_validate(PERSON)


def test_a_long_loop(model: ChatOpenAI):
    bound, said, turns = model.bind_tools([step]), [HumanMessage("loop")], 0
    while (answer := turn(bound, said, bool(turns % 2))).tool_calls:
        turns += 1
        (call,) = answer.tool_calls
        assert call["args"] == {"number": turns}
        said += [answer, ToolMessage(step(turns), tool_call_id=call["id"])]
    assert (turns, answer.text) == (STEPS, f"All {STEPS} steps are done.")


async def test_async(server: Running, protocol: str):
    async with openai.DefaultAsyncHttpxClient() as http:
        model = make(server, protocol, http_async_client=http)
        assert "".join([chunk.text async for chunk in model.astream("plain")]) == GREETING
