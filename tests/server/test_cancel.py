"""Cancel by an id, from another connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from dragoman.server.keys import digest

from .conftest import PATH, USER, Running, ask, call

Serving = Callable[..., Running]
STALL = {"output": "one two", "after": 1, "stall": True}
BODY = {"model": "m", "messages": USER, "max_tokens": 50}
PATHS = [PATH, "/v1/messages", "/v1/completions", "/api/chat"]


def cancel_path(path: str, asked: str) -> str:
    return f"/api/cancel/{asked}" if path.startswith("/api") else f"{path}/{asked}/cancel"


def asks(path: str, stream: bool) -> dict[str, Any]:
    return {**BODY, "stream": stream, **({"prompt": "Hi"} if path.endswith("/completions") else {})}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [False, True])
async def test_by_the_clients_own_id(serving: Serving, path: str, stream: bool) -> None:
    server = serving(STALL)
    headers = {"x-request-id": "mine-1"}
    asked = asyncio.create_task(call(server, "POST", path, json=asks(path, stream), headers=headers))
    await server.busy()
    ended = await call(server, "POST", cancel_path(path, "mine-1"))
    assert ended.status == 200
    assert len(ended.json["cancelled"]) == 1
    answer = await asked
    await server.idle()
    assert "cancelled" in answer.body.decode()
    assert answer.status == (200 if stream else 499)
    assert b"[DONE]" not in answer.body


async def test_by_the_answers_id(serving: Serving) -> None:
    server = serving(STALL)
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.url + PATH, json={**BODY, "stream": True}) as response,
    ):
        first = json.loads((await response.content.readline())[6:])
        assert response.headers["x-request-id"] == first["id"]
        ended = await call(server, "POST", f"{PATH}/{first['id']}/cancel")
        assert ended.json == {"id": first["id"], "cancelled": [first["id"]]}
        assert b"cancelled" in await response.read()
    await server.idle()


@pytest.mark.parametrize("path", [*PATHS, "/v1/responses"])
async def test_before_the_request_has_come(serving: Serving, path: str) -> None:
    server = serving({"output": "Hi"})
    assert (await call(server, "POST", "/v1/cancel/early")).status == 202
    body = {**asks(path, stream=False), "input": "Hi"}
    refused = await call(server, "POST", path, json=body, headers={"x-request-id": "early"})
    assert refused.status == 499
    assert "before it came" in refused.body.decode()
    assert not server.engine.asked
    again = await call(server, "POST", path, json=body, headers={"x-request-id": "early"})
    assert again.status == 200


async def test_a_queued_request_is_withdrawn(serving: Serving) -> None:
    server = serving(STALL, script={"places": 1})
    first = asyncio.create_task(ask(server, headers={"x-request-id": "a"}))
    await server.busy()
    second = asyncio.create_task(ask(server, headers={"x-request-id": "b"}))
    gate = next(iter(server.service.roster)).gate
    while not gate.waiting:
        await asyncio.sleep(0.005)
    assert (await call(server, "POST", "/v1/cancel/b")).status == 200
    assert (await second).status == 499
    assert gate.waiting == 0
    assert len(server.engine.asked) == 1
    await call(server, "POST", "/v1/cancel/a")
    assert (await first).status == 499
    await server.idle()
    assert gate.taken == 0


@pytest.mark.parametrize("store", [True, False])
async def test_a_response_that_runs_in_the_foreground(serving: Serving, store: bool) -> None:
    server = serving(STALL)
    body = {"input": "Hi", "stream": True, "store": store}
    async with aiohttp.ClientSession() as session, session.post(server.url + "/v1/responses", json=body) as response:
        await response.content.readline()
        made = json.loads((await response.content.readline())[6:])["response"]["id"]
        ended = await call(server, "POST", f"/v1/responses/{made}/cancel")
        assert (ended.status, ended.json["status"]) == (200, "cancelled")
        assert (await response.read()).strip()
    await server.idle()


async def test_a_key_cancels_its_own_requests_only(serving: Serving, tmp_path: Any) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("".join(f'[[key]]\nname="{name}"\nhash="{digest(name.encode())}"\n' for name in ("a", "b")))
    server = serving(STALL, keys=str(path))
    asked = asyncio.create_task(ask(server, headers={"x-api-key": "a", "x-request-id": "id"}))
    await server.busy()
    assert (await call(server, "POST", "/v1/cancel/id", headers={"x-api-key": "b"})).status == 202
    assert (await call(server, "POST", "/v1/cancel/id")).status == 401
    assert not asked.done()
    assert (await call(server, "POST", "/v1/cancel/id", headers={"x-api-key": "a"})).status == 200
    assert (await asked).status == 499


async def test_only_so_many_ids_are_remembered(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    for number in range(1100):
        server.service.withdrawn.cancel(str(number), next(iter([server.service.keys.find({"headers": []})])), 0.0, ())
    assert len(server.service.withdrawn._early) == 1000
