"""dragoman in front of dragoman: what one says, the other passes on whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from upstreams import Answer, delta, frames, threaded, told

from dragoman.engines.script import Script
from dragoman.engines.upstream import Settings, Upstream

from .conftest import WEATHER, Running, ask, joined, running

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TURN = f"<think>\nThe user asks.\n</think>\n\nLet me see.\n{CALL}<|im_end|>"


@contextmanager
def chained(*turns: dict[str, Any], way: str = "chat", **settings: Any) -> Iterator[Running]:
    script = Script({"model": "demo", "dialect": "hermes-json", "turn": list(turns)})
    with ExitStack() as stack:
        behind = stack.enter_context(running(script, **settings))
        front = Upstream(Settings(url=behind.url, way=way))
        yield stack.enter_context(running(front))


def piece(index: int | None, call_id: str | None, arguments: Any) -> dict[str, Any]:
    """A delta that begins a call."""
    place = {} if index is None else {"index": index}
    return {**place, "id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


def rest(index: int, arguments: str) -> dict[str, Any]:
    """A delta that goes on with one."""
    return {"index": index, "function": {"arguments": arguments}}


WAYS = ["chat", "responses", "messages", "ollama"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("way", WAYS)
async def test_a_whole_turn(stream: bool, way: str) -> None:
    with chained({"output": TURN}, way=way) as front:
        body = {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER], "stream": stream}
        answer = await ask(front, body)
    if stream:
        found = joined(answer.chunks)
        assert (found["reasoning_content"], found["content"]) == ("The user asks.", "Let me see.")
        assert found["calls"][0]["name"] == "get_weather"
        assert json.loads(found["calls"][0]["arguments"]) == {"city": "Paris"}
        assert found["finish"] == "tool_calls"
    else:
        (choice,) = answer.json["choices"]
        assert choice["message"]["reasoning_content"] == "The user asks."
        assert choice["message"]["content"] == "Let me see."
        assert choice["finish_reason"] == "tool_calls"


async def test_reasoning_that_stands_in_the_text_is_taken_out_again() -> None:
    with chained({"output": TURN}, reasoning_field="inline") as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER]})
    message = answer.json["choices"][0]["message"]
    assert message["reasoning_content"].strip() == "The user asks."
    assert message["content"].strip() == "Let me see."


@pytest.mark.parametrize("field", ["reasoning", "both"])
async def test_reasoning_under_every_name(field: str) -> None:
    with chained({"output": TURN}, reasoning_field=field) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Weather?"}], "tools": [WEATHER]})
    assert answer.json["choices"][0]["message"]["reasoning_content"] == "The user asks."


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_in_the_middle_stays_an_error(way: str) -> None:
    with chained({"output": "one two three", "after": 2, "error": "on fire"}, way=way) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "stream": True})
    assert "on fire" in answer.chunks[-1]["error"]["message"]
    assert answer.data[-1] != "[DONE]"


async def test_log_probabilities_may_be_asked_for() -> None:
    with chained({"output": "Hi"}) as front:
        script = front.engine
        answer = await ask(
            front, {"messages": [{"role": "user", "content": "Hi"}], "logprobs": True, "top_logprobs": 2}
        )
        assert answer.status == 200
        assert script.voices[0].talks


@pytest.mark.parametrize("way", WAYS)
async def test_usage_and_limits_pass_on(way: str) -> None:
    with chained({"output": "one two three four"}, way=way) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2})
    assert answer.json["choices"][0]["finish_reason"] == "length"
    assert answer.json["usage"]["completion_tokens"] == 2


async def test_a_stop_string_is_matched_here() -> None:
    with chained({"output": "one two STOP three"}) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "stop": "STOP"})
    (choice,) = answer.json["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("one two ", "stop")


async def test_reasoning_whose_opening_mark_nobody_sent_is_taken_out() -> None:
    paths = {
        "/v1/models": told({"data": [{"id": "qwen3:8b"}]}),
        "/v1/chat/completions": Answer(frames(delta("hm</thi"), delta("nk>\n\nYes"), delta(finish="stop"))),
    }
    with threaded(paths=paths) as fake, running(Upstream(Settings(url=fake.url, thinking=True))) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}]})
    message = answer.json["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("hm", "Yes")


LEAKS = {
    "a call": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    "a bare call": '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    "a call in a fence": '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    "thoughts and a call": '<think>hm</think>\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
}


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("leak", LEAKS)
async def test_what_leaks_into_the_text_is_decoded(leak: str, size: int) -> None:
    text = LEAKS[leak]
    chunks = [delta(text[at : at + size]) for at in range(0, len(text), size)]
    paths = {
        "/v1/models": told({"data": [{"id": "qwen3:8b"}]}),
        "/v1/chat/completions": Answer(frames(*chunks, delta(finish="stop"))),
    }
    with threaded(paths=paths) as fake, running(Upstream(Settings(url=fake.url))) as front:
        answer = await ask(front, {"messages": [{"role": "user", "content": "Hi"}], "tools": [WEATHER]})
    (choice,) = answer.json["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("get_weather", {"city": "Paris"})
    assert choice["finish_reason"] == "tool_calls"
    assert not choice["message"]["content"]


BAD_CALLS: dict[str, list[Any]] = {
    "one index for two": [[piece(0, "a", '{"city": "A"}')], [piece(0, "b", '{"city": "B"}')]],
    "no index": [[piece(None, "a", '{"city": "A"}')], [piece(None, "b", '{"city": "B"}')]],
    "from one": [[piece(1, "a", '{"city": "A"}')], [piece(2, "b", '{"city": "B"}')]],
    "interleaved": [[piece(0, "a", "")], [piece(1, "b", "")], [rest(0, '{"city": "A"}')], [rest(1, '{"city": "B"}')]],
    "ids and names repeated": [
        [piece(0, "a", '{"city"')], [piece(0, "a", ': "A"}')], [piece(1, "b", '{"city"')], [piece(1, "b", ': "B"}')],
    ],
    "no ids": [[piece(0, "", '{"city": "A"}')], [piece(1, None, '{"city": "B"}')]],
    "objects": [[piece(0, "a", {"city": "A"}), piece(1, "b", {"city": "B"})]],
    "nulls": [[{**piece(0, "a", '{"city": "A"}'), "type": None}], [piece(1, "b", None)], [rest(1, '{"city": "B"}')]],
}  # fmt: skip


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
@pytest.mark.parametrize("shape", BAD_CALLS)
async def test_calls_of_every_bad_shape(shape: str, finish: str | None, stream: bool) -> None:
    chunks = [delta(tool_calls=calls, content=None, role=None) for calls in BAD_CALLS[shape]]
    paths = {
        "/v1/models": told({"data": [{"id": "m"}]}),
        "/v1/chat/completions": Answer(frames(*chunks, delta(finish=finish))),
    }
    with threaded(paths=paths) as fake, running(Upstream(Settings(url=fake.url))) as front:
        body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [WEATHER], "stream": stream}
        answer = await ask(front, body)
    if stream:
        found = joined(answer.chunks)
        calls = [found["calls"][place] for place in (0, 1)]
        assert found["finish"] == "tool_calls"
    else:
        (choice,) = answer.json["choices"]
        calls = [call["function"] for call in choice["message"]["tool_calls"]]
        assert choice["finish_reason"] == "tool_calls"
    assert [json.loads(call["arguments"]) for call in calls] == [{"city": "A"}, {"city": "B"}]


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
async def test_a_forced_call_goes_as_a_structural_tag_and_comes_back_as_a_call(kind: str, tmp_path: Path) -> None:
    template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    specials = {"1": {"content": "<|im_start|>"}, "2": {"content": "<|im_end|>"}, "3": {"content": "<tool_call>"}}
    config = {"chat_template": template, "added_tokens_decoder": {**specials, "4": {"content": "</tool_call>"}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    texts = ["<tool_call>", '\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n', "</tool_call>"]
    chunks = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in texts]
    paths = {
        "/v1/models": told({"data": [{"id": "q", "owned_by": kind, "root": str(tmp_path)}]}),
        "/v1/completions": Answer(frames(*chunks, {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]})),
    }
    with threaded(paths=paths) as fake, running(Upstream(Settings(url=fake.url, dialect="hermes-json"))) as front:
        body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [WEATHER], "tool_choice": "required"}
        answer = await ask(front, body)
    (choice,) = answer.json["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"city": "Paris"}
    (sent,) = fake.bodies("/v1/completions")
    tag = json.loads(sent["structured_outputs"]["structural_tag"]) if kind == "vllm" else sent["response_format"]
    assert tag["type"] == "structural_tag"
    assert "get_weather" in json.dumps(tag)
    assert sent["prompt"].startswith("<|im_start|>")
