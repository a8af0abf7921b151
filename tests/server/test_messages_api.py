"""Messages over HTTP: the official client against a scripted engine, and every answer held against the rulebook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import pytest

from dragoman.checks import check_messages_answer, check_messages_error, check_messages_stream, compare_messages
from dragoman.engines.base import Progress
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find
from dragoman.engines.script import Script
from dragoman.server.app import create_app
from dragoman.server.config import Config

from .conftest import Answer, Running, call, running

Serving = Callable[..., Running]
Connect = Callable[[Running], anthropic.Anthropic]
JSON = {"content-type": "application/json"}
USER: Any = [{"role": "user", "content": "Hello"}]
WEATHER: Any = {
    "name": "get_weather",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}},
        "required": ["city"],
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>'
TWO = "<think>hm</think>Sure.\n" + CALL % "Paris" + "\n" + CALL % "Rome" + "<|im_end|>"
PATHS = pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages?beta=true", "/messages"])


async def ask(server: Running, path: str = "/v1/messages", headers: Any = None, **fields: Any) -> Answer:
    body = {"model": "demo", "max_tokens": 900, "messages": USER, **fields}
    data = json.dumps(body).encode()
    answer = await call(server, "POST", path, data=data, headers={**JSON, **(headers or {})})
    check(answer, body)
    return answer


def check(answer: Answer, request: dict[str, Any]) -> None:
    if answer.status != 200:
        found = [*check_messages_error(answer.json)]
    elif answer.headers["content-type"].startswith("text/event-stream"):
        found = check_messages_stream(answer.body, request=request)
    else:
        found = check_messages_answer(answer.json, request=request)
    assert not found, found


@pytest.fixture
def client() -> Iterator[Connect]:
    """The official client of a server; closed with the test."""
    with ExitStack() as stack:

        def connect(server: Running) -> anthropic.Anthropic:
            made = anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0, timeout=60)
            return stack.enter_context(made)

        yield connect


def asked(**fields: Any) -> Any:
    return {"model": "demo", "max_tokens": 900, "messages": USER, **fields}


# --- a stream and a whole answer are the same


@pytest.mark.parametrize(
    ("output", "fields", "reason"),
    [
        ("Hello there.", {}, "end_turn"),
        ("", {}, "end_turn"),
        ("<think>Let me see.</think>It is 4.", {}, "end_turn"),
        ("<think>Let me see.</think>It is 4.", {"thinking": {"type": "disabled"}}, "end_turn"),
        ("<think>Let me see.</think>It is 4.", {"thinking": {"type": "adaptive", "display": "omitted"}}, "end_turn"),
        (TWO, {"tools": [WEATHER]}, "tool_use"),
        (TWO, {"tools": [WEATHER], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, "tool_use"),
        (CALL % "Paris", {"tools": [WEATHER], "tool_choice": {"type": "any"}}, "tool_use"),
        (CALL % "Paris", {"tools": [WEATHER], "tool_choice": {"type": "none"}}, "end_turn"),
        (
            '<tool_call>\n{"name": "get_weather", "arguments": {"city" Paris}}\n</tool_call>',
            {"tools": [WEATHER]},
            "tool_use",
        ),
        ("one two STOP three", {"stop_sequences": ["STOP"]}, "stop_sequence"),
        ("one two three four", {"max_tokens": 2}, "max_tokens"),
        (CALL % "Paris", {"tools": [WEATHER], "max_tokens": 6}, "max_tokens"),
        ("Zoë 🦜 \ud83d\\", {}, "end_turn"),
    ],
)
async def test_s08_m14_the_stream_adds_up_to_the_whole(serving: Serving, output: str, fields: Any, reason: str) -> None:
    server = serving({"output": output, "cut": "words"})
    whole, stream = await ask(server, **fields), await ask(server, stream=True, **fields)
    assert (whole.status, stream.status) == (200, 200)
    assert not compare_messages(stream.body, whole.json)
    assert whole.json["stop_reason"] == reason
    assert whole.json["usage"]["input_tokens"] > 0


@PATHS
@pytest.mark.parametrize("stream", [False, True])
async def test_m01_all_paths_answer(serving: Serving, path: str, stream: bool) -> None:
    answer = await ask(serving({"output": "Hi"}), path, stream=stream)
    assert answer.status == 200
    assert answer.headers["request-id"].startswith("msg_")


# --- what the official client sees


def test_m03_m04_thoughts_text_and_two_calls(serving: Serving, client: Connect) -> None:
    server = serving({"output": TWO})
    with client(server).messages.stream(**asked(tools=[WEATHER])) as stream:
        kinds = {event.type for event in stream}
        message = stream.get_final_message()
    assert {"text", "thinking", "signature", "input_json"} <= kinds
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [block.input for block in message.content if block.type == "tool_use"] == [
        {"city": "Paris"},
        {"city": "Rome"},
    ]
    assert all(block.id.startswith("toolu_") for block in message.content if block.type == "tool_use")
    assert message.stop_reason == "tool_use"


def test_m18_results_are_returned_in_any_order(serving: Serving, client: Connect) -> None:
    server = serving({"when": {"results": False}, "output": TWO}, {"output": "Sunny."})
    talk: Any = list(USER)
    message = client(server).messages.create(**asked(tools=[WEATHER]))
    talk.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
    uses = [block for block in message.content if block.type == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": uses[1].id, "content": [{"type": "text", "text": "rain"}]},
        {"type": "tool_result", "tool_use_id": uses[0].id, "content": "no such city", "is_error": True},
    ]
    talk.append({"role": "user", "content": results})
    answer = client(server).messages.create(**asked(tools=[WEATHER], messages=talk))
    assert answer.content[0].text == "Sunny."
    prompt = server.engine.asked[-1][0].text
    assert 0 < prompt.index("no such city") < prompt.index("rain")  # in the order of their calls


def test_m06_a_thought_that_was_omitted_comes_back_into_the_prompt(serving: Serving, client: Connect) -> None:
    template = "{% for m in messages %}[{{ m.role }}:{{ m.reasoning_content }}|{{ m.content }}]{% endfor %}"
    server = serving({"output": "<think>secret plan</think>Hi."}, script={"template": template})
    shown: Any = {"type": "enabled", "budget_tokens": 1024, "display": "omitted"}
    message = client(server).messages.create(**asked(thinking=shown))
    assert message.content[0].thinking == ""
    talk = [*USER, {"role": "assistant", "content": [block.to_dict() for block in message.content]}, *USER]
    client(server).messages.create(**asked(messages=talk))
    assert "secret plan" in server.engine.asked[-1][0].text


def test_m10_a_stop_string(serving: Serving, client: Connect) -> None:
    with client(serving({"output": "one END two"})).messages.stream(**asked(stop_sequences=["END"])) as stream:
        message = stream.get_final_message()
    assert (message.stop_reason, message.stop_sequence, message.content[0].text) == ("stop_sequence", "END", "one ")


def test_m21_the_beginning_of_an_answer_is_continued(serving: Serving, client: Connect) -> None:
    server = serving({"output": "42)"})
    begun: Any = {"role": "assistant", "content": "The answer is ("}
    assert client(server).messages.create(**asked(messages=[*USER, begun])).content[0].text == "42)"
    assert server.engine.asked[-1][0].text.endswith("The answer is (")


def test_m20_a_schema_constrains(serving: Serving, client: Connect) -> None:
    server = serving({"output": '{"a": 1}'})
    form: Any = {
        "format": {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    }
    client(server).messages.create(**asked(output_config=form))
    assert server.engine.asked[-1][1].grammar


# --- the prompt's size


async def test_m02_the_start_has_the_real_size(serving: Serving) -> None:
    server = serving({"output": "Hi there"})
    stream, whole = await ask(server, stream=True), await ask(server)
    size = whole.json["usage"]["input_tokens"]
    assert stream.chunks[0]["message"]["usage"]["input_tokens"] == size > 0
    assert stream.chunks[-2]["usage"] == whole.json["usage"]


@PATHS
async def test_m15_tokens_are_counted_without_running_the_model(serving: Serving, client: Connect, path: str) -> None:
    server = serving({"output": "Hi"})
    fields = {"system": "Be brief.", "tools": [WEATHER]}
    whole = await ask(server, **fields)
    count = path.replace("messages", "messages/count_tokens")
    body = json.dumps({"model": "demo", "messages": USER, **fields}).encode()
    answer = await call(server, "POST", count, data=body, headers=JSON)
    assert answer.json == {"input_tokens": whole.json["usage"]["input_tokens"]}
    assert len(server.engine.asked) == 1
    official = client(server).messages.count_tokens(model="demo", messages=USER, **fields)
    assert official.input_tokens == answer.json["input_tokens"]


async def test_m15_a_bad_request_is_not_counted(serving: Serving) -> None:
    answer = await call(serving({"output": "Hi"}), "POST", "/v1/messages/count_tokens", data=b"{}", headers=JSON)
    assert (answer.status, answer.json["error"]["type"]) == (400, "invalid_request_error")


async def test_m15_an_engine_that_cannot_count() -> None:
    class Blind(Script):
        async def count(self, prompt: Any) -> int | None:
            return None

    with running(Blind({"model": "demo", "dialect": "hermes-json", "turn": [{"output": "Hi"}]})) as server:
        body = json.dumps({"messages": USER}).encode()
        answer = await call(server, "POST", "/v1/messages/count_tokens", data=body, headers=JSON)
        assert answer.status == 501
        stream = await ask(server, stream=True)
        assert stream.chunks[0]["message"]["usage"]["input_tokens"] == 0
        assert stream.chunks[-2]["usage"]["input_tokens"] > 0


# --- keep-alives and failures


async def test_m12_a_slow_prompt_gets_pings(serving: Serving) -> None:
    answer = await ask(serving({"output": "one two", "pause": 0.2}, keep_alive=0.05), stream=True)
    kinds = [chunk["type"] for chunk in answer.chunks]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-1] == "message_stop"


@pytest.mark.parametrize("stream", [False, True])
async def test_m13_what_fails_before_the_first_byte_has_a_status(serving: Serving, stream: bool) -> None:
    server = serving({"output": "a b c", "after": 0, "error": "it died"})
    answer = await ask(server, stream=stream)
    assert (answer.status, answer.json["error"]["type"]) == (502, "api_error")


async def test_m13_what_fails_in_the_middle_ends_with_an_error(serving: Serving, client: Connect) -> None:
    server = serving({"output": "a b c", "after": 2, "error": "it died"})
    answer = await ask(server, stream=True)
    assert answer.chunks[-1]["error"]["type"] == "api_error"
    assert "message_stop" not in [chunk["type"] for chunk in answer.chunks]
    with pytest.raises(anthropic.APIStatusError, match="it died"), client(server).messages.stream(**asked()) as stream:
        stream.until_done()


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"messages": []}, anthropic.BadRequestError),
        ({"tool_choice": {"type": "any"}}, anthropic.BadRequestError),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "http://x"}}]}]},
         anthropic.BadRequestError),
    ],
)  # fmt: skip
def test_m13_the_official_client_knows_our_errors(serving: Serving, client: Connect, fields: Any, error: Any) -> None:
    with pytest.raises(error) as caught:
        client(serving({"output": "Hi"})).messages.create(**asked(**fields))
    assert caught.value.body["error"]["type"] == "invalid_request_error"


async def test_m13_keys_methods_sizes_and_paths(serving: Serving) -> None:
    server = serving({"output": "Hi"}, api_key="secret", body_limit=1024)
    version = {"anthropic-version": "2023-06-01"}
    assert (await ask(server)).json["error"]["type"] == "authentication_error"
    assert (await ask(server, headers={"x-api-key": "secret"})).status == 200
    big = await ask(server, headers={"x-api-key": "secret"}, system="x" * 2000)
    assert (big.status, big.json["error"]["type"]) == (413, "request_too_large")
    wrong = await call(server, "GET", "/v1/messages")
    assert (wrong.status, wrong.json["type"]) == (405, "error")
    nothing = await call(server, "POST", "/v1/messages/batches", headers=version)
    assert (nothing.status, nothing.json["error"]["type"]) == (404, "not_found_error")


async def test_m13_a_prompt_beyond_the_context(serving: Serving) -> None:
    server = serving({"output": "Hi"}, script={"context": 5})
    answer = await ask(server, stream=True, system="one two three four five six")
    assert answer.status == 400
    assert answer.json["error"]["message"].startswith("prompt is too long")


async def test_m10_an_answer_that_the_context_ended() -> None:
    class Short(Script):
        async def stream(self, prompt: Any, options: Any, request: Any = None) -> Any:
            yield [Progress(1, 7, 3)]
            async for batch in super().stream(prompt, options, request):
                yield batch

    turn = {"output": "one two", "finish": "length"}
    with running(Short({"model": "demo", "dialect": "hermes-json", "turn": [turn]})) as server:
        answer = await ask(server, stream=True)
        assert answer.chunks[-2]["delta"]["stop_reason"] == "model_context_window_exceeded"
        assert answer.chunks[-2]["usage"]["cache_read_input_tokens"] == 3


async def test_m19_what_was_left_out_is_told(serving: Serving) -> None:
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    answer = await ask(serving({"output": "Hi"}), tools=[WEATHER, hosted], thinking={"type": "deep"})
    assert answer.headers["x-dragoman-ignored"] == "thinking.type, tools[1]"


async def test_s07_a_client_that_leaves_stops_the_engine(serving: Serving) -> None:
    server = serving({"output": "word " * 5000, "pause": 0.01})
    task = asyncio.create_task(ask(server, stream=True))
    await server.busy()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await server.idle()


async def test_the_facts_of_the_engine_ride_along_if_they_are_asked_for(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    assert "seconds" in (await ask(server, stats=True)).json
    assert "seconds" not in (await ask(server)).json


# --- models


def test_m16_models_in_the_shape_of_their_client(serving: Serving, client: Connect) -> None:
    server = serving({"output": "Hi"}, script={"context": 4096})
    (model,) = client(server).models.list()
    assert (model.id, model.type, model.max_input_tokens) == ("demo", "model", 4096)
    assert client(server).models.retrieve("demo") == model
    with pytest.raises(anthropic.NotFoundError):
        client(server).models.retrieve("other")


async def test_m16_everybody_else_gets_the_other_shape(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    assert (await call(server, "GET", "/v1/models")).json["object"] == "list"
    assert (await call(server, "GET", "/v1/models/demo")).json["object"] == "model"
    version = {"anthropic-version": "2023-06-01"}
    listed = (await call(server, "GET", "/models", headers=version)).json
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == ("demo", "demo", False)


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/demo"])
async def test_m16_before_the_model_is_loaded_it_is_overloaded(path: str) -> None:
    app = create_app(Config(), engines=[])
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"anthropic-version", b"2023-06-01")]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b"", "app": app}
    await app(scope, send, send)
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"]["type"] == "overloaded_error"


# --- nothing made up


@pytest.mark.engine
def test_m02_m10_m15_a_real_model_calls_and_answers(client: Connect) -> None:
    cities = ["Paris", "Oslo"]
    schema = {
        "type": "object",
        "properties": {"city": {"enum": cities}},
        "required": ["city"],
        "additionalProperties": False,
    }
    about: Any = {
        "model": "smollm2",
        "messages": [{"role": "user", "content": "How is the weather in Paris?"}],
        "tools": [{"name": "get_weather", "input_schema": schema}],
        "tool_choice": {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True},
        "thinking": {"type": "disabled"},
    }
    with running(Embedded(find("smollm2"), slots=1, context=1024, threads=1), first_token=300.0, stall=300.0) as server:
        official = client(server)
        size = official.messages.count_tokens(**about).input_tokens
        with official.messages.stream(**about, max_tokens=200, extra_body={"temperature": 0}) as stream:
            started = next(event for event in stream if event.type == "message_start").message.usage
            called = stream.get_final_message()
        assert size > 20
        assert started.input_tokens == size
        usage = called.usage
        assert usage.input_tokens + (usage.cache_read_input_tokens or 0) == size
        assert called.stop_reason == "tool_use"
        (use,) = called.content
        assert use.input["city"] in cities
        said = [{"role": "assistant", "content": [use.to_dict()]}]
        result = {"type": "tool_result", "tool_use_id": use.id, "content": "Sunny, 20 degrees."}
        talk = [*about["messages"], *said, {"role": "user", "content": [result]}]
        answer = official.messages.create(**{**about, "messages": talk, "tool_choice": {"type": "none"}}, max_tokens=12)
        assert answer.content[0].text
        assert answer.stop_reason in ("end_turn", "max_tokens")
        assert 0 < answer.usage.output_tokens <= 12
