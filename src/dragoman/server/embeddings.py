"""The endpoints of embeddings: they go through the same door, queue and deadlines as answers, and watchers see them too."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Send

from ..engines.embedding import Vectors, Wanted, embedder
from ..errors import RequestError, UnsupportedFeature
from ..events import Finish, Usage
from ..messages import Request
from ..protocols import embeddings, ollama_embed, ollama_embeddings
from ..protocols import wire as json
from .caller import Caller
from .endpoints import Answers, both
from .exchange import Exchange
from .serve import Answering, serve
from .service import Service
from .wire import Wire

__all__ = ["routes"]


def routes(service: Service) -> list[Route]:
    """All paths: OpenAI's, Ollama's, and Ollama's older one."""
    return [
        *both("/embeddings", _Embeds(service, embeddings)),
        Route("/api/embed", _Embeds(service, ollama_embed, typed=False)),
        Route("/api/embeddings", _Embeds(service, ollama_embeddings, typed=False)),
    ]


class _Embeds(Answers):
    """The endpoint of a protocol of embeddings."""

    def __init__(self, service: Service, protocol: Any, *, typed: bool = True) -> None:
        super().__init__(service, protocol, "embd-")
        self.typed = typed

    async def respond(self, exchange: Exchange, wire: Wire, receive: Receive, send: Send) -> None:
        """Answer a request that was read."""
        service = self.service
        await serve(exchange, wire, receive, send, service.settings(exchange), service.observers, kind=_Vectors)

    async def _open(self, data: Mapping[str, Any], caller: Caller) -> tuple[Exchange, Wire]:
        request, settings = self.protocol.read_request(data)
        limit = self.service.config.embedding_inputs
        if len(request.prompts) > limit:
            problem = f"input has {len(request.prompts)} texts; --embedding-inputs allows {limit}"
            raise RequestError(problem, param="input", code="limit_exceeded")
        served = self.service.embedder(request.model)
        answer_id = self.prefix + secrets.token_hex(12)
        exchange = Exchange(answer_id, served, request, streamed=False, began=caller.began, caller=caller, embeds=True)
        return exchange, _Wire(self.protocol, request, settings, served.name)


class _Wire(Wire):
    """The words of a protocol of embeddings; it has no streams, so there is no writer."""

    def __init__(self, protocol: Any, request: Request, settings: Any, model: str) -> None:
        self.protocol, self.request, self.settings, self.model = protocol, request, settings, model
        self._began, self._extra = time.monotonic(), {}

    def body(self, found: Vectors) -> bytes:
        """The whole answer."""
        facts = {"tokens": found.tokens, "packed": self.settings.packed, "model": self.model}
        return json.dump(self.protocol.answer(found.rows, **facts, seconds=time.monotonic() - self._began))


class _Vectors(Answering):
    """One request, being embedded."""

    found = Vectors(())

    async def _answer(self) -> None:
        exchange, settings = self.exchange, self.wire.settings
        served, inputs = exchange.served, exchange.request.prompts
        engine = embedder(served.engine)
        if engine is None:  # its upstream was replaced meanwhile
            raise UnsupportedFeature(f"{served.name!r} makes no embeddings any more", code="no_embeddings", status=501)
        if inputs:
            async with served.gate.place(exchange.caller.key.name):
                self.found = await engine.embed(inputs, Wanted(settings.dimensions, settings.truncate))
            served.info.embeds = True
        self._begun()
        exchange.usage[0], exchange.finishes[0] = Usage(self.found.tokens, 0), Finish("stop")
        await self._finish()

    async def finish(self) -> None:
        """Send it."""
        self.exchange.ending = True
        assert isinstance(self.wire, _Wire)
        await self._whole(200, self.wire.body(self.found), self._headers())
