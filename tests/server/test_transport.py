"""What all protocols share on the wire, on connections of our own making: headers, frames, ends, bodies, health."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from .conftest import Running, call

Serving = Callable[..., Running]

HELLO: Any = [{"role": "user", "content": "Hello"}]
CHAT = {"messages": HELLO}
STREAMS: list[Any] = [
    ("/v1/chat/completions", CHAT),
    ("/v1/responses", {"input": "Hello"}),
    ("/v1/messages", {"messages": HELLO, "max_tokens": 9}),
    ("/v1/completions", {"prompt": "Hello"}),
    ("/api/chat", CHAT),
    ("/api/generate", {"prompt": "Hello"}),
]
each_stream = pytest.mark.parametrize(("path", "body"), STREAMS, ids=[path for path, _ in STREAMS])
SCRIPT = {"cut": [2], "turn": [{"output": "Hello \u00e9\U0001f99c there."}]}


async def raw(server: Running, sent: bytes) -> tuple[bytes, bytes]:
    """What comes back on a connection: the head, and the rest."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(sent)
    await writer.drain()
    got = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, rest = got.partition(b"\r\n\r\n")
    return head.lower(), rest


def post(path: str, body: Any, *headers: str) -> bytes:
    data = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "host: h", "content-type: application/json", "connection: close", *headers]
    return "\r\n".join([*lines, f"content-length: {len(data)}", "", ""]).encode() + data


@each_stream
async def test_s01_a_stream_has_its_headers(serving: Serving, path: str, body: Any) -> None:
    head, _ = await raw(serving(script=SCRIPT), post(path, {**body, "stream": True}))
    kind = b"application/x-ndjson" if path.startswith("/api/") else b"text/event-stream"
    assert head.startswith(b"http/1.1 200")
    assert b"content-type: " + kind in head
    assert b"cache-control: no-cache" in head
    assert b"x-accel-buffering: no" in head
    assert b"content-length" not in head


@each_stream
async def test_s01_a_wrong_request_gets_a_status_and_no_stream(serving: Serving, path: str, body: Any) -> None:
    server = serving(script=SCRIPT)
    wrong = dict.fromkeys(body, 5)
    answer = await call(server, "POST", path, json={**wrong, "stream": True})
    assert answer.status == 400
    assert answer.headers["content-type"].startswith("application/json")


@each_stream
async def test_s04_no_ids_no_retries_no_events_without_data(serving: Serving, path: str, body: Any) -> None:
    answer = await call(serving(script=SCRIPT), "POST", path, json={**body, "stream": True})
    for block in answer.body.split(b"\n\n"):
        names = [line.partition(b":")[0] for line in block.split(b"\n") if line and not path.startswith("/api/")]
        assert set(names) <= {b"", b"data", b"event"}
        assert b"data" in names or b"event" not in names


@each_stream
async def test_s06_the_body_is_closed_properly(serving: Serving, path: str, body: Any) -> None:
    head, rest = await raw(serving(script=SCRIPT), post(path, {**body, "stream": True}))
    assert b"transfer-encoding: chunked" in head
    assert rest.endswith(b"\r\n0\r\n\r\n")
    last = rest.removesuffix(b"\r\n0\r\n\r\n").rstrip(b"\n").rpartition(b"\n")[2]
    ends = {"/v1/responses": b"[DONE]", "/v1/messages": b'"message_stop"'}
    assert ends.get(path, b'"done":true' if path.startswith("/api/") else b"[DONE]") in last


@each_stream
async def test_s11_a_body_in_chunks(serving: Serving, path: str, body: Any) -> None:
    data = json.dumps(body).encode()

    async def pieces() -> Any:
        for at in range(0, len(data), 7):
            yield data[at : at + 7]

    server = serving(script=SCRIPT)
    answer = await call(server, "POST", path, data=pieces(), headers={"content-type": "application/json"})
    assert answer.status == 200


async def test_s11_a_client_that_waits_to_be_told_to_go_on(serving: Serving) -> None:
    server = serving(script=SCRIPT)
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{server.url}/v1/chat/completions", json=CHAT, expect100=True)
        assert (await answer.json())["choices"]


async def test_s11_a_large_body(serving: Serving) -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "x" * 2000}}
    tools = [{**tool, "function": {**tool["function"], "name": f"f{n}"}} for n in range(60)]  # type: ignore[dict-item]
    answer = await call(serving(script=SCRIPT), "POST", "/v1/chat/completions", json={**CHAT, "tools": tools})
    assert answer.status == 200


@pytest.mark.parametrize("path", ["/", "/health", "/v1/models"])
async def test_s12_well_is_told_to_those_who_only_look(serving: Serving, path: str) -> None:
    server = serving(script=SCRIPT)
    got, head = await call(server, "GET", path), await call(server, "HEAD", path)
    assert got.status == head.status == 200
    assert got.json
    assert head.body == b""


async def test_l05_health_is_a_status(serving: Serving) -> None:
    assert (await call(serving(script=SCRIPT), "GET", "/health")).json == {"status": "ok"}


async def test_l06_metrics_are_numbers_by_name(serving: Serving) -> None:
    server = serving(script=SCRIPT)
    await call(server, "POST", "/v1/chat/completions", json=CHAT)
    answer = await call(server, "GET", "/metrics")
    assert answer.status == 200
    lines = [line for line in answer.body.decode().splitlines() if line and not line.startswith("#")]
    assert lines
    assert all(float(line.rpartition(" ")[2]) >= 0 for line in lines)


async def test_l02_models_tell_their_context(serving: Serving) -> None:
    server = serving(script={**SCRIPT, "model": "maker/demo-1:q4", "context": 512})
    (card,) = (await call(server, "GET", "/v1/models")).json["data"]
    assert card == (await call(server, "GET", "/v1/models/maker/demo-1:q4")).json
    assert {"id", "object", "created", "owned_by"} <= card.keys()
    assert card["context_window"] == card["max_model_len"] == card["meta"]["n_ctx"] == 512
    missing = await call(server, "GET", "/v1/models/other")
    assert (missing.status, missing.json["error"]["code"]) == (404, "model_not_found")


async def test_c11_each_choice_ends_once(serving: Serving) -> None:
    server = serving(script=SCRIPT)
    answer = await call(server, "POST", "/v1/chat/completions", json={**CHAT, "n": 3, "stream": True})
    chunks = [json.loads(line[6:]) for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
    ends = [choice for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"] is not None]
    assert sorted(choice["index"] for choice in ends) == [0, 1, 2]
    assert all(choice["delta"] == {} and choice["finish_reason"] == "stop" for choice in ends)


async def test_c18_no_refusal_is_null(serving: Serving) -> None:
    answer = await call(serving(script=SCRIPT), "POST", "/v1/chat/completions", json=CHAT)
    assert answer.json["choices"][0]["message"]["refusal"] is None
