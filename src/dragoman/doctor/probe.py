"""Exchanges with a server over HTTP, as a careful client has them: whole answers, streams, and leaving early."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp

from ..errors import Broken, Unreachable, UsageError

__all__ = ["Probe", "Reply", "base_of"]

_ENDINGS = (
    "/chat/completions",
    "/completions",
    "/responses",
    "/messages",
    "/models",
    "/api/chat",
    "/api/generate",
    "/api/tags",
    "/api",
    "/v1",
)
_PATIENCE = 10.0  # seconds for a connection
_MOST = 16 << 20  # bytes of an answer


@dataclass(slots=True)
class Reply:
    """What came back: the status, headers (names in lower case), the body, and seconds until its first byte and its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    first: float = 0.0
    seconds: float = 0.0
    json: Any = field(default=None)

    @property
    def kind(self) -> str:
        """The media type."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def __str__(self) -> str:
        return f"{self.status} {self.body[:160].decode(errors='replace')!r}"


def base_of(url: str) -> str:
    """The address of a server, whatever path of it was given.

    Raises:
        UsageError: it is no address.
    """
    url = url if "://" in url else f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{url!r:.80} is no URL of a server; give one such as http://127.0.0.1:8000")
    base = url.partition("?")[0].rstrip("/")
    for ending in _ENDINGS:
        base = base.removesuffix(ending)
    return base


class Probe:
    """Talks to one server.  Every exchange has a connection of its own, as one that was left may be half dead.

    Args:
        url: its address.
        key: the API key, "" for none; it goes out under all the names that servers look at.
    """

    def __init__(self, url: str, key: str = "") -> None:
        self.base = base_of(url)
        self.headers = {"authorization": f"Bearer {key}", "x-api-key": key} if key else {}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_PATIENCE)
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True), timeout=timeout)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None):  # type: ignore[no-untyped-def]  # noqa: ANN204
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> Reply:
        """Ask for what stands at a path."""
        return await self._exchange(method, path, None, headers)

    async def post(self, path: str, body: Any, *, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a value as JSON (bytes, or an iterator of bytes, as they are) and read the whole answer."""
        return await self._exchange("POST", path, body, headers)

    async def leave(self, path: str, body: Any, *, headers: Mapping[str, str] | None = None) -> int:
        """Begin an answer, and leave at its first byte; its status."""
        async with self._request("POST", path, body, headers) as response:
            async for _ in response.content.iter_any():
                break
            response.close()
            status: int = response.status
            return status

    async def _exchange(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None) -> Reply:
        began, first, pieces = time.monotonic(), None, []
        try:
            async with self._request(method, path, body, headers) as response:
                async for piece in response.content.iter_any():
                    first = first if first is not None else time.monotonic() - began
                    pieces.append(piece)
                    if sum(map(len, pieces)) > _MOST:
                        raise Broken(f"the answer to {method} {path} is longer than {_MOST} bytes")
                told = {name.lower(): value for name, value in response.headers.items()}
                seconds = time.monotonic() - began
                reply = Reply(response.status, told, b"".join(pieces), first or seconds, seconds)
        except aiohttp.ClientConnectorError as problem:
            raise Unreachable(f"{self.base} cannot be reached: {problem.strerror or problem}") from problem
        except (aiohttp.ClientError, OSError) as problem:
            raise Broken(
                f"the answer to {method} {path} broke off: {str(problem) or type(problem).__name__}"
            ) from problem
        reply.json = _json(reply.body)
        return reply

    def _request(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None) -> Any:
        assert self._session is not None
        data = body if isinstance(body, bytes | AsyncIterator | None) else json.dumps(body).encode()
        typed = {} if body is None else {"content-type": "application/json"}
        sent = {**self.headers, **typed, **(headers or {})}
        return self._session.request(method, self.base + path, data=data, headers=sent, allow_redirects=False)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
