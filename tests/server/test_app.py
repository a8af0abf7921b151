"""Paths, methods, keys, bodies: what is answered before an engine is asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import PATH, USER, Running, ask, call

Serving = Callable[..., Running]


def error(body: Any) -> dict[str, Any]:
    """The error object, in its whole shape."""
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    return dict(body["error"])


async def test_answers_with_and_without_v1(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    for path in (PATH, "/chat/completions", PATH + "?beta=true"):
        answer = await ask(server, path=path)
        assert answer.json["choices"][0]["message"]["content"] == "Hi"


async def test_models(serving: Serving) -> None:
    server = serving({"output": "Hi"}, script={"model": "org/demo", "context": 100})
    listed = await call(server, "GET", "/v1/models")
    (card,) = listed.json["data"]
    assert (card["id"], card["object"], card["owned_by"]) == ("org/demo", "model", "dragoman")
    assert (card["context_window"], card["max_model_len"], card["meta"]["n_ctx"]) == (100, 100, 100)
    assert (card["dialect"], card["capabilities"]["tools"]) == ("hermes-json", True)
    assert (await call(server, "GET", "/v1/models/org/demo")).json == card
    missing = await call(server, "GET", "/v1/models/other")
    assert missing.status == 404
    assert "'org/demo'" in error(missing.json)["message"]


async def test_health_and_root(serving: Serving) -> None:
    server = serving({"output": "Hi"}, api_key="secret")
    for method in ("GET", "HEAD"):
        for path in ("/", "/health"):
            answer = await call(server, method, path)
            assert answer.status == 200
            assert (answer.body == b"") == (method == "HEAD")


async def test_any_name_answers_where_one_model_is_served(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    answer = await ask(server, {"model": "gpt-4", "messages": USER})
    assert (answer.status, answer.json["model"]) == (200, "demo")


async def test_unknown_model(serving: Serving) -> None:
    server = serving({"output": "Hi"}, strict_model=True)
    answer = await ask(server, {"model": "dmo", "messages": USER})
    found = error(answer.json)
    assert (answer.status, found["param"], found["code"]) == (404, "model", "model_not_found")
    assert "did you mean 'demo'" in found["message"]
    assert (await ask(server, {"model": "demo", "messages": USER})).status == 200


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {}, 400, "invalid_json"),
        (b"", {}, 400, "invalid_json"),
        (b"[]", {}, 400, "invalid_json"),
        (b"\xff\xfe{", {}, 400, "invalid_json"),
        (b"[" * 100_000, {}, 400, "invalid_json"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_type"),
        (b"{}", {"content-type": "application/x-www-form-urlencoded"}, 415, "unsupported_type"),
        (b"{}", {"content-encoding": "gzip"}, 415, "unsupported_encoding"),
        (b'{"x": "%b"}' % (b"x" * 2000), {}, 413, "request_too_large"),
    ],
)
async def test_bad_bodies(serving: Serving, body: bytes, headers: dict[str, str], status: int, code: str) -> None:
    server = serving({"output": "Hi"}, body_limit=1024 if status == 413 else 1 << 20)
    answer = await ask(server, body, headers=headers)
    assert (answer.status, error(answer.json)["code"]) == (status, code)


async def test_a_large_body_without_a_length(serving: Serving) -> None:
    server = serving({"output": "Hi"}, body_limit=1024)

    async def parts() -> Any:
        for _ in range(100):
            yield b" " * 100

    answer = await call(server, "POST", PATH, data=parts(), headers={"content-type": "application/json"})
    assert answer.status == 413


async def test_types_that_are_json(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    for kind in ("application/json; charset=utf-8", "application/vnd.api+json", "APPLICATION/JSON"):
        assert (await ask(server, headers={"content-type": kind})).status == 200


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "messages"),
        ({"messages": USER, "temperature": "hot"}, "temperature"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role"),
        ({"messages": USER, "stream": "yes"}, "stream"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_bad_fields_are_named(serving: Serving, fields: dict[str, Any], param: str, stream: bool) -> None:
    server = serving({"output": "Hi"})
    answer = await ask(server, {"stream": stream, **fields})
    assert (answer.status, error(answer.json)["param"]) == (400, param)
    assert answer.headers["content-type"] == "application/json"


async def test_unknown_paths_and_methods(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    missing = await call(server, "GET", "/v1/nothing")
    assert (missing.status, error(missing.json)["code"]) == (404, "unknown_url")
    wrong = await call(server, "GET", PATH)
    assert (wrong.status, error(wrong.json)["code"], wrong.headers["allow"]) == (405, "method_not_allowed", "POST")
    assert (await call(server, "POST", "/v1/models")).headers["allow"] == "GET, HEAD"


async def test_keys(serving: Serving) -> None:
    server = serving({"output": "Hi"}, api_key="sécret")
    for headers in ({}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}, {"authorization": "sécret"}):
        answer = await ask(server, headers=headers)
        found = error(answer.json)
        assert (answer.status, found["type"], found["code"]) == (401, "authentication_error", "invalid_api_key")
        assert answer.headers["www-authenticate"] == "Bearer"
    for headers in ({"authorization": "Bearer sécret"}, {"authorization": "bearer sécret"}, {"x-api-key": "sécret"}):
        assert (await ask(server, headers=headers)).status == 200
    assert (await call(server, "GET", "/v1/models")).status == 401


async def test_the_settings_reach_the_answer(serving: Serving) -> None:
    server = serving({"output": "<think>so</think>Hi"}, reasoning_field="reasoning")
    message = (await ask(server)).json["choices"][0]["message"]
    assert (message["reasoning"], message["content"]) == ("so", "Hi")
    assert "reasoning_content" not in message


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("choice", "finish"), [({"type": "function", "function": {"name": "f"}}, "stop"), ("required", "tool_calls")]
)
async def test_c12_a_named_call_ends_as_the_settings_say(
    serving: Serving, choice: Any, finish: str, stream: bool
) -> None:
    turn = {"output": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'}
    server = serving(turn, finish_reason_named="stop")
    body = {"messages": USER, "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": choice}
    answer = await call(server, "POST", PATH, json={**body, "stream": stream})
    told = json.dumps(answer.json) if not stream else "".join(answer.data)
    assert f'"finish_reason":"{finish}"' in told.replace(": ", ":")


async def test_what_was_ignored_is_told(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    answer = await ask(server, {"messages": USER, "reasoning_effort": "enormous"})
    assert answer.status in (200, 400)
    if answer.status == 200:
        assert "reasoning_effort" in answer.headers["x-dragoman-ignored"]


async def test_every_answer_names_itself(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    answer = await ask(server)
    assert answer.headers["x-request-id"] == answer.json["id"]
    stream = await ask(server, {"messages": USER, "stream": True})
    assert {stream.headers["x-request-id"]} == {json.loads(stream.data[0])["id"]}


@pytest.mark.parametrize("path", ["/v1/responses", PATH, "/v1/messages", "/v1/models"])
async def test_a_websocket_is_refused_in_the_way_that_sends_clients_to_http(serving: Serving, path: str) -> None:
    server = serving({"output": "Hi"})
    key = {"sec-websocket-version": "13", "sec-websocket-key": "c8glOmnQy5aCrsXEcmMXrw=="}
    asked = {"connection": "Upgrade", "upgrade": "websocket", **key}
    answer = await call(server, "GET", path, headers=asked)
    assert answer.status == 426
    assert "ask over HTTP" in answer.json["error"]["message"]
    assert (await ask(server)).status == 200


async def test_half_a_surrogate_pair_in_a_request_is_a_replacement_character(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    body = b'{"messages": [{"role": "user", "content": "a \\ud800 \\ud83d\\ude00 b"}], "stop": ["\\udfff"]}'
    answer = await call(server, "POST", PATH, data=body, headers={"content-type": "application/json"})
    assert answer.status == 200
    prompt, _, _ = server.engine.asked[-1]
    assert "a \ufffd 😀 b" in prompt.text
    unknown = b'{"input": "x", "previous_response_id": "resp_\\ud800"}'
    lost = await call(server, "POST", "/v1/responses", data=unknown, headers={"content-type": "application/json"})
    assert lost.status == 404
