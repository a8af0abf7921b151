"""The life of a server: loading, failing, draining."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from dragoman.engines.base import ModelInfo
from dragoman.engines.script import Script
from dragoman.errors import EngineError, Unreachable
from dragoman.server.app import create_app
from dragoman.server.config import Config
from dragoman.server.run import listen, run

from .conftest import PATH, USER, Answer, Running, ask, call, running

Serving = Callable[..., Running]
LONG = "word " * 5000


class Slow(Script):
    """An engine that loads until it is told not to."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__({"model": "slow", "dialect": "hermes-json", "turn": [{"output": "Hi"}]})
        self.go, self.failure = asyncio.Event(), failure

    async def start(self) -> None:
        await self.go.wait()
        if self.failure:
            raise self.failure


async def talk(app: Any, path: str, method: str = "GET") -> int:
    """The status of a request, without a network."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b'{"messages": [{"role": "user", "content": "Hi"}]}'}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b"", "app": app}
    await app(scope, receive, send)
    return int(sent[0]["status"])


async def test_loading_is_a_503() -> None:
    engine = Slow()
    app = create_app(Config(), engines=[engine])
    async with app.state.service as service:
        await asyncio.sleep(0)
        for path, method in (("/health", "GET"), ("/v1/models", "GET"), (PATH, "POST")):
            assert await talk(app, path, method) == 503
        assert await talk(app, "/") == 200
        engine.go.set()
        await service.loading
        assert await talk(app, "/health") == 200


async def test_a_model_that_does_not_load_is_told() -> None:
    engine = Slow(Unreachable("no such file"))
    app = create_app(Config(), engines=[engine])
    async with app.state.service as service:
        engine.go.set()
        await service.loading
        assert await talk(app, "/health") == 503
        assert "no such file" in str(service.roster.problem)


async def test_a_server_stops_while_it_loads() -> None:
    app = create_app(Config(), engines=[Slow()])
    async with app.state.service:
        await asyncio.sleep(0)


def test_a_server_without_its_model_ends() -> None:
    engine = Slow(Unreachable("no such file"))
    engine.go.set()
    config = Config(port=0)
    with pytest.raises(EngineError, match="no such file"):
        run(create_app(config, engines=[engine]), config, listen(config), lambda _: None)


async def streaming(server: Running, lines: list[bytes]) -> None:
    body = {"messages": USER, "stream": True}
    async with aiohttp.ClientSession() as session, session.post(server.url + PATH, json=body) as response:
        async for line in response.content:
            lines.append(line)  # noqa: PERF401 (the test looks while it grows)


async def test_a_stream_is_ended_properly_when_the_server_stops(serving: Serving) -> None:
    server = serving({"output": LONG, "pause": 0.001})
    lines: list[bytes] = []
    task = asyncio.create_task(streaming(server, lines))
    while not lines:
        await asyncio.sleep(0.005)
    server.stop()
    await task  # no transport error: the body was ended as it should be
    assert b'"error"' in lines[-2]
    assert b"the server is stopping" in lines[-2]
    assert b"data: [DONE]\n" not in lines
    await asyncio.to_thread(server.thread.join)
    assert server.engine.running == 0


async def test_a_whole_answer_is_ended_properly_when_the_server_stops(serving: Serving) -> None:
    server = serving({"output": LONG, "pause": 0.001})
    task = asyncio.create_task(ask(server))
    await server.busy()
    server.stop()
    answer = await task
    assert (answer.status, "the server is stopping" in answer.json["error"]["message"]) == (503, True)


async def test_answers_that_end_in_time_end_by_themselves(serving: Serving) -> None:
    server = serving({"output": "one two three four", "pause": 0.05}, shutdown=60.0)
    task = asyncio.create_task(ask(server))
    await server.busy()
    server.stop()
    answer: Answer = await task
    assert answer.json["choices"][0]["message"]["content"] == "one two three four"


async def test_a_draining_server_takes_no_more(serving: Serving) -> None:
    server = serving({"output": "Hi"}, shutdown=60.0)
    server.service.draining = True
    for answer in (await ask(server), await call(server, "GET", "/health")):
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")


async def test_a_server_that_gives_up_on_its_tasks_still_ends_them() -> None:
    """What uvicorn does to an application that it does not know: it cancels."""
    app = create_app(
        Config(), engines=[Script({"model": "m", "dialect": "hermes-json", "turn": [{"output": LONG, "pause": 0.001}]})]
    )
    sent: list[Any] = []
    asked = [{"type": "http.request", "body": b'{"messages": [{"role": "user", "content": "Hi"}], "stream": true}'}]

    async def receive() -> Any:
        if asked:
            return asked.pop()
        await asyncio.Event().wait()
        return None

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": PATH, "headers": [], "query_string": b"", "app": app}
    async with app.state.service as service:
        await service.loading
        task = asyncio.create_task(app(scope, receive, send))
        while len(sent) < 5:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait({task})
        assert not service.open
    assert b"the server is stopping" in b"".join(message.get("body", b"") for message in sent)
    assert not sent[-1]["more_body"]


async def test_two_engines() -> None:
    engines = [Script({"model": name, "dialect": "hermes-json", "turn": [{"output": name}]}) for name in ("a", "b")]
    with running(*engines) as server:
        for name in ("a", "b"):
            answer = await ask(server, {"model": name, "messages": USER})
            assert answer.json["choices"][0]["message"]["content"] == name
        missing = await ask(server, {"model": "c", "messages": USER})
        assert missing.status == 404
        assert "'a', 'b'" in missing.json["error"]["message"]


def test_an_unknown_dialect_says_what_to_type() -> None:
    class Mute(Script):
        async def models(self) -> list[ModelInfo]:
            return [ModelInfo("mute")]

    config = Config(port=0)
    with pytest.raises(EngineError, match="--dialect"):
        run(create_app(config, engines=[Mute({"model": "x"})]), config, listen(config), lambda _: None)
