"""LiteLLM, over all of its ways to us: what gateways and many agents stand on."""

from __future__ import annotations

import json
from typing import Any

import litellm
import pytest

from ..server.conftest import Running
from .offers import CHAT, LIMIT, SKY, Person, step, user
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, OSLO, PARIS, PERSON, STEPS, THOUGHT

pytestmark = pytest.mark.filterwarnings("ignore:.* on TypedDict class .* `ReadOnly`:UserWarning")  # of its own types

PROVIDERS = {"openai": "/v1", "hosted_vllm": "/v1", "anthropic": "", "ollama_chat": ""}


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def ask(server: Running, provider: str) -> Any:
    """Asks the model; a stream is added up by LiteLLM's own function."""

    def asked(given: Any, live: bool = False, **more: Any) -> Any:
        messages = user(given) if isinstance(given, str) else given
        where = {"api_base": server.url + PROVIDERS[provider], "api_key": "none", "num_retries": 0}
        answer = litellm.completion(f"{provider}/demo", messages, stream=live, **where, **more)
        return litellm.stream_chunk_builder(list(answer)) if live else answer

    return asked


both_ways = pytest.mark.parametrize("live", [False, True])


@both_ways
def test_plain(ask: Any, live: bool):
    answer = ask("plain", live)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (GREETING, "stop")
    assert answer.usage.completion_tokens > 0


@both_ways
def test_reasoning(ask: Any, live: bool):
    message = ask("think", live).choices[0].message
    assert (message.reasoning_content, message.content) == (THOUGHT, ANSWER)


@both_ways
def test_two_calls_and_their_results(ask: Any, live: bool):
    first = ask("weather", live, tools=CHAT).choices[0]
    calls = first.message.tool_calls
    cities = [json.loads(call.function.arguments)["city"] for call in calls]
    assert (cities, first.finish_reason) == ([PARIS, OSLO], "tool_calls")
    results = [
        {"role": "tool", "tool_call_id": call.id, "name": "get_weather", "content": SKY[city]}
        for call, city in zip(calls, cities, strict=True)
    ]
    final = ask([*user("weather"), first.message.model_dump(exclude_none=True), *results], live, tools=CHAT)
    assert final.choices[0].message.content == FORECAST


@both_ways
def test_cut_by_the_limit(ask: Any, live: bool):
    choice = ask("cut", live, max_tokens=LIMIT).choices[0]
    assert choice.finish_reason == "length"
    assert LONG.startswith(choice.message.content)


@both_ways
def test_breaks_in_the_middle(ask: Any, live: bool):
    with pytest.raises(Exception, match=FIRE):
        ask("break", live)


def test_a_structured_answer(ask: Any):
    answer = ask("person", response_format=Person).choices[0].message.content
    assert Person.model_validate_json(answer) == Person.model_validate(PERSON)


def test_a_long_loop(ask: Any):
    said, turns = user("loop"), 0
    while calls := (message := ask(said, bool(turns % 2), tools=CHAT).choices[0].message).tool_calls:
        turns += 1
        assert json.loads(calls[0].function.arguments) == {"number": turns}
        said.append(message.model_dump(exclude_none=True))
        said.append({"role": "tool", "tool_call_id": calls[0].id, "name": "step", "content": step(turns)})
    assert (turns, message.content) == (STEPS, f"All {STEPS} steps are done.")
