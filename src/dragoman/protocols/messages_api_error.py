"""Errors in the shape that Anthropic's clients read.

{"type": "error", "error": {"type": str, "message": str}, "request_id": str | null}
"""

from __future__ import annotations

from typing import Any

from ..errors import Cancelled, EngineError, RequestError
from . import wire

__all__ = ["error"]

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
# These words make agents shorten their conversation and try again.
_TOO_LONG = "prompt is too long: "


def error(exc: BaseException, request_id: str | None = None) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error; of one that is not ours nothing is told but that it happened."""
    if isinstance(exc, RequestError):
        begin = _TOO_LONG if exc.code == "context_length_exceeded" else ""
        return exc.status, _shape(_TYPES.get(exc.status, "invalid_request_error"), begin + exc.message, request_id)
    if isinstance(exc, EngineError):
        return exc.status, _shape(_TYPES.get(exc.status, "api_error"), str(exc), request_id)
    if isinstance(exc, Cancelled):
        return 499, _shape("api_error", str(exc) or "the request was cancelled", request_id)
    return 500, _shape("api_error", "an internal error; the server's log has the details", request_id)


def _shape(kind: str, message: str, request_id: str | None) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": wire.clean(message)}, "request_id": request_id}
