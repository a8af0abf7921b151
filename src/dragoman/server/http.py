"""What an endpoint needs of HTTP: to read a JSON body, to check a key, to answer with JSON."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from ..errors import Busy, Cancelled, RequestError
from ..protocols import wire
from .limits import check_depth

__all__ = ["Left", "advice", "header", "read_json", "send_json", "send_text", "start"]

_JSON = "application/json"
_PLAIN = {"x-content-type-options": "nosniff", "cache-control": "no-store"}
_LARGE = 1 << 20  # bytes; reading more takes so long that others would wait
_BODY_TIME = 60.0  # seconds between two parts of a request


class Left(Cancelled):
    """The client left before its request was whole: nobody is there to be told anything."""


def header(scope: Scope, name: bytes) -> str:
    """A header of the request, "" if it is not there."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def advice(error: BaseException) -> dict[str, str]:
    """The headers that tell a client what to do about an error."""
    status = getattr(error, "status", 500)
    if status == 401:
        return {"www-authenticate": "Bearer"}
    if status == 405:
        return {"allow": getattr(error, "allow", "")}
    if isinstance(error, Busy) or hasattr(error, "retry") or status == 503:
        return {"retry-after": str(math.ceil(getattr(error, "retry", 1)))}
    return {}


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")  # perhaps half of a surrogate pair, which no engine and no file takes


async def read_json(scope: Scope, receive: Receive, limit: int, *, typed: bool = True) -> Mapping[str, Any]:
    """Read the request's JSON object; if it is not `typed`, whatever type it says it has.

    Raises:
        RequestError: it is too large (413), no JSON by its type (415), or by its text (400).
        Left: the client left before it was whole.
    """
    _check_type(scope, typed=typed)
    body = await _read(scope, receive, limit)
    try:
        data = json.loads(body) if len(body) < _LARGE else await asyncio.to_thread(json.loads, body)
    except RecursionError:
        raise RequestError("the request's JSON is nested too deeply", code="invalid_json") from None
    except ValueError as error:
        raise RequestError(f"the request is no JSON: {error}", code="invalid_json") from None
    if not isinstance(data, dict):
        raise RequestError("the request must be a JSON object", code="invalid_json")
    check_depth(data)
    return wire.whole(data) if _HALF.search(body) else data


def start(status: int, headers: Mapping[str, str]) -> Message:
    """The message that begins a response."""
    pairs = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Answer with JSON, whole."""
    facts = {"content-type": _JSON, "content-length": str(len(body)), **(headers or {})}
    await send(start(status, facts))
    await send({"type": "http.response.body", "body": body})


async def send_text(send: Send, text: str) -> None:
    """Answer with plain text, whole; lone surrogates become question marks."""
    body = text.encode("utf-8", "replace")
    facts = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **_PLAIN}
    await send(start(200, facts))
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


async def _next(receive: Receive) -> Message:
    try:
        async with asyncio.timeout(_BODY_TIME):
            return await receive()
    except TimeoutError:
        problem = f"nothing more of the request came for {_BODY_TIME:g} s"
        raise RequestError(problem, code="request_timeout", status=408) from None


async def _read(scope: Scope, receive: Receive, limit: int) -> bytes:
    told = header(scope, b"content-length")
    parts: list[bytes] = []
    size = int(told) if told.isdecimal() else 0
    more, read = size <= limit, 0
    while more:
        message = await _next(receive)
        if message["type"] == "http.disconnect":
            raise Left("the client left before its request was whole")
        parts.append(message.get("body", b""))
        read += len(parts[-1])
        more = message.get("more_body", False) and read <= limit
    if max(size, read) > limit:
        raise RequestError(
            f"the request is larger than {limit} bytes; --body-limit allows more", code="request_too_large", status=413
        )
    return b"".join(parts)
