"""A server on loopback, in a thread of its own, with a scripted engine or any other."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from dragoman.checks import check_chat_answer, check_chat_stream, check_error
from dragoman.engines.base import Engine
from dragoman.engines.script import Script
from dragoman.server.app import create_app
from dragoman.server.config import Config
from dragoman.server.run import Server, listen
from dragoman.server.service import Service

PATH = "/v1/chat/completions"
USER = [{"role": "user", "content": "Hello"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
        },
    },
}


@dataclass
class Running:
    """A server that runs."""

    url: str
    host: str
    port: int
    service: Service
    server: Server
    thread: threading.Thread
    engines: Sequence[Any]
    loop: list[asyncio.AbstractEventLoop] = field(default_factory=list)

    @property
    def engine(self) -> Any:
        return self.engines[0]

    def stop(self) -> None:
        self.server.should_exit = True

    async def idle(self) -> None:
        """Wait until the engine has no stream open; the test's time-out is the limit."""
        while self.engine.running or self.service.open:
            await asyncio.sleep(0.005)

    async def busy(self, streams: int = 1) -> None:
        """Wait until the engine has this many streams open."""
        while self.engine.running < streams:
            await asyncio.sleep(0.005)


@contextmanager
def running(*engines: Engine, observers: Sequence[Any] = (), **settings: Any) -> Iterator[Running]:
    """Serve with these engines until the block ends."""
    config = Config(port=0, **{"shutdown": 0.0, "api_key": "", "state": "memory", **settings})
    app = create_app(config, engines=engines, observers=observers)
    loaded = threading.Event()
    server = Server(app, config, lambda _: loaded.set())
    listener = listen(config)
    host, port = listener.getsockname()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        loaded.wait(120)
        yield Running(f"http://{host}:{port}", host, port, app.state.service, server, thread, engines)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture
def serving() -> Iterator[Callable[..., Running]]:
    """Start servers that end with the test: `serving({"output": "Hi"}, ..., keep_alive=0.1)`."""
    with ExitStack() as stack:

        def start(*turns: dict[str, Any], script: dict[str, Any] | None = None, **settings: Any) -> Running:
            data = {"model": "demo", "dialect": "hermes-json", "turn": list(turns), **(script or {})}
            return stack.enter_context(running(Script(data), **settings))

        yield start


@dataclass
class Answer:
    """What came back: a status, headers, the body, and the messages of a stream."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> list[str]:
        """The data of each event of a stream."""
        return [line[6:] for line in self.body.decode().split("\n") if line.startswith("data: ")]

    @property
    def chunks(self) -> list[Any]:
        return [json.loads(data) for data in self.data if data != "[DONE]"]


async def ask(server: Running, body: Any = None, *, path: str = PATH, **request: Any) -> Answer:
    """Post a request (bytes as they are, else as JSON), read the whole answer, and hold it against the rulebook."""
    body = {"messages": USER} if body is None else body
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"content-type": "application/json", **request.pop("headers", {})}
    answer = await call(server, "POST", path, data=data, headers=headers)
    check(answer, {} if isinstance(body, bytes) else body)
    return answer


def check(answer: Answer, request: dict[str, Any]) -> None:
    """Every rule that a client relies on."""
    if answer.status != 200:
        found = [*check_error(answer.json)]
    elif answer.headers["content-type"].startswith("text/event-stream"):
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        assert "content-length" not in answer.headers
        found = check_chat_stream(answer.body, request=request)
    else:
        found = check_chat_answer(answer.json, request=request)
    assert not found, found


async def call(server: Running, method: str, path: str, **options: Any) -> Answer:
    """Any request."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, server.url + path, **options) as response,
    ):
        return Answer(response.status, response.headers, await response.read())


def joined(chunks: list[Any], index: int = 0) -> dict[str, Any]:
    """The deltas of a choice, added up as a client does."""
    text: dict[str, Any] = {"content": "", "reasoning_content": "", "calls": {}, "finish": None}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            for key in ("content", "reasoning_content"):
                text[key] += delta.get(key) or ""
            for piece in delta.get("tool_calls", ()):
                call = text["calls"].setdefault(piece["index"], {"name": "", "arguments": ""})
                for key in call:
                    call[key] += piece["function"].get(key) or ""
            text["finish"] = choice["finish_reason"] or text["finish"]
    return text
