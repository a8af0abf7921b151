"""The application: which path is answered by what, and the life of the server around it.

Endpoints are plain ASGI: they must see the connection themselves, from the first instant (see `serve`).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as Query
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..engines.base import Engine
from ..errors import Cancelled, DragomanError, RequestError
from ..protocols import chat
from ..protocols import wire as json
from .config import Config
from .exchange import Exchange
from .http import authorize, read_json, send_json
from .observe import Observer
from .roster import Served
from .serve import call_id, serve, stopping
from .service import Service
from .wire import Spoken, Wire, refusal

__all__ = ["create_app"]

_log = logging.getLogger(__name__)


def create_app(
    config: Config | None = None, *, engines: Sequence[Engine] | None = None, observers: Sequence[Observer] = ()
) -> Starlette:
    """The server as an ASGI application, for any ASGI server.

    Args:
        config: its settings; by default those of the environment.
        engines: what runs models; by default the one that the settings name.
        observers: who else sees every answer.
    """
    service = Service(config or Config(), engines, observers)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        async with service:
            yield

    app = Starlette(
        lifespan=life,
        routes=[
            *_both("/chat/completions", Answers(service, chat, "chatcmpl-")),
            *_both("/models", Reports(service, _models)),
            *_both("/models/{model:path}", Reports(service, _model)),
            Route("/health", Reports(service, _health, is_open=True)),
            Route("/", Reports(service, _root, is_open=True)),
        ],
        exception_handlers={HTTPException: _unknown},
    )
    app.state.service = service
    return app


def _both(path: str, endpoint: Any) -> list[Route]:
    """The path as it is, and under /v1: clients differ in which of the two their base URL ends with."""
    return [Route(f"/v1{path}", endpoint), Route(path, endpoint)]


class Answers:
    """The endpoint of a protocol: a request comes, an answer goes.

    Args:
        service: the server.
        protocol: the module that knows the words.
        prefix: what the ids of answers begin with.
    """

    def __init__(self, service: Service, protocol: Spoken, prefix: str) -> None:
        self.service, self.protocol, self.prefix = service, protocol, prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        began = asyncio.get_running_loop().time()
        try:
            exchange, wire = await self._read(scope, receive, began)
        except Cancelled:
            return
        except DragomanError as error:
            await _refuse(scope, send, self.protocol, error)
            return
        with self.service.watching(exchange):
            await serve(exchange, wire, receive, send, self.service.config, self.service.observers)

    async def _read(self, scope: Scope, receive: Receive, began: float) -> tuple[Exchange, Wire]:
        """Everything that can be checked before an engine is asked."""
        service = self.service
        _allow(scope, "POST")
        authorize(scope, service.config.api_key)
        data = await read_json(scope, receive, service.config.body_limit)
        if service.draining:
            raise stopping()
        request, settings = self.protocol.read_request(data, self._defaults())
        served = service.roster.pick(request.model)
        answer_id = self.prefix + secrets.token_hex(12)
        wire = Wire(self.protocol, request, settings, answer_id=answer_id, model=served.name, ids=call_id)
        return Exchange(answer_id, served, request, settings.stream, began), wire

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
    """

    def __init__(self, service: Service, tell: Any, *, is_open: bool = False) -> None:
        self.service, self.tell, self.is_open = service, tell, is_open

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Answer."""
        try:
            _allow(scope, "GET", "HEAD")
            if not self.is_open:
                authorize(scope, self.service.config.api_key)
            status, value = self.tell(self.service, scope)
        except DragomanError as error:
            await _refuse(scope, send, chat, error)
            return
        await send_json(send, status, json.dump(value))


def _health(service: Service, _: Scope) -> tuple[int, Any]:
    roster = service.roster
    if service.draining:
        raise stopping()
    if not roster.ready:
        raise roster.problem
    return 200, {"status": "ok"}


def _root(service: Service, _: Scope) -> tuple[int, Any]:
    paths = ["/v1/chat/completions", "/v1/models", "/health"]
    return 200, {"name": "dragoman", "models": [served.name for served in service.roster], "paths": paths}


def _models(service: Service, _: Scope) -> tuple[int, Any]:
    if not service.roster.ready:
        raise service.roster.problem
    return 200, {"object": "list", "data": [_card(served) for served in service.roster]}


def _model(service: Service, scope: Scope) -> tuple[int, Any]:
    if not service.roster.ready:
        raise service.roster.problem
    return 200, _card(service.roster.named(scope["path_params"]["model"]))


def _card(served: Served) -> dict[str, Any]:
    """A model, with its context window under the names that other servers give it: agents read it there."""
    info, dialect = served.info, served.dialect
    return {
        "id": info.name,
        "object": "model",
        "created": info.created,
        "owned_by": "dragoman",
        "context_window": info.context,
        "max_model_len": info.context,
        "meta": {"n_ctx": info.context},
        "dialect": dialect.name,
        "capabilities": {
            "tools": bool(dialect.call),
            "reasoning": bool(dialect.reasoning or dialect.frame),
            "structured_output": True,
            "streaming": True,
        },
    }


class _WrongMethod(RequestError):
    """A path was asked in a way that it does not answer to."""

    def __init__(self, scope: Scope, methods: Sequence[str]) -> None:
        self.allow = ", ".join(methods)
        problem = f"{scope['path']} takes {self.allow}; this was {scope['method']}"
        super().__init__(problem, code="method_not_allowed", status=405)


def _allow(scope: Scope, *methods: str) -> None:
    if scope["method"] not in methods:
        raise _WrongMethod(scope, methods)


async def _refuse(scope: Scope, send: Send, protocol: Spoken, error: DragomanError) -> None:
    status, body = refusal(protocol, error)
    level = logging.INFO if scope["method"] == "POST" else logging.DEBUG  # health checks come every second
    _log.log(level, "refused %s %s: %d %s", scope["method"], scope["path"], status, error)
    headers = {
        401: {"www-authenticate": "Bearer"},
        405: {"allow": getattr(error, "allow", "")},
        503: {"retry-after": "1"},
    }
    await send_json(send, status, body, headers.get(status))


async def _unknown(query: Query, _: Exception) -> Response:
    """No endpoint has this path."""
    problem = f"there is nothing at {query.url.path}; / lists what there is"
    status, body = refusal(chat, RequestError(problem, code="unknown_url", status=404))
    return Response(body, status, media_type="application/json")
