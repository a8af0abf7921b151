"""The endpoint of the metrics, for Prometheus and whoever else reads its format."""

from __future__ import annotations

from prometheus_client.exposition import choose_encoder
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import DragomanError
from ..protocols import chat
from .endpoints import allow, refuse
from .http import header, start
from .service import Service

__all__ = ["routes"]


def routes(service: Service) -> list[Route]:
    """The endpoint."""
    return [Route("/metrics", _Exposition(service))]


class _Exposition:
    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        try:
            allow(scope, "GET", "HEAD")
            self.service.authorize(scope)
        except DragomanError as error:
            await refuse(scope, send, chat, error)
            return
        encode, kind = choose_encoder(header(scope, b"accept"))
        body = encode(self.service.metrics.registry)
        await send(start(200, {"content-type": kind, "content-length": str(len(body))}))
        await send({"type": "http.response.body", "body": body})
