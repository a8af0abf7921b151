"""The OpenAI Agents SDK, over Chat Completions and over Responses: its runner calls the tools by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import agents
import openai
import pytest
from openai.types.shared import Reasoning

from ..server.conftest import Running
from .offers import LIMIT, Person, get_weather, step
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, PERSON, STEPS, THOUGHT

Make = Callable[..., agents.Agent[Any]]


@pytest.fixture(params=["chat", "responses"])
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def make(server: Running, protocol: str) -> AsyncIterator[Make]:
    """Makes agents whose model is ours."""
    kind = agents.OpenAIChatCompletionsModel if protocol == "chat" else agents.OpenAIResponsesModel
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        model = kind("demo", client)

        def made(**settings: Any) -> agents.Agent[Any]:
            settings = {"model_settings": agents.ModelSettings(store=False), **settings}
            return agents.Agent("Tester", model=model, instructions="Be brief.", **settings)

        yield made


async def run(agent: agents.Agent[Any], given: str, live: bool) -> Any:
    """A run to its end, and what it told on the way."""
    if not live:
        return await agents.Runner.run(agent, given, max_turns=STEPS + 2)
    running = agents.Runner.run_streamed(agent, given, max_turns=STEPS + 2)
    async for _ in running.stream_events():
        pass
    return running


both_ways = pytest.mark.parametrize("live", [False, True])


@both_ways
async def test_plain(make: Make, live: bool):
    assert (await run(make(), "plain", live)).final_output == GREETING


async def test_streamed(make: Make):
    running = agents.Runner.run_streamed(make(), "plain")
    told = [
        event.data.delta
        async for event in running.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert "".join(told) == GREETING
    assert len(told) > 5


@both_ways
async def test_reasoning(make: Make, live: bool):
    settings = agents.ModelSettings(store=False, reasoning=Reasoning(summary="auto"))
    result = await run(make(model_settings=settings), "think", live)
    assert result.final_output == ANSWER
    (thought,) = [item.raw_item for item in result.new_items if item.type == "reasoning_item"]
    assert THOUGHT in [part.text for part in (*thought.summary, *(thought.content or ()))]


@both_ways
async def test_two_calls_and_their_results(make: Make, live: bool):
    result = await run(make(tools=[agents.function_tool(get_weather)]), "weather", live)
    assert result.final_output == FORECAST
    assert len([item for item in result.new_items if item.type == "tool_call_output_item"]) == 2


@both_ways
async def test_cut_by_the_limit(make: Make, protocol: str, live: bool):
    agent = make(model_settings=agents.ModelSettings(store=False, max_tokens=LIMIT))
    if protocol == "responses":  # here it takes no answer that was cut
        with pytest.raises(agents.exceptions.ModelBehaviorError, match="incomplete"):
            await run(agent, "cut", live)
        return
    told = (await run(agent, "cut", live)).final_output
    assert told
    assert LONG.startswith(told)


@both_ways
async def test_breaks_in_the_middle(make: Make, live: bool):
    with pytest.raises((openai.APIError, agents.exceptions.AgentsException), match=FIRE):
        await run(make(), "break", live)


async def test_cancel(make: Make, server: Running):
    running = agents.Runner.run_streamed(make(), "stall")
    async for event in running.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            running.cancel()
    await server.idle()


@both_ways
async def test_a_typed_answer(make: Make, live: bool):
    assert (await run(make(output_type=Person), "person", live)).final_output == Person.model_validate(PERSON)


@both_ways
async def test_a_long_loop(make: Make, live: bool):
    result = await run(make(tools=[agents.function_tool(step)]), "loop", live)
    assert result.final_output == f"All {STEPS} steps are done."
    assert len(result.raw_responses) == STEPS + 1
