"""Endpoints: what stands behind a path.  `Answers` runs a model, `Reports` tells what is known, `Replies` works something out.

They are plain ASGI: they must see the connection themselves, from the first instant (see `serve`).
Every failure before the first byte is told in the words of the endpoint's protocol.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import DragomanError, RequestError, UnsupportedFeature
from ..protocols import chat
from ..protocols import wire as json
from .caller import Caller
from .exchange import Exchange
from .http import Left, advice, header, read_json, send_json
from .limits import check_request
from .prepare import call_id, unenforced
from .serve import serve, stopping
from .service import Service
from .wire import Fails, Spoken, Wire, refusal

__all__ = ["Answers", "Refusals", "Replies", "Reports", "allow", "both", "refuse"]

_log = logging.getLogger(__name__)

Tell = Callable[[Service, Scope], tuple[int, Any] | Awaitable[tuple[int, Any]]]
Reply = Callable[[Service, Mapping[str, Any]], Awaitable[Any]]


def both(path: str, endpoint: Any) -> list[Route]:
    """The path as it is, and under /v1: clients differ in which of the two their base URL ends with."""
    return [Route(f"/v1{path}", endpoint), Route(path, endpoint)]


class Answers:
    """The endpoint of a protocol: a request comes, an answer goes.

    Args:
        service: the server.
        protocol: the module that knows the words.
        prefix: what the ids of answers begin with.
    """

    typed = True  # the request must say that it is JSON, if it says anything

    def __init__(self, service: Service, protocol: Spoken, prefix: str) -> None:
        self.service, self.protocol, self.prefix = service, protocol, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        began = asyncio.get_running_loop().time()
        try:
            exchange, wire = await self._read(scope, receive, began)
        except Left:
            return
        except DragomanError as error:
            await refuse(scope, send, self.protocol, error)
            return
        with self.service.watching(exchange):
            await self.respond(exchange, wire, receive, send)

    async def respond(self, exchange: Exchange, wire: Wire, receive: Receive, send: Send) -> None:
        """Answer a request that was read."""
        await serve(exchange, wire, receive, send, self.service.settings(exchange), self.service.observers)

    async def _read(self, scope: Scope, receive: Receive, began: float) -> tuple[Exchange, Wire]:
        """Everything that can be checked before an engine is asked."""
        service = self.service
        allow(scope, "POST")
        caller = service.admit(scope, began)
        data = await read_json(scope, receive, service.config.body_limit, typed=self.typed)
        if service.draining:
            raise stopping()
        service.withdrawn.check(caller)
        exchange, wire = await self._open(data, caller)
        exchange.path, exchange.body = scope["path"], data
        exchange.protocol = getattr(self.protocol, "__name__", "").rpartition(".")[2]
        return exchange, wire

    async def _open(self, data: Mapping[str, Any], caller: Caller) -> tuple[Exchange, Wire]:
        """What was asked, and how it is to be answered."""
        request, settings = self.protocol.read_request(data, self._defaults())
        check_request(request, self.service.config)
        served = self.service.writer(request.model)
        settings.ignored += unenforced(request, served)
        answer_id = self.prefix + secrets.token_hex(12)
        wire = Wire(self.protocol, request, settings, answer_id=answer_id, model=served.name, ids=self.ids)
        return Exchange(answer_id, served, request, settings.stream, caller.began, caller), wire

    def ids(self) -> str:
        """An id for a call."""
        return call_id()

    def _defaults(self) -> Any:
        """The protocol's settings; those that the server has by the same name are the server's."""
        config, settings = self.service.config, self.protocol.Settings
        shared = (setting.name for setting in fields(settings) if hasattr(config, setting.name))
        return settings(**{name: getattr(config, name) for name in shared})


class Reports:
    """An endpoint that tells something as JSON.

    Args:
        service: the server.
        tell: makes the status and the value.
        is_open: needs no API key.
        protocol: tells errors in its words.
    """

    def __init__(self, service: Service, tell: Tell, *, is_open: bool = False, protocol: Fails = chat) -> None:
        self.service, self.tell, self.is_open, self.protocol = service, tell, is_open, protocol

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Answer."""
        try:
            allow(scope, "GET", "HEAD")
            if not self.is_open:
                self.service.authorize(scope)
            told = self.tell(self.service, scope)
            status, value = told if isinstance(told, tuple) else await told
        except DragomanError as error:
            await refuse(scope, send, self.protocol, error)
            return
        await send_json(send, status, json.dump(value))


class Replies:
    """An endpoint that takes JSON and answers with JSON, without running a model.

    Args:
        service: the server.
        reply: makes the value from the request.
        protocol: tells errors in its words.
        typed: the request must say that it is JSON, if it says anything.
    """

    def __init__(self, service: Service, reply: Reply, *, protocol: Fails = chat, typed: bool = True) -> None:
        self.service, self.reply, self.protocol, self.typed = service, reply, protocol, typed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        try:
            allow(scope, "POST")
            self.service.authorize(scope)
            data = await read_json(scope, receive, self.service.config.body_limit, typed=self.typed)
            value = await self.reply(self.service, data)
        except Left:
            return
        except DragomanError as error:
            await refuse(scope, send, self.protocol, error)
            return
        await send_json(send, 200, json.dump(value))


class Refusals:
    """An endpoint of what is not offered here (501), whatever the method.

    Args:
        service: the server.
        why: what the client is told.
        protocol: tells it in its words.
    """

    def __init__(self, service: Service, why: str, *, protocol: Fails = chat) -> None:
        self.service, self.why, self.protocol = service, why, protocol

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Refuse."""
        try:
            self.service.authorize(scope)
            raise UnsupportedFeature(self.why, code="not_offered", status=501)
        except DragomanError as error:
            await refuse(scope, send, self.protocol, error)


class _WrongMethod(RequestError):
    """A path was asked in a way that it does not answer to."""

    def __init__(self, scope: Scope, methods: Sequence[str]) -> None:
        self.allow = ", ".join(methods)
        problem = f"{scope['path']} takes {self.allow}; this was {scope['method']}"
        super().__init__(problem, code="method_not_allowed", status=405)


def allow(scope: Scope, *methods: str) -> None:
    """Refuse every other method (405), and a WebSocket (426: Codex then takes HTTP at once, and else tries seven times)."""
    if header(scope, b"upgrade").lower() == "websocket":
        raise RequestError("WebSockets are not offered here; ask over HTTP", code="no_websocket", status=426)
    if scope["method"] not in methods:
        raise _WrongMethod(scope, methods)


async def refuse(scope: Scope, send: Send, protocol: Fails, error: DragomanError) -> None:
    """Tell an error before the first byte."""
    status, body = refusal(protocol, error)
    level = logging.INFO if scope["method"] == "POST" else logging.DEBUG  # health checks come every second
    _log.log(level, "refused %s %s: %d %s", scope["method"], scope["path"], status, error)
    await send_json(send, status, body, advice(error))
