"""The connection to a llama.cpp child: one exchange at a time, and every failure said in our words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from ..errors import Broken, EngineError, Unreachable
from ..protocols import wire
from .breakage import told
from .http import text
from .supervise import Child
from .wire import failure, refusal

__all__ = ["Link"]

_WAITS = aiohttp.ClientTimeout(total=None, sock_connect=10)  # how long an answer may take is the server's to decide


class Link:
    """Speaks HTTP with the child's present process."""

    def __init__(self, child: Child, engine: str) -> None:
        self.child, self.engine = child, engine

    @asynccontextmanager
    async def ask(self, path: str, data: Any = None) -> AsyncIterator[aiohttp.ClientResponse]:
        """One exchange on a connection of its own: one that carried a stream may be half dead after it.

        Raises:
            EngineError: it is not running, or died meanwhile.
            RequestError: it refused what the client asked for.
        """
        connector = aiohttp.UnixConnector(self._socket(), force_close=True)
        method = "GET" if data is None else "POST"
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=_WAITS) as session,
                session.request(method, "http://engine" + path, json=data) as answer,
            ):
                with told(answer):
                    if answer.status != 200:
                        raise refusal(answer.status, failure(await text(answer)), self.engine, self.child.log.last)
                    yield answer
        except aiohttp.ClientConnectorError as problem:
            raise self._absent(await self.child.epitaph()) from problem
        except (aiohttp.ClientError, OSError) as problem:
            raise await self.broken() from problem

    async def json(self, path: str, data: Any = None) -> Any:
        """The answer as a value."""
        async with self.ask(path, data) as answer:
            try:
                return wire.load(await answer.read())
            except ValueError as problem:
                raise Broken(f"llama.cpp answered what is not JSON: {problem}", engine=self.engine) from problem

    async def broken(self) -> EngineError:
        """The error of an answer that did not end."""
        words = await self.child.epitaph()
        return Broken("llama.cpp ended in the middle of an answer", engine=self.engine, hint=words)

    def _socket(self) -> str:
        if not self.child.socket:
            raise self._absent(self.child.words)
        return self.child.socket

    def _absent(self, words: str) -> EngineError:
        return Unreachable("llama.cpp is not running", engine=self.engine, hint=words)
