"""The endpoints of Anthropic's API: messages, how many tokens one would have, and the models in its shape."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..errors import UnsupportedFeature
from ..protocols import messages_api
from .endpoints import Answers, Replies, Reports
from .http import header
from .prepare import call_id, prepare
from .roster import Served
from .service import Service

__all__ = ["Either", "is_client", "model", "models", "routes"]


def routes(service: Service) -> list[Route]:
    """All paths below /messages, with /v1 and without."""
    # Made anew with each server: a signature only proves what this one wrote, and only while it runs.
    key = secrets.token_bytes(32)
    answers, counts = _Answers(service, key), Replies(service, partial(_count, key), protocol=messages_api)
    return [
        route
        for base in ("/v1", "")
        for route in (Route(f"{base}/messages", answers), Route(f"{base}/messages/count_tokens", counts))
    ]


def is_client(scope: Scope) -> bool:
    """Whether a request comes from a client of this API: they all say which version they speak."""
    return bool(header(scope, b"anthropic-version"))


class Either:
    """One path in two APIs.

    Args:
        ours: answers clients of this one.
        others: answers everybody else.
    """

    def __init__(self, ours: Reports, others: Reports) -> None:
        self.ours, self.others = ours, others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await (self.ours if is_client(scope) else self.others)(scope, receive, send)


def models(service: Service) -> Reports:
    """The list of models, whole in one page."""
    return Reports(service, _models, protocol=messages_api)


def model(service: Service) -> Reports:
    """One model."""
    return Reports(service, _model, protocol=messages_api)


class _Answers(Answers):
    """Messages, signed with the server's key."""

    def __init__(self, service: Service, key: bytes) -> None:
        super().__init__(service, messages_api, "msg_")
        self._key = key

    def ids(self) -> str:
        """An id for a call."""
        return "toolu_" + secrets.token_hex(12)

    def _defaults(self) -> Any:
        return replace(super()._defaults(), key=self._key)


async def _count(key: bytes, service: Service, data: Mapping[str, Any]) -> dict[str, int]:
    """How many tokens the prompt of a request has."""
    request, _ = messages_api.read_request(data, messages_api.Settings(key=key))
    served = service.writer(request.model)
    choice, *_ = await prepare(request, served, service.config.policy, call_id)
    count = await served.engine.count(choice.prompt)
    if count is None:
        raise UnsupportedFeature(f"the engine ({served.engine.name}) cannot count tokens", status=501)
    return {"input_tokens": count}


def _models(service: Service, _: Scope) -> tuple[int, Any]:
    cards = [_card(served) for served in service.offered()]
    ends = {"first_id": cards[0]["id"], "last_id": cards[-1]["id"]} if cards else {"first_id": None, "last_id": None}
    return 200, {"data": cards, "has_more": False, **ends}


def _model(service: Service, scope: Scope) -> tuple[int, Any]:
    return 200, _card(service.named(scope["path_params"]["model"]))


def _card(served: Served) -> dict[str, Any]:
    info = served.info
    return {
        "type": "model",
        "id": info.name,
        "display_name": info.name,
        "created_at": datetime.fromtimestamp(info.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycle": "active",
        "max_input_tokens": info.context,
        "max_tokens": info.context,
    }
