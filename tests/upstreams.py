"""Upstreams made up for tests: a server on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SSE = "text/event-stream"


@dataclass
class Answer:
    """What comes back: parts of a body, written one after the other; then the end, or `breaks` in its middle, or `stays`."""

    parts: Sequence[bytes] = ()
    status: int = 200
    kind: str = SSE
    breaks: bool = False
    stays: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def told(value: Any, status: int = 200) -> Answer:
    """JSON."""
    return Answer([json.dumps(value).encode()], status, "application/json")


def frames(*items: Any, done: bool = True) -> list[bytes]:
    """Data lines."""
    lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return [f"data: {line}\n\n".encode() for line in (*lines, *(["[DONE]"] if done else []))]


def delta(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a chat."""
    piece = {"content": content, **more} if content is not None else more
    return {"id": "x", "choices": [{"index": 0, "delta": piece, "finish_reason": finish}]}


@dataclass
class Fake:
    """One upstream: `answers` by path, each a list that is played in turn (the last one stays) or a function."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    open: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def bodies(self, path: str) -> list[Any]:
        """What was sent to a path."""
        return [body for asked, body in self.asked if asked == path]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer."""
        text = await request.text()
        body = json.loads(text) if text else None
        self.asked.append((request.path_qs, body))
        self.headers.append(dict(request.headers))
        given = self.answers.get(request.path_qs, self.answers.get(request.path, Answer(status=404)))
        if isinstance(given, Callable):
            given = given(body)
        elif isinstance(given, list):
            given = given.pop(0) if len(given) > 1 else given[0]
        return await self._write(request, given)

    async def _write(self, request: web.Request, given: Answer) -> web.StreamResponse:
        response = web.StreamResponse(status=given.status, headers={"content-type": given.kind, **given.headers})
        self.open += 1
        try:
            await response.prepare(request)
            for part in given.parts:
                await response.write(part)
                await asyncio.sleep(0)
            if given.breaks:
                request.transport.abort()
                return response
            if given.stays:
                await asyncio.Event().wait()
            await response.write_eof()
        finally:
            self.open -= 1
            self.closed.set()
        return response


@asynccontextmanager
async def upstream(**answers: Any) -> AsyncIterator[Fake]:
    """Serve; a path's name is written with `_` for `/` (`v1_models`), or given whole by `paths`."""
    paths = answers.pop("paths", {})
    made = {"/" + name.replace("_", "/"): value for name, value in answers.items()}
    fake = Fake(answers={**made, **paths})
    app = web.Application(client_max_size=1 << 26)
    app.router.add_route("*", "/{path:.*}", fake.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    fake.url = f"http://{host}:{port}"
    try:
        yield fake
    finally:
        await runner.cleanup()


@contextmanager
def threaded(**answers: Any) -> Iterator[Fake]:
    """The same in a thread of its own, for tests whose own loop waits for a server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = upstream(**answers)
    try:
        yield asyncio.run_coroutine_threadsafe(made.__aenter__(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(made.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
