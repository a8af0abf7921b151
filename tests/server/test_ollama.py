"""Ollama's API, asked by its official client and by hand."""

from __future__ import annotations

import json
from typing import Any

import ollama
import pytest

from dragoman.checks import check_ollama_answer, check_ollama_error, check_ollama_stream, compare_ollama
from dragoman.engines.script import Script

from .conftest import USER, WEATHER, Answer, Running, call, running

CALLS = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
)
THOUGHT = "<think>\nLet me see.\n</think>\n\n"
TURNS: tuple[dict[str, Any], ...] = (
    {"when": {"results": True}, "output": "Sunny and cold.<|im_end|>"},
    {"when": {"tool": True}, "output": f"{THOUGHT}I look.\n{CALLS}<|im_end|>"},
    {"when": {"user": "json"}, "output": '{"city": "Paris"}<|im_end|>'},
    {"when": {"user": "break"}, "output": "one two three four", "after": 2, "error": "the machine caught fire"},
    {"when": {"user": "fail"}, "output": "one two", "after": 0, "error": "the machine caught fire"},
    {"output": f"{THOUGHT}Hello there!<|im_end|>"},
)
MARKS = ("<think>", "</think>", "<tool_call>", "<|im_end|>")


@pytest.fixture(scope="module")
def server():
    with running(Script({"model": "demo", "dialect": "hermes-json", "turn": list(TURNS)})) as started:
        yield started


@pytest.fixture
def client(server):
    with ollama.Client(host=server.url) as asking:
        yield asking


async def post(server: Running, path: str, body: Any, status: int = 200) -> Answer:
    """Ask as Ollama's documentation does, without a word of JSON; and hold the answer against the rulebook."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = await call(server, "POST", path, data=data, headers=headers)
    assert answer.status == status, answer.body
    raw = {"marks": ()} if not isinstance(body, dict) or body.get("raw") else {"marks": MARKS}
    asked = {"request": body if isinstance(body, dict) else {}, **raw}
    if status != 200:
        found = [*check_ollama_error(answer.json)]
    elif answer.headers["content-type"] == "application/x-ndjson":
        assert "content-length" not in answer.headers
        found = check_ollama_stream(answer.body, **asked)
    else:
        assert answer.headers["content-type"] == "application/json"
        found = check_ollama_answer(answer.json, **asked)
    assert not found, found
    return answer


def lines(answer: Answer) -> list[Any]:
    return [json.loads(line) for line in answer.body.splitlines()]


# --- chat and generate


async def test_o01_a_stream_is_the_default(server):
    body = {"model": "demo", "messages": USER}
    assert len(lines(await post(server, "/api/chat", body))) > 3
    assert (await post(server, "/api/chat", {**body, "stream": False})).json["message"]["content"] == "Hello there!"
    assert lines(await post(server, "/api/generate", {"model": "demo", "prompt": "Hi"}))[-1]["context"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/chat", {"messages": USER}),
        ("/api/chat", {"messages": USER, "think": False}),
        ("/api/chat", {"messages": USER, "tools": [WEATHER]}),
        ("/api/chat", {"messages": USER, "tools": [WEATHER], "options": {"num_predict": 40}}),
        ("/api/chat", {"messages": USER, "options": {"stop": ["there"]}}),
        ("/api/chat", {"messages": [{"role": "user", "content": "as json"}], "format": "json"}),
        ("/api/chat", {"messages": []}),
        ("/api/generate", {"prompt": "Hi"}),
        ("/api/generate", {"prompt": "Hi", "raw": True}),
        ("/api/generate", {"prompt": "Hi", "logprobs": True, "top_logprobs": 1}),
        ("/api/generate", {"prompt": "", "keep_alive": 0}),
    ],
)
async def test_s08_streamed_or_not_the_same_is_said(server, path, body):
    streamed = await post(server, path, {"model": "demo", **body})
    whole = await post(server, path, {"model": "demo", "stream": False, **body})
    assert compare_ollama(streamed.body, whole.json) == []


async def test_o03_times_are_told(server):
    for stream in (True, False):
        last = lines(await post(server, "/api/chat", {"model": "demo", "messages": USER, "stream": stream}))[-1]
        assert last["total_duration"] >= last["prompt_eval_duration"] + last["eval_duration"]
        assert last["eval_count"] > 0


def test_o04_calls_and_their_results(client):
    for stream in (True, False):
        answer = client.chat("demo", USER, tools=[WEATHER], stream=stream)
        chunks = list(answer) if stream else [answer]
        calls = [made for chunk in chunks for made in chunk.message.tool_calls or ()]
        assert [(made.function.name, made.function.arguments) for made in calls] == [
            ("get_weather", {"city": "Paris"}),
            ("get_weather", {"city": "Oslo"}),
        ]
        assert chunks[-1].done_reason == "stop"
        results = [{"role": "tool", "tool_name": "get_weather", "content": text} for text in ("sunny", "cold")]
        asked = [*USER, {"role": "assistant", "tool_calls": calls}, *results]
        assert client.chat("demo", asked, tools=[WEATHER]).message.content == "Sunny and cold."


def test_o04_results_reach_the_model_in_order(client, server):
    calls = [{"function": {"name": "get_weather", "arguments": {"city": city}}} for city in ("Paris", "Oslo")]
    results = [{"role": "tool", "tool_name": "get_weather", "content": text} for text in ("sunny", "cold")]
    client.chat("demo", [*USER, {"role": "assistant", "tool_calls": calls}, *results], tools=[WEATHER])
    prompt = server.engine.asked[-1][0].text
    assert prompt.index("Paris") < prompt.index("Oslo") < prompt.index("sunny") < prompt.index("cold")


async def test_o04_a_cut_call_is_dropped(server):
    body = {"model": "demo", "messages": USER, "tools": [WEATHER], "options": {"num_predict": 25}}
    said = lines(await post(server, "/api/chat", body))
    assert said[-1]["done_reason"] == "length"
    assert not any("tool_calls" in line["message"] for line in said)


def test_o05_thinking(client):
    assert client.chat("demo", USER, think=True).message.thinking == "Let me see."
    assert client.chat("demo", USER).message.thinking == "Let me see."
    hidden = client.chat("demo", USER, think=False).message
    assert (hidden.thinking, hidden.content) == (None, "Hello there!")
    streamed = list(client.generate("demo", "Hi", think="high", stream=True))
    assert "".join(chunk.thinking or "" for chunk in streamed) == "Let me see."
    assert "".join(chunk.response for chunk in streamed) == "Hello there!"


async def test_o07_a_bad_request_is_told(server):
    answer = await post(server, "/api/chat", {"messages": [{"role": "boss"}]}, 400)
    assert answer.json["error"].startswith("messages[0].role must be one of system")
    await post(server, "/api/chat", b"{", 400)
    await post(server, "/api/generate", {"prompt": "Hi", "suffix": "x"}, 400)
    images = [{"role": "user", "content": "What is this?", "images": ["iVBORw0KGgo="]}]
    await post(server, "/api/chat", {"messages": images}, 400)


def test_o07_an_engine_that_fails(client):
    broken = [{"role": "user", "content": "break"}]
    with pytest.raises(ollama.ResponseError, match="caught fire"):
        list(client.chat("demo", broken, stream=True))
    with pytest.raises(ollama.ResponseError, match="caught fire") as caught:
        client.chat("demo", broken)
    assert caught.value.status_code == 502


async def test_o07_a_failure_before_the_first_word_has_a_status(server):
    await post(server, "/api/chat", {"messages": [{"role": "user", "content": "fail"}]}, 502)


async def test_o07_an_error_in_a_stream_is_its_last_line(server):
    said = lines(await post(server, "/api/chat", {"messages": [{"role": "user", "content": "break"}]}))
    assert list(said[-1]) == ["error"]


def test_o08_options_reach_the_engine(client, server):
    client.chat("demo", USER, options={"temperature": 0.5, "num_predict": 99, "top_k": 3})
    options = server.engine.asked[-1][1]
    assert (options.limit, options.sampling) == (99, {"temperature": 0.5, "top_k": 3})


def test_o08_a_schema_becomes_a_grammar(client, server):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    answer = client.chat("demo", [{"role": "user", "content": "as json"}], format=schema)
    assert json.loads(answer.message.content) == {"city": "Paris"}
    assert "city" in server.engine.asked[-1][1].grammar
    client.generate("demo", "as json", format="json", raw=True)
    assert server.engine.asked[-1][1].grammar


async def test_o08_what_the_server_decides_is_reported(server):
    answer = await post(server, "/api/chat", {"messages": USER, "options": {"num_ctx": 9}})
    assert answer.headers["x-dragoman-ignored"] == "options.num_ctx"


def test_o08_a_raw_prompt_goes_in_and_comes_out_as_it_is(client, server):
    answer = client.generate("demo", "<|im_start|>user\nHi", raw=True)
    assert answer.response == "<think>\nLet me see.\n</think>\n\nHello there!"
    assert server.engine.asked[-1][0].text == "<|im_start|>user\nHi"
    assert answer.context is None


def test_o08_the_context_goes_on(client, server):
    first = client.generate("demo", "One", system="Be brief.")
    client.generate("demo", "Two", context=first.context)
    prompt = server.engine.asked[-1][0].text
    places = [prompt.index(text) for text in ("Be brief.", "One", "Hello there!", "Two")]
    assert places == sorted(places)


def test_o08_log_probabilities(client):
    answer = client.chat("demo", USER, logprobs=True, top_logprobs=1, think=False)
    assert "".join(token.token for token in answer.logprobs) == "Hello there!"


@pytest.mark.parametrize("stream", [True, False])
def test_o10_a_load_request(client, stream):
    for answer in (client.chat("demo", [], stream=stream), client.generate("demo", stream=stream)):
        (only,) = list(answer) if stream else [answer]
        assert (only.done, only.done_reason) == (True, "load")
    (only,) = client.generate("demo", keep_alive=0, stream=True)
    assert only.done_reason == "unload"


# --- the models, and what is not offered


def test_o11_models(client):
    assert [model.model for model in client.list().models] == ["demo"]
    assert [model.name for model in client.ps().models] == ["demo"]
    shown = client.show("demo:latest")
    assert shown.capabilities == ["completion", "tools", "thinking"]


def test_o11_what_a_model_shows_of_itself():
    data = {"model": "demo", "dialect": "hermes-json", "context": 4096, "template": "{{ messages[0].content }}"}
    with (
        running(Script({**data, "turn": [{"output": "Hi"}]}), strict_model=True) as started,
        ollama.Client(host=started.url) as client,
    ):
        shown = client.show("demo")
        assert shown.modelinfo["unknown.context_length"] == 4096
        assert shown.template == data["template"]
        assert shown.capabilities == ["completion", "tools"]
        assert client.chat("demo:latest", USER).message.content == "Hi"
        with pytest.raises(ollama.ResponseError, match="no model") as caught:
            client.show("other")
        assert caught.value.status_code == 404


async def test_o11_version_and_presence(server):
    assert (await call(server, "GET", "/api/version")).json["version"]
    assert b"Ollama is running" in (await call(server, "GET", "/")).body
    assert (await call(server, "HEAD", "/")).status == 200


@pytest.mark.parametrize("path", ["pull", "push", "create", "copy", "embed", "embeddings", "blobs/sha256:0"])
async def test_o11_what_is_not_offered_says_so(server, path):
    answer = await call(server, "POST", f"/api/{path}", data=b"{}")
    assert answer.status == 501
    assert not [*check_ollama_error(answer.json)]
    assert (await call(server, "DELETE", "/api/delete", data=b"{}")).status == 501


@pytest.mark.parametrize(
    ("method", "path", "status"), [("POST", "/api/nothing", 404), ("GET", "/api/chat", 405), ("POST", "/api/tags", 405)]
)
async def test_l04_errors_have_ollamas_shape(server, method, path, status):
    answer = await call(server, method, path)
    assert answer.status == status
    assert not [*check_ollama_error(answer.json)]


async def test_a_show_without_a_name(server):
    await post(server, "/api/show", {}, 400)


async def test_s10_a_key_is_asked_for(serving):
    server = serving({"output": "Hi"}, api_key="secret")
    for method, path in (("GET", "/api/tags"), ("POST", "/api/chat"), ("POST", "/api/show"), ("POST", "/api/pull")):
        answer = await call(server, method, path, data=b"{}")
        assert (answer.status, [*check_ollama_error(answer.json)]) == (401, [])


async def test_a_client_that_leaves_frees_the_engine(serving):
    server = serving({"output": "word " * 500, "pause": 0.01})
    async with ollama.AsyncClient(host=server.url) as client:
        stream = await client.chat("demo", USER, stream=True)
        await anext(stream)
        await stream.aclose()
        await server.idle()
