"""The connection to an upstream over HTTP: pooled, one exchange at a time, and every failure said in our words."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import aiohttp

from ..errors import Broken, DragomanError, EngineError, Unreachable, UsageError
from ..protocols import wire
from .breakage import told

__all__ = ["Connection", "Http", "Refusal", "plain", "text"]

Refusal = Callable[[int, str, str], DragomanError]
_KEPT = 30.0  # seconds an idle connection is kept; servers close theirs later


class Connection(Protocol):
    """What speaks with an engine: over the network, or with a child process."""

    engine: str

    def ask(self, path: str, data: Any = None) -> Any:
        """An exchange: a context manager that gives the answer, whose status is 200."""

    async def json(self, path: str, data: Any = None) -> Any:
        """The answer as a value."""

    async def broken(self) -> EngineError:
        """The error of an answer that did not end."""


class Http:
    """Speaks HTTP with one upstream.

    Args:
        url: where it is, without the path of an endpoint.
        engine: what it is called in messages.
        key: sent as a bearer token, and as `x-api-key`.
        headers: further headers.
        refuse: makes an error of a status, a body, and the engine's name.
        connect: seconds for a connection.
        pooled: connections are kept for the next exchange.

    Raises:
        UsageError: the URL is none.
    """

    def __init__(
        self,
        url: str,
        engine: str,
        refuse: Refusal,
        *,
        key: str = "",
        headers: Mapping[str, str] | None = None,
        connect: float = 10.0,
        pooled: bool = True,
    ) -> None:
        self.url, self.engine, self.refuse = plain(url), engine, refuse
        secret = {"authorization": f"Bearer {key}", "x-api-key": key} if key else {}
        self._headers = {**secret, **(headers or {})}
        self._pooled = pooled
        self._waits = aiohttp.ClientTimeout(total=None, connect=connect)  # TLS included
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @asynccontextmanager
    async def ask(self, path: str, data: Any = None) -> AsyncIterator[aiohttp.ClientResponse]:
        """One exchange; leaving it before its end closes the connection, which tells the upstream to stop.

        Raises:
            EngineError: it cannot be reached, refuses, or broke off.
            RequestError: it refuses what the client asked for.
        """
        try:
            answer = await self._begin(path, data)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as problem:
            raise self._absent(problem) from problem
        except (aiohttp.ClientError, OSError, TimeoutError) as problem:
            raise self._broke(problem) from problem
        try:
            with told(answer):
                if answer.status != 200:
                    raise _answered(self.refuse(answer.status, await text(answer), self.engine), answer)
                yield answer
        except (aiohttp.ClientError, OSError) as problem:
            raise self._broke(problem) from problem
        finally:
            answer.close()  # one that was read to its end has gone back to the pool already

    async def json(self, path: str, data: Any = None) -> Any:
        """The answer as a value.

        Raises:
            EngineError: it is not JSON.
        """
        async with self.ask(path, data) as answer:
            try:
                return wire.load(await answer.read())
            except ValueError as problem:
                raise Broken(f"{self.url}{path} answered what is not JSON: {problem}", engine=self.engine) from problem

    async def try_json(self, path: str, data: Any = None) -> Any:
        """The answer as a value, None where there is no such endpoint or nothing readable comes from it.

        Raises:
            Unreachable: there is no connection, or it is not ready yet (503).
            Refused: it wants another key (401, 403).
        """
        try:
            async with asyncio.timeout(10):
                return await self.json(path, data)
        except Unreachable:
            raise
        except (DragomanError, TimeoutError) as error:
            status = getattr(error, "answered", 0)
            if status == 503:
                raise Unreachable(f"{self.url} is not ready: {error}", engine=self.engine) from error
            if status in (401, 403):
                raise
            return None

    async def broken(self) -> EngineError:
        """The error of an answer that did not end."""
        return Broken("the upstream's answer ended in the middle", engine=self.engine, hint=f"{self.url} broke off")

    async def _begin(self, path: str, data: Any) -> aiohttp.ClientResponse:
        """The beginning of an answer.  A kept connection may have been closed meanwhile: then a second one is tried."""
        session = self._open()
        method, body = ("GET", None) if data is None else ("POST", wire.dump(data))
        more = {"content-type": "application/json"} if body else {}
        ask = partial(session.request, method, self.url + path, data=body, headers=more, allow_redirects=False)
        try:
            return await ask()
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as problem:
            if isinstance(problem, aiohttp.ClientConnectorError) or not self._pooled:
                raise
            return await ask()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            kept: dict[str, Any] = {"keepalive_timeout": _KEPT} if self._pooled else {"force_close": True}
            connector = aiohttp.TCPConnector(limit=0, **kept)
            self._session = aiohttp.ClientSession(connector=connector, timeout=self._waits, headers=self._headers)
        return self._session

    def _absent(self, problem: Exception) -> EngineError:
        hint = "is it running, and is the address right?"
        return Unreachable(f"{self.url} cannot be reached: {_reason(problem)}", engine=self.engine, hint=hint)

    def _broke(self, problem: Exception) -> EngineError:
        return Broken(f"{self.url} broke off: {_reason(problem)}", engine=self.engine)


def plain(url: str) -> str:
    """A base URL without what clients put behind it (`/`, `/v1`).

    Raises:
        UsageError: it is no URL.
    """
    url = url if "://" in url else f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no URL of an upstream; write it like http://localhost:8080")
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/").removesuffix("/v1"), "", ""))


def _answered(error: DragomanError, answer: aiohttp.ClientResponse) -> DragomanError:
    """The error, which remembers the status, and in how many seconds to come again."""
    error.answered = answer.status  # type: ignore[attr-defined]
    wait = answer.headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit():
        error.retry = int(wait)  # type: ignore[attr-defined]
    return error


def _reason(problem: BaseException) -> str:
    inner = getattr(problem, "os_error", problem)
    number = getattr(inner, "errno", None)
    known = os.strerror(number).lower() if isinstance(number, int) and number > 0 else ""
    return known or getattr(inner, "strerror", None) or str(problem) or type(problem).__name__


async def text(answer: aiohttp.ClientResponse) -> str:
    """What an answer that is no stream says, whatever its bytes are: its first megabyte."""
    return (await answer.content.read(1 << 20)).decode("utf-8", "replace")
