"""Web pages and the names that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import PATH, USER, Running, call

Serving = Callable[..., Running]


async def post(server: Running, path: str = PATH, **headers: str) -> Any:
    body = {"model": "m", "messages": USER, "max_tokens": 5, "stream": False}
    return await call(server, "POST", path, json=body, headers=headers)


async def test_no_page_may_use_it(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    for origin in ("https://evil.example", "http://localhost:3000", "null", "http://127.0.0.1"):
        answer = await post(server, origin=origin)
        assert answer.status == 403, origin
        assert "access-control-allow-origin" not in answer.headers
        preflight = {"origin": origin, "access-control-request-method": "POST"}
        asked = await call(server, "OPTIONS", PATH, headers=preflight)
        assert "access-control-allow-origin" not in asked.headers
    assert not server.engine.asked


async def test_its_own_pages_and_programs_may(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    for origin in (server.url, "app://obsidian.md", "tauri://localhost"):
        assert (await post(server, origin=origin)).status == 200, origin
    assert (await call(server, "GET", "/v1/models", headers={"origin": "https://evil.example"})).status == 200


async def test_pages_that_were_let_in(serving: Serving) -> None:
    server = serving({"output": "Hi"}, cors_origins="https://one.example https://two.example")
    for origin in ("https://one.example", "https://two.example"):
        answer = await post(server, origin=origin)
        assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, origin)
    asked = await call(
        server,
        "OPTIONS",
        PATH,
        headers={
            "origin": "https://two.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization",
        },
    )
    assert asked.status == 200
    assert "authorization" in asked.headers["access-control-allow-headers"]
    assert (await post(server, origin="https://three.example")).status == 403


async def test_every_page(serving: Serving) -> None:
    server = serving({"output": "Hi"}, cors_origins="*")
    answer = await post(server, origin="https://any.example")
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")


@pytest.mark.parametrize("path", [PATH, "/v1/messages", "/api/chat"])
async def test_a_name_that_is_not_ours(serving: Serving, path: str) -> None:
    server = serving({"output": "Hi"})
    answer = await post(server, path, host="evil.example")
    assert answer.status == 403
    assert "evil.example" in str(answer.json["error"])
    assert (await call(server, "GET", "/v1/models", headers={"host": "evil.example:80"})).status == 403
    for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "mybox", "host.docker.internal:80"):
        assert (await post(server, path, host=host)).status == 200, host


async def test_names_that_are_ours(serving: Serving) -> None:
    server = serving({"output": "Hi"}, hosts="llm.example other.example")
    assert (await post(server, host="llm.example:443")).status == 200
    assert (await post(server, host="localhost")).status == 403


async def test_who_has_a_key_asks_for_any_name(serving: Serving) -> None:
    server = serving({"output": "Hi"}, api_key="secret")
    assert (await post(server, host="llm.example", authorization="Bearer secret")).status == 200
