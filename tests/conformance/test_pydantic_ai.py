"""Pydantic AI, over Chat Completions, Responses and Messages: its agents call the tools by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import openai
import pytest
from pydantic_ai import Agent, ModelHTTPError, NativeOutput, PromptedOutput
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from ..server.conftest import Running
from .offers import LIMIT, Person, get_weather, step
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, PERSON, STEPS, THOUGHT

Make = Callable[..., Agent[Any, Any]]


@pytest.fixture(params=["chat", "responses", "messages"])
def protocol(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def make(server: Running, protocol: str) -> AsyncIterator[Make]:
    """Makes agents whose model is ours."""
    async with (
        openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as one,
        anthropic.AsyncAnthropic(base_url=server.url, api_key="none", max_retries=0) as other,
    ):
        models = {
            "chat": lambda: OpenAIChatModel("demo", provider=OpenAIProvider(openai_client=one)),
            "responses": lambda: OpenAIResponsesModel("demo", provider=OpenAIProvider(openai_client=one)),
            "messages": lambda: AnthropicModel("demo", provider=AnthropicProvider(anthropic_client=other)),
        }
        yield lambda **settings: Agent(models[protocol](), **settings)


async def run(agent: Agent[Any, Any], given: str, live: bool, **more: Any) -> Any:
    if not live:
        return await agent.run(given, **more)
    async with agent.run_stream(given, **more) as stream:
        await stream.get_output()
        return stream


def text(result: Any) -> str:
    return result.response.text


both_ways = pytest.mark.parametrize("live", [False, True])


@both_ways
async def test_plain(make: Make, live: bool):
    assert text(await run(make(), "plain", live)) == GREETING


async def test_streamed(make: Make):
    async with make().run_stream("plain") as stream:
        told = [part async for part in stream.stream_text(delta=True, debounce_by=None)]
    assert "".join(told) == GREETING
    assert len(told) > 5


@both_ways
async def test_reasoning(make: Make, live: bool):
    result = await run(make(), "think", live)
    assert text(result) == ANSWER
    thoughts = [part for part in result.response.parts if isinstance(part, ThinkingPart)]
    told = [thought.content or "".join((thought.provider_details or {}).get("raw_content", ())) for thought in thoughts]
    assert told == [THOUGHT]


@both_ways
async def test_two_calls_and_their_results(make: Make, live: bool):
    agent = make(tools=[get_weather])
    result = await streamed(agent, "weather") if live else await agent.run("weather")
    assert result.output == FORECAST


async def streamed(agent: Agent[Any, Any], given: str) -> Any:
    """A streamed run to its end: `run_stream` ends with the first text, also where calls follow."""
    async with agent.iter(given) as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for _ in stream:
                        pass
    return run.result


@both_ways
async def test_cut_by_the_limit(make: Make, live: bool):
    result = await run(make(), "cut", live, model_settings=ModelSettings(max_tokens=LIMIT))
    assert result.response.finish_reason == "length"
    assert LONG.startswith(text(result))


@both_ways
async def test_breaks_in_the_middle(make: Make, live: bool):
    with pytest.raises((openai.APIError, anthropic.APIError, ModelHTTPError, AgentRunError), match=FIRE):
        await run(make(), "break", live)


async def test_cancel(make: Make, server: Running):
    async with make().run_stream("stall") as stream:
        async for _ in stream.stream_text(delta=True, debounce_by=None):
            break
    await server.idle()


@both_ways
async def test_a_typed_answer(make: Make, protocol: str, live: bool):
    kind = PromptedOutput if protocol == "messages" else NativeOutput  # it knows by name which models can do more
    agent = make(output_type=kind(Person))
    if live:
        async with agent.run_stream("person") as stream:
            assert await stream.get_output() == Person.model_validate(PERSON)
    else:
        assert (await agent.run("person")).output == Person.model_validate(PERSON)


async def test_a_long_loop(make: Make):
    limits = UsageLimits(request_limit=STEPS + 2)
    result = await make(tools=[step]).run("loop", usage_limits=limits)
    assert result.output == f"All {STEPS} steps are done."
