"""Cancel: requests that are ended by an id, from another connection, also before they have come."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import DragomanError
from ..protocols import chat, messages_api, ollama
from ..protocols import wire as json
from .endpoints import allow, both, refuse
from .http import send_json
from .service import Service
from .wire import Fails

__all__ = ["routes"]


def routes(service: Service) -> list[Route]:
    """A path below every endpoint of answers; they all do the same, and differ in how they tell an error."""
    openai, anthropic, llama = (_Cancels(service, words) for words in (chat, messages_api, ollama))
    return [
        *both("/chat/completions/{id}/cancel", openai),
        *both("/completions/{id}/cancel", openai),
        *both("/messages/{id}/cancel", anthropic),
        *both("/cancel/{id}", openai),
        Route("/api/cancel/{id}", llama),
    ]


class _Cancels:
    """Cancels by the answer's id or by the client's own (`X-Request-Id`).

    What runs is ended at once (200); what is not known is remembered, and ended when it comes (202).
    """

    def __init__(self, service: Service, protocol: Fails) -> None:
        self.service, self.protocol = service, protocol

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Answer."""
        try:
            allow(scope, "POST")
            self.service.authorize(scope)
        except DragomanError as error:
            await refuse(scope, send, self.protocol, error)
            return
        asked = scope["path_params"]["id"]
        ended = self.service.cancel(asked)
        told: dict[str, Any] = {"id": asked, "cancelled": ended}
        await send_json(send, 200 if ended else 202, json.dump(told))
