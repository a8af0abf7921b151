"""The live stream of a server's turns, for a page that watches them: server-sent events that carry only what changed.

It looks at the turn log a few times a second, and only while somebody watches: a token costs nothing more because of it.

    event: turn    a turn that is new or has changed, as in a list
    event: grow    what came for the turns that run: [[id, kind, text], ...]
    event: state   models, queues, and the last minutes in numbers
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import DragomanError
from ..events import CallArgs, CallStart, Content, Notice, Reasoning
from ..protocols import chat
from ..protocols import wire as json
from ..state.log import Record
from .endpoints import Reports, allow, refuse
from .http import start
from .service import Service
from .turns import mine, summary

__all__ = ["routes"]

_PAUSE = 0.15  # seconds between two looks
_STATE = 2.0  # seconds between two numbers
_BACKLOG = 50  # turns that a new watcher is told of
_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}


def routes(service: Service) -> list[Route]:
    """The live stream, and its numbers alone."""
    return [Route("/dragoman/live", _Live(service)), Route("/dragoman/state", Reports(service, _state))]


class _Live:
    """The endpoint."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer until the watcher leaves, or the server stops."""
        try:
            allow(scope, "GET")
            watch = _Watch(self.service, scope)
        except DragomanError as error:
            await refuse(scope, send, chat, error)
            return
        await send(start(200, _HEADERS))
        left = asyncio.create_task(_departure(receive))
        try:
            while not left.done() and not self.service.draining:
                if frames := watch.look():
                    await send({"type": "http.response.body", "body": frames, "more_body": True})
                await asyncio.wait({left}, timeout=_PAUSE)
        finally:
            left.cancel()
        await send({"type": "http.response.body", "body": b""})


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Watch:
    """What one watcher has seen."""

    def __init__(self, service: Service, scope: Scope) -> None:
        self._service, self._scope = service, scope
        self._open: dict[str, tuple[Record, int]] = {}  # those that ran at the last look, and how much was told of each
        self._latest: set[str] = set()
        self._next_state = 0.0
        mine(service, scope)

    def look(self) -> bytes:
        """The frames for what changed since the last look; a turn's end comes behind its last words.

        A turn is followed to its end, however many began after it, and though the log may have forgotten it by then.
        """
        new = self._begun()
        watched = [*self._open.values(), *((record, 0) for record in new)]
        grown = [[record.id, kind, text] for record, told in watched for kind, text in _growth(record, told)]
        ended = [record for record, _ in watched if record.outcome != "open"]
        self._open = {record.id: (record, len(record.told)) for record, _ in watched if record.outcome == "open"}
        frames = [_frame("turn", summary(record)) for record in new if record.outcome == "open"]
        frames += [_frame("grow", grown)] if grown else []
        frames += [_frame("turn", summary(record)) for record in ended]
        return b"".join(frames) + self._numbers()

    def _begun(self) -> list[Record]:
        """The turns that began since the last look, the oldest first; at the first look the latest of all."""
        turns = mine(self._service, self._scope)
        if self._latest:
            turns = takewhile(lambda record: record.id not in self._latest, turns)
        else:
            turns = islice(turns, _BACKLOG)
        new = [record for record in turns if record.id not in self._open]
        if new:
            self._latest = {record.id for record in islice(mine(self._service, self._scope), _BACKLOG)}
        return new[::-1]

    def _numbers(self) -> bytes:
        now = asyncio.get_running_loop().time()
        if now < self._next_state:
            return b""
        self._next_state = now + _STATE
        return _frame("state", _state(self._service, self._scope)[1])


def _frame(event: str, data: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event.encode(), json.dump(data))


def _growth(record: Record, told: int) -> Iterator[tuple[str, str]]:
    """What came since, neighbours of one kind together."""
    kind, texts = "", list[str]()
    for event in record.told[told:]:
        new, text = _shown(event)
        if new != kind and texts:
            yield kind, "".join(texts)
            texts = []
        kind = new or kind
        if text:
            texts.append(text)
    if texts:
        yield kind, "".join(texts)


def _shown(event: Any) -> tuple[str, str]:
    match event:
        case Content():
            return "content", event.text
        case Reasoning():
            return "reasoning", event.text
        case CallStart():
            return "call", f"\n{event.name} "
        case CallArgs():
            return "call", event.json
        case Notice():
            return "notice", f" [{event.code}] "
    return "", ""


def _state(service: Service, _: Scope) -> tuple[int, Any]:
    """Models and engines as they are, and the last hour."""
    return 200, {
        "ready": service.roster.ready,
        "problem": "" if service.roster.ready else str(service.roster.problem),
        "running": len(service.open),
        "models": [
            {
                "name": served.name,
                "dialect": served.dialect.name,
                "chosen": served.why,
                "engine": served.engine.name,
                "context": served.info.context,
                "marks": {mark: served.info.specials[mark] for mark in served.marks},
                "places": served.gate.places,
                "taken": served.gate.taken,
                "waiting": served.gate.waiting,
                **service.gauge.model(served.label),
            }
            for served in service.roster
        ],
        "history": service.gauge.history(),
    }
