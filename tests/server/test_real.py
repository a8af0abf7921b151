"""The main job with nothing made up: a real model, our decoder, the official client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
import jsonschema
import openai
import pytest

from dragoman import api
from dragoman.engines.base import ModelInfo
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find

from .conftest import PATH, Running, ask, check, joined, running

pytestmark = pytest.mark.engine

DIALECTS = ["hermes-json", "qwen3-coder-xml", "harmony", "gemma4", "kimi-k2", "pythonic-list"]
CITIES = ["Paris", "Oslo", "Rome", "Lima"]
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": CITIES},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
        "note": {"type": "string", "maxLength": 12},
        "metric": {"type": "boolean"},
    },
    "required": ["city", "days", "note", "metric"],
    "additionalProperties": False,
}
WEATHER: Any = {
    "type": "function",
    "function": {"name": "get_weather", "description": "A forecast.", "parameters": SCHEMA},
}
CLOCK: Any = {
    "type": "function",
    "function": {
        "name": "get_time",
        "parameters": {
            "type": "object",
            "properties": {"zone": {"type": "string", "enum": ["UTC", "CET"]}},
            "required": ["zone"],
            "additionalProperties": False,
        },
    },
}
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in (WEATHER, CLOCK)}
ASKED: Any = [{"role": "user", "content": "What is the weather in Paris for the next 3 days?"}]
HELLO: Any = [{"role": "user", "content": "Say hello."}]
SETTINGS: Any = {"temperature": 0, "seed": 1}
CTX = 1024


class Voices:
    """One engine, whose model is served once in each dialect: a model's name is its dialect."""

    name = "embedded"

    def __init__(self, engine: Embedded) -> None:
        self.engine = engine

    async def start(self) -> None:
        await self.engine.start()

    async def stop(self) -> None:
        await self.engine.stop()

    async def models(self) -> Sequence[ModelInfo]:
        (info,) = await self.engine.models()
        return [replace(info, name=name, dialect=name) for name in DIALECTS]

    async def count(self, prompt: Any) -> int | None:
        return await self.engine.count(prompt)

    def stream(self, prompt: Any, options: Any, request: Any = None) -> AsyncIterator[Any]:
        return self.engine.stream(prompt, options, request)


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    engine = Embedded(find("smollm2"), slots=2, context=CTX, threads=1, pauses=(0.1,))
    with running(Voices(engine), first_token=300.0, stall=300.0) as found:
        assert found.service.roster.ready, found.service.roster.failure
        yield found


@pytest.fixture
def client(server: Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=300)


def slots(server: Running) -> Any:
    return server.engine.engine.slots()


async def free(server: Running) -> None:
    """Wait until no slot works."""
    while any(await slots(server)):
        await asyncio.sleep(0.02)


async def at_work(server: Running) -> None:
    while not any(await slots(server)):
        await asyncio.sleep(0.01)


def assert_valid(name: str, arguments: str) -> None:
    jsonschema.validate(json.loads(arguments), SCHEMAS[name])


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == DIALECTS
    assert client.models.retrieve("harmony").model_extra["context_window"] == CTX  # type: ignore[index]


def test_plain_chat(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="hermes-json", messages=HELLO, max_tokens=12, **SETTINGS)
    (choice,) = answer.choices
    assert choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 5
    assert 0 < answer.usage.completion_tokens <= 12


def test_plain_chat_streamed(client: openai.OpenAI) -> None:
    usage: Any = {"include_usage": True}
    chunks = [
        *client.chat.completions.create(
            model="hermes-json", messages=HELLO, max_tokens=12, stream=True, stream_options=usage, **SETTINGS
        )
    ]
    choices = [choice for chunk in chunks for choice in chunk.choices]
    pieces = [choice.delta.content for choice in choices if choice.delta.content]
    assert len(pieces) > 1
    assert [choice.finish_reason for choice in choices if choice.finish_reason] in (["stop"], ["length"])
    assert chunks[-1].usage is not None
    assert 0 < chunks[-1].usage.completion_tokens <= 12


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_forced_call(client: openai.OpenAI, dialect: str) -> None:
    answer = client.chat.completions.create(
        model=dialect, messages=ASKED, tools=[WEATHER, CLOCK], tool_choice="required", max_tokens=200,
        parallel_tool_calls=False, **SETTINGS,
    )  # fmt: skip
    (choice,) = answer.choices
    if choice.finish_reason == "length":
        return
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls
    (call,) = choice.message.tool_calls
    assert_valid(call.function.name, call.function.arguments)  # type: ignore[union-attr]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_named_call_streamed(client: openai.OpenAI, dialect: str) -> None:
    named: Any = {"type": "function", "function": {"name": "get_weather"}}
    with client.chat.completions.stream(
        model=dialect, messages=ASKED, tools=[WEATHER, CLOCK], tool_choice=named, max_tokens=200,
        parallel_tool_calls=False, reasoning_effort="none", **SETTINGS,
    ) as stream:  # fmt: skip
        try:
            kinds = [event.type for event in stream]
        except openai.LengthFinishReasonError:
            return
        (choice,) = stream.get_final_completion().choices
    assert choice.finish_reason == "tool_calls"
    assert kinds.count("tool_calls.function.arguments.delta") > 1  # they came as they were written
    (call,) = choice.message.tool_calls or ()
    assert call.function.name == "get_weather"
    assert_valid(call.function.name, call.function.arguments)


TWO = r"""
root ::= call "\n" call
call ::= "<tool_call>\n{\"name\": \"get_time\", \"arguments\": {\"zone\": \"" ("UTC" | "CET") "\"}}\n</tool_call>"
"""


@pytest.mark.parametrize("stream", [False, True])
async def test_two_calls_in_one_turn(server: Running, stream: bool) -> None:
    body = {"model": "hermes-json", "messages": ASKED, "tools": [CLOCK], "grammar": TWO, "stream": stream, **SETTINGS}
    answer = await ask(server, body)
    if stream:
        added = joined(answer.chunks)
        calls, finish = [*added["calls"].values()], added["finish"]
    else:
        (choice,) = answer.json["choices"]
        calls, finish = [call["function"] for call in choice["message"]["tool_calls"]], choice["finish_reason"]
    assert finish == "tool_calls"
    assert len(calls) == 2
    for call in calls:
        assert_valid(call["name"], call["arguments"])


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_call_cut_by_the_limit(server: Running, dialect: str) -> None:
    forced = {"tools": [WEATHER], "tool_choice": "required", "reasoning_effort": "none", "parallel_tool_calls": False}
    body = {"model": dialect, "messages": ASKED, **forced, **SETTINGS}
    for limit in range(16, 300, 8):
        cut = joined((await ask(server, {**body, "max_tokens": limit, "stream": True})).chunks)
        if cut["calls"] and cut["calls"][0]["arguments"]:
            break
    assert cut["finish"] == "length"
    assert cut["calls"][0]["name"] == "get_weather"
    with pytest.raises(ValueError):
        json.loads(cut["calls"][0]["arguments"])
    whole = (await ask(server, {**body, "max_tokens": limit})).json["choices"][0]
    assert whole["finish_reason"] == "length"
    assert "tool_calls" not in whole["message"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_by_a_schema(client: openai.OpenAI, dialect: str) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": SCHEMA, "strict": True}}
    answer = client.chat.completions.create(
        model=dialect, messages=ASKED, response_format=form, max_tokens=200, reasoning_effort="none", **SETTINGS
    )
    (choice,) = answer.choices
    if choice.finish_reason == "stop":
        assert_valid("get_weather", choice.message.content or "")


@pytest.mark.parametrize("dialect", ["hermes-json", "gemma4"])
async def test_a_strict_tool_is_held_to_its_schema_where_the_model_may_choose(server: Running, dialect: str) -> None:
    """What it writes is text, or a call that satisfies the schema."""
    strict = {"type": "function", "function": {**WEATHER["function"], "strict": True}}
    body = {
        "model": dialect,
        "messages": ASKED,
        "tools": [strict],
        "max_tokens": 60,
        "reasoning_effort": "none",
        **SETTINGS,
    }
    (choice,) = (await ask(server, body)).json["choices"]
    for call in choice["message"].get("tool_calls") or ():
        assert_valid(call["function"]["name"], call["function"]["arguments"])
    assert choice["finish_reason"] in ("stop", "length", "tool_calls")


async def test_two_choices(server: Running) -> None:
    body = {"model": "hermes-json", "messages": HELLO, "n": 2, "max_tokens": 8, "temperature": 1.0, "seed": 3}
    answer = await ask(server, body)
    assert len(answer.json["choices"]) == 2
    streamed = await ask(server, {**body, "stream": True})
    assert all(joined(streamed.chunks, index)["content"] for index in (0, 1))


async def test_a_stop_string(server: Running) -> None:
    grammar = 'root ::= "one two three STOP four five six"'
    body = {"model": "hermes-json", "messages": HELLO, "grammar": grammar, "stop": ["STOP"], **SETTINGS}
    answer = await ask(server, body)
    assert answer.json["choices"][0]["message"]["content"] == "one two three "
    assert answer.json["usage"]["prompt_tokens"] > 5
    await free(server)


# --- clients that leave, engines that die


LONG_PROMPT: Any = [{"role": "user", "content": "word " * (CTX - 200)}]
FLOWS = {"messages": HELLO, "max_tokens": 900, "ignore_eos": True}
EVALUATES = {"messages": LONG_PROMPT, "max_tokens": 5}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("asked", [FLOWS, EVALUATES], ids=["tokens flow", "prompt is evaluated"])
async def test_a_client_that_leaves_frees_the_slot(server: Running, asked: Any, stream: bool) -> None:
    body = {"model": "hermes-json", "stream": stream, "cache_prompt": False, **asked}

    async def use() -> None:
        async with aiohttp.ClientSession() as session, session.post(server.url + PATH, json=body) as response:
            await response.read()

    task = asyncio.create_task(use())
    await at_work(server)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await free(server)
    while server.service.open:
        await asyncio.sleep(0.01)


async def test_a_client_that_leaves_the_queue(server: Running) -> None:
    body = {"model": "hermes-json", **FLOWS}
    async with aiohttp.ClientSession() as session:
        tasks = [asyncio.create_task(session.post(server.url + PATH, json=body)) for _ in range(4)]
        while len(server.service.open) < 4 or not all(await slots(server)):
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await free(server)
    answer = await ask(server, {"model": "hermes-json", "messages": HELLO, "max_tokens": 2})
    assert answer.status == 200


@pytest.mark.parametrize("stream", [False, True])
async def test_an_engine_that_is_killed(server: Running, stream: bool) -> None:
    body = {"model": "hermes-json", "stream": stream, **FLOWS}
    task = asyncio.create_task(ask(server, body))
    await at_work(server)
    os.kill(server.engine.engine.child.process.pid, signal.SIGKILL)
    answer = await task
    if answer.status == 200:
        assert answer.chunks[-1]["error"]["code"] == "engine_broken"
        assert "[DONE]" not in answer.data
    else:
        assert (answer.status, answer.json["error"]["code"]) == (502, "engine_broken")
    for attempt in range(1000):
        again = await ask(server, {"model": "hermes-json", "messages": HELLO, "max_tokens": 2})
        if again.status == 200:
            break
        assert again.status in (502, 503), attempt
        await asyncio.sleep(0.1)
    assert again.status == 200


@pytest.mark.parametrize("stream", [False, True])
def test_context_overflow(client: openai.OpenAI, stream: bool) -> None:
    long: Any = [{"role": "user", "content": "word " * 2000}]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="hermes-json", messages=long, stream=stream)
    assert caught.value.code == "context_length_exceeded"
    assert caught.value.param == "messages"
    assert str(CTX) in caught.value.message
    assert "20" in caught.value.message  # the prompt's own size: 2,000 words and a few marks


async def test_tools_that_nothing_fits_are_refused(server: Running) -> None:
    tool = {
        "type": "function",
        "function": {"name": "never", "parameters": {"type": "object", "properties": {"a": False}, "required": ["a"]}},
    }
    answer = await ask(server, {"model": "hermes-json", "messages": HELLO, "tools": [tool], "tool_choice": "required"})
    assert (answer.status, answer.json["error"]["param"]) == (400, "tools")
    check(answer, {})


def test_every_dialect_is_known() -> None:
    assert set(DIALECTS) <= set(api.names())


@pytest.mark.parametrize("dialect", ["hermes-json", "harmony"])
def test_r09_responses_with_a_forced_call(client: openai.OpenAI, dialect: str) -> None:
    tool: Any = {"type": "function", **WEATHER["function"]}
    with client.responses.stream(
        model=dialect,
        input="What is the weather in Paris for the next 3 days?",
        tools=[tool],
        tool_choice="required",
        reasoning={"summary": "auto"},
        max_output_tokens=150,
        parallel_tool_calls=False,
        temperature=0,
    ) as stream:
        kinds = [event.type for event in stream]
        done = stream.get_final_response()
    assert kinds[0] == "response.created"
    (call,) = [item for item in done.output if item.type == "function_call"]
    assert_valid(call.name, call.arguments)
    assert done.usage is not None
    assert done.usage.output_tokens > 0
    following = client.responses.create(
        model=dialect,
        previous_response_id=done.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny, 21 degrees"}],
        tools=[tool],
        max_output_tokens=8,
        temperature=0,
    )
    assert following.previous_response_id == done.id
    assert following.usage is not None
    assert following.usage.input_tokens > done.usage.input_tokens
    with client.responses.retrieve(following.id, stream=True) as replay:
        assert [event.type for event in replay][-1] in ("response.completed", "response.incomplete")
