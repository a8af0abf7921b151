"""Every client, one turn each with nothing made up: a small real model and its own words."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any, Literal

import agents
import anthropic
import instructor
import litellm
import ollama
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find

from ..server.conftest import Running, running
from .offers import user
from .test_node import CLIENTS, FOLDER, NODE

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore:.* on TypedDict class .* `ReadOnly`:UserWarning"),  # of LiteLLM's own types
]

HELLO = "Say hello."
FEW = 12


class Weather(BaseModel):
    """A small answer: the model is small too."""

    city: Literal["Paris", "Oslo"]
    days: Literal[1, 2, 3]


@pytest.fixture(scope="module")
def real() -> Iterator[Running]:
    engine = Embedded(find("smollm2"), slots=1, context=2048, threads=1)
    with running(engine, first_token=300.0, stall=300.0) as found:
        assert found.service.roster.ready, found.service.roster.failure
        yield found


@pytest.fixture
def client(real: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{real.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
async def client_async(real: Running) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{real.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_openai(client: openai.OpenAI):
    chunks = client.chat.completions.create(model="any", messages=user(HELLO), max_tokens=FEW, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    events = list(client.responses.create(model="any", input=HELLO, max_output_tokens=FEW, stream=True))
    assert events[-1].response.output_text
    parsed = client.chat.completions.parse(model="any", messages=user("Paris, 2 days"), response_format=Weather)
    assert parsed.choices[0].message.parsed


def test_anthropic(real: Running):
    tool: Any = {"name": "get_weather", "input_schema": Weather.model_json_schema()}
    with anthropic.Anthropic(base_url=real.url, api_key="none", max_retries=0) as client:
        asked: Any = {"model": "any", "messages": user("The weather in Paris for 2 days?"), "max_tokens": 200}
        with client.messages.stream(**asked, tools=[tool], tool_choice={"type": "any"}) as stream:
            final = stream.get_final_message()
    assert final.stop_reason == "tool_use"
    assert Weather.model_validate(final.content[-1].input)


def test_ollama(real: Running):
    client = ollama.Client(host=real.url)
    parts = list(client.chat("any", user(HELLO), stream=True, options={"num_predict": FEW}))
    assert "".join(part.message.content or "" for part in parts)
    client._client.close()


@pytest.mark.parametrize("responses", [False, True])
def test_langchain(real: Running, responses: bool):
    with openai.DefaultHttpxClient() as http:
        model = ChatOpenAI(
            model="any", base_url=f"{real.url}/v1", api_key="none", max_tokens=FEW, http_client=http,
            use_responses_api=responses,
        )  # fmt: skip
        assert "".join(chunk.text for chunk in model.stream(HELLO))


@pytest.mark.parametrize("kind", [agents.OpenAIChatCompletionsModel, agents.OpenAIResponsesModel])
async def test_openai_agents(client_async: openai.AsyncOpenAI, kind: Any):
    settings = agents.ModelSettings(store=False)
    agent = agents.Agent("Tester", model=kind("any", client_async), output_type=Weather, model_settings=settings)
    assert (await agents.Runner.run(agent, "Paris, 2 days")).final_output


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel])
async def test_pydantic_ai(client_async: openai.AsyncOpenAI, kind: Any):
    agent = Agent(kind("any", provider=OpenAIProvider(openai_client=client_async)))
    result = await agent.run(HELLO, model_settings=ModelSettings(max_tokens=FEW))
    assert result.output


async def test_pydantic_ai_over_messages(real: Running):
    async with anthropic.AsyncAnthropic(base_url=real.url, api_key="none", max_retries=0) as client:
        agent = Agent(AnthropicModel("any", provider=AnthropicProvider(anthropic_client=client)))
        assert (await agent.run(HELLO, model_settings=ModelSettings(max_tokens=FEW))).output


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1"), ("anthropic", ""), ("ollama_chat", "")])
def test_litellm(real: Running, provider: str, path: str):
    where: Any = {"api_base": real.url + path, "api_key": "none", "num_retries": 0}
    parts = litellm.completion(f"{provider}/any", user(HELLO), stream=True, max_tokens=FEW, **where)
    assert litellm.stream_chunk_builder(list(parts)).choices[0].message.content


@pytest.mark.parametrize("mode", [instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA])
def test_instructor(client: openai.OpenAI, mode: Any):
    made = instructor.from_openai(client, mode=mode)
    asked: Any = {"model": "any", "messages": user("Paris, 2 days"), "response_model": Weather, "max_retries": 0}
    assert Weather.model_validate(made.chat.completions.create(**asked).model_dump())


@pytest.mark.skipif(not NODE or not (FOLDER / "node_modules").is_dir(), reason="needs the clients for Node")
@pytest.mark.parametrize("name", CLIENTS)
def test_node(real: Running, name: str):
    file, *way = name.split()
    command = [NODE, "--no-warnings", f"{file}.mjs", real.url, *(way or [""]), "cut", "cutStreamed"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=FOLDER, timeout=300)
    whole, streamed = (json.loads(line) for line in done.stdout.splitlines())
    assert whole["text"], whole
    assert streamed["text"], streamed
