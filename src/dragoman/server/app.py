"""The application: which path is answered by what, and the life of the server around it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request as Query
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from ..engines.base import Engine
from ..errors import RequestError
from ..protocols import chat
from . import cancel, embeddings, exposition, live, openapi, page, responses, text, turns
from . import messages_api as messages
from . import ollama as ollama_api
from .config import Config
from .door import Door, words
from .endpoints import Answers, Reports, both
from .observe import Observer
from .roster import Served
from .serve import stopping
from .service import Service
from .wire import refusal

__all__ = ["create_app"]


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
            *both("/chat/completions", Answers(service, chat, "chatcmpl-")),
            *responses.routes(service),
            *text.routes(service),
            *embeddings.routes(service),
            *ollama_api.routes(service),
            *messages.routes(service),
            *cancel.routes(service),
            *both("/models", messages.Either(messages.models(service), Reports(service, _models))),
            *both("/models/{model:path}", messages.Either(messages.model(service), Reports(service, _model))),
            Route("/health", Reports(service, _health, is_open=True)),
            *turns.routes(service),
            *live.routes(service),
            *exposition.routes(service),
            *page.routes(),
            Route("/openapi.json", Reports(service, openapi.tell, is_open=True)),
            Route("/", page.Front(Reports(service, _root, is_open=True))),
        ],
        middleware=_around(service.config),
        exception_handlers={HTTPException: _unknown},
    )
    app.state.service = service
    return app


def _health(service: Service, _: Scope) -> tuple[int, Any]:
    roster = service.roster
    if service.draining:
        raise stopping()
    if not roster.ready:
        raise roster.problem
    return 200, {"status": "ok"}


def _root(service: Service, scope: Scope) -> tuple[int, Any]:
    return 200, {
        "name": "dragoman",
        "models": [served.name for served in service.roster]
        if not service.keys
        else [],  # what needs a key is not told
        "paths": openapi.paths(scope["app"].routes),
        "api": "Ollama is running",  # what Ollama's clients look for, and its API is spoken here
    }


def _models(service: Service, _: Scope) -> tuple[int, Any]:
    return 200, {"object": "list", "data": [_card(served) for served in service.offered()]}


def _model(service: Service, scope: Scope) -> tuple[int, Any]:
    return 200, _card(service.named(scope["path_params"]["model"]))


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
            "structured_output": info.writes,
            "streaming": info.writes,
            "vision": info.vision,
            "embedding": info.embeds,
        },
    }


async def _unknown(query: Query, _: Exception) -> Response:
    """No endpoint has this path."""
    problem = f"there is nothing at {query.url.path}; / lists what there is"
    status, body = refusal(words(query.scope), RequestError(problem, code="unknown_url", status=404))
    return Response(body, status, media_type="application/json")


def _around(config: Config) -> list[Middleware]:
    """What stands around all endpoints."""
    around = [Middleware(Door, config=config)]
    if origins := config.cors_origins.split():
        told = ["x-request-id", "request-id", "retry-after"]
        allowed: dict[str, Any] = {
            "allow_origins": origins,
            "allow_methods": ["*"],
            "allow_headers": ["*"],
            "expose_headers": told,
        }
        around.insert(0, Middleware(CORSMiddleware, **allowed))
    return around
