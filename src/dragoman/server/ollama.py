"""The endpoints of Ollama's API.  Its requests need not say that they are JSON: in its documentation they never do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import RequestError
from ..protocols import ollama, ollama_generate
from ..protocols.ollama_models import Model, running, show, tags, version
from ..syntax.template import marks, split
from .endpoints import Answers, Refusals, Replies, Reports
from .exchange import Exchange
from .http import send_json, start
from .roster import Served
from .service import Service
from .wire import Wire

__all__ = ["routes"]

_NO_STORE = "models cannot be changed here; `dragoman serve --model` decides which one is served"


def routes(service: Service) -> list[Route]:
    """All paths below /api."""
    return [
        Route("/api/chat", _Answers(service, ollama, "ollama-")),
        Route("/api/generate", _Answers(service, ollama_generate, "ollama-")),
        Route("/api/tags", Reports(service, _tags, protocol=ollama)),
        Route("/api/ps", Reports(service, _running, protocol=ollama)),
        Route("/api/show", Replies(service, _show, protocol=ollama, typed=False)),
        Route("/api/version", Reports(service, _version, is_open=True, protocol=ollama)),
        *(Route(f"/api/{path}", Refusals(service, _NO_STORE, protocol=ollama)) for path in _STORE),
    ]


_STORE = ("pull", "push", "create", "copy", "delete", "blobs/{digest}")


class _Answers(Answers):
    """An endpoint that also answers to those who ask nothing: they load a model, and it is loaded."""

    typed = False

    async def respond(self, exchange: Exchange, wire: Wire, receive: Receive, send: Send) -> None:
        """Answer a request that was read."""
        if not wire.settings.idle:
            await super().respond(exchange, wire, receive, send)
        elif not exchange.streamed:
            await send_json(send, 200, wire.answer([], []), wire.headers)
        else:
            await send(start(200, wire.stream_headers))
            await send({"type": "http.response.body", "body": wire.close()})


def _tags(service: Service, _: Scope) -> tuple[int, Any]:
    return 200, tags(_models(service))


def _running(service: Service, _: Scope) -> tuple[int, Any]:
    return 200, running(_models(service))


def _version(_: Service, __: Scope) -> tuple[int, Any]:
    return 200, version()


async def _show(service: Service, data: Mapping[str, Any]) -> dict[str, Any]:
    name = data.get("model") or data.get("name")  # the second is its old name
    if not isinstance(name, str):
        raise RequestError("model is missing: the name of the model to show", param="model")
    return show(_model(service.pick(name)))


def _models(service: Service) -> Iterator[Model]:
    return map(_model, service.offered())


def _model(served: Served) -> Model:
    info = served.info
    capabilities = ["completion"] if info.writes else []
    if info.embeds:
        capabilities.append("embedding")
    if info.vision:
        capabilities.append("vision")
    if served.dialect.call:
        capabilities.append("tools")
    if info.writes and _thinks(served):
        capabilities.append("thinking")
    return Model(info.name, info.created, info.size, info.family, info.template, info.context or 0, tuple(capabilities))


def _thinks(served: Served) -> bool:
    """Whether the model was taught to think; a dialect only says how it would."""
    dialect, template = served.dialect, served.info.template
    if dialect.frame or not template:
        return bool(dialect.frame or dialect.reasoning)
    before, _, after = split(dialect.reasoning) if dialect.reasoning else ("", "", "")
    return any(mark in template for mark in (*marks(before), *marks(after)))
