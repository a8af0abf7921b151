"""Errors in the shape that OpenAI's clients read: written from ours, and read from an upstream's.

{"error": {"message": str, "type": str, "param": str | null, "code": str | null}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Broken, Cancelled, EngineError, Refused, RequestError, Timeout, Unreachable
from . import wire

__all__ = ["error", "read_error"]

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    503: "server_error",
}
_CODES = ((Unreachable, "engine_unreachable"), (Timeout, "engine_timeout"), (Broken, "engine_broken"))


def error(exc: BaseException) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error; of one that is not ours nothing is told but that it happened."""
    if isinstance(exc, RequestError):
        kind = _TYPES.get(exc.status, "invalid_request_error")
        return exc.status, _shape(exc.message, kind, exc.param, exc.code)
    if isinstance(exc, EngineError):
        code = next((code for cls, code in _CODES if isinstance(exc, cls)), "engine_error")
        return exc.status, _shape(str(exc), _TYPES.get(exc.status, "server_error"), None, code)
    if isinstance(exc, Cancelled):
        return 499, _shape(str(exc) or "the request was cancelled", "server_error", None, "cancelled")
    return 500, _shape("an internal error; the server's log has the details", "server_error", None, "internal_error")


def read_error(body: Any, status: int = 0, engine: str = "") -> EngineError | RequestError:
    """An upstream's error, from the JSON it sent (any of the usual shapes) or its text; the message stays as it is."""
    holder = body.get("error", body) if isinstance(body, Mapping) else body
    facts = holder if isinstance(holder, Mapping) else {"message": holder}
    message = facts.get("message") or facts.get("detail") or ""
    message = message if isinstance(message, str) else wire.dump(message).decode()
    if _is_overflow(f"{facts.get('type')} {facts.get('code')} {message}"):
        return RequestError(message, param="messages", code="context_length_exceeded")
    return Refused(
        message or "the engine answered with an error that says nothing", engine=engine, status=_status(status)
    )


def _shape(message: str, kind: str, param: str | None, code: str | None) -> dict[str, Any]:
    return {"error": {"message": wire.clean(message), "type": kind, "param": param, "code": code}}


def _is_overflow(text: str) -> bool:
    text = text.lower()
    return "exceed_context_size" in text or "context_length_exceeded" in text or "maximum context length" in text


def _status(status: int) -> int:
    """What the client is told: the upstream's 429 and 503 are passed on, all else is a bad gateway."""
    return status if status in (429, 503) else 502
