"""What an endpoint needs of HTTP: to read a JSON body, to check a key, to answer with JSON."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from ..errors import Cancelled, RequestError

__all__ = ["authorize", "header", "read_json", "send_json", "start"]

_JSON = "application/json"


def header(scope: Scope, name: bytes) -> str:
    """A header of the request, "" if it is not there."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def authorize(scope: Scope, key: str) -> None:
    """Check the client's key.

    Raises:
        RequestError: it is missing or wrong (401).
    """
    kind, _, given = header(scope, b"authorization").partition(" ")
    offered = (given.strip() if kind.lower() == "bearer" else "", header(scope, b"x-api-key"))
    if key and not any(hmac.compare_digest(value.encode("latin-1"), key.encode()) for value in offered):
        how = "send it as `Authorization: Bearer KEY` or `x-api-key: KEY`"
        problem = "this server wants an API key" if not any(offered) else "the API key is wrong"
        raise RequestError(f"{problem}; {how}", code="invalid_api_key", status=401)


async def read_json(scope: Scope, receive: Receive, limit: int, *, typed: bool = True) -> Mapping[str, Any]:
    """Read the request's JSON object; if it is not `typed`, whatever type it says it has.

    Raises:
        RequestError: it is too large (413), no JSON by its type (415), or by its text (400).
        Cancelled: the client left before it was whole.
    """
    _check_type(scope, typed=typed)
    body = await _read(scope, receive, limit)
    try:
        data = json.loads(body)
    except RecursionError:
        raise RequestError("the request's JSON is nested too deeply", code="invalid_json") from None
    except ValueError as error:
        raise RequestError(f"the request is no JSON: {error}", code="invalid_json") from None
    if not isinstance(data, dict):
        raise RequestError("the request must be a JSON object", code="invalid_json")
    return data


def start(status: int, headers: Mapping[str, str]) -> Message:
    """The message that begins a response."""
    pairs = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Answer with JSON, whole."""
    facts = {"content-type": _JSON, "content-length": str(len(body)), **(headers or {})}
    await send(start(status, facts))
    await send({"type": "http.response.body", "body": body})


def _check_type(scope: Scope, *, typed: bool) -> None:
    kind = header(scope, b"content-type").partition(";")[0].strip().lower()
    if typed and kind and kind != _JSON and not kind.endswith("+json"):
        raise RequestError(
            f"the request must be JSON (Content-Type: {_JSON}); it is {kind}", code="unsupported_type", status=415
        )
    if (coding := header(scope, b"content-encoding")) not in ("", "identity"):
        raise RequestError(
            f"the request must not be compressed; it is {coding}", code="unsupported_encoding", status=415
        )


async def _read(scope: Scope, receive: Receive, limit: int) -> bytes:
    told = header(scope, b"content-length")
    parts: list[bytes] = []
    size = int(told) if told.isdecimal() else 0
    more, read = size <= limit, 0
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Cancelled("the client left before its request was whole")
        parts.append(message.get("body", b""))
        read += len(parts[-1])
        more = message.get("more_body", False) and read <= limit
    if max(size, read) > limit:
        raise RequestError(
            f"the request is larger than {limit} bytes; --body-limit allows more", code="request_too_large", status=413
        )
    return b"".join(parts)
