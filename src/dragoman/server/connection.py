"""Connection: uvicorn's HTTP/1.1 connection with limits that it does not have by itself.

A head (request line and headers) has a limit in bytes and in time, and an answer can be cut off whose client does not read:
closing a connection in the ordinary way waits for its reader.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .caller import ABORT

__all__ = ["HEAD_LIMIT", "HEAD_TIME", "Connection"]

HEAD_LIMIT = 64 << 10  # bytes
HEAD_TIME = 30.0  # seconds
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connection(HttpToolsProtocol):
    """One connection of a client."""

    _head, _in_head, _too_large = 0, False, False
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has come; it has so long to say what it wants."""
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_TIME, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._in_time()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come; those of a head that is not whole yet are counted."""
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_LIMIT and not self.transport.is_closing():
                self._too_large = True
                self.send_400_response("")

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._head, self._in_head = 0, True
        self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
        if self._late is None:
            self._late = self.loop.call_later(HEAD_TIME, self.transport.abort)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_head = False
        self._in_time()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > HEAD_LIMIT:
            self._too_large = True
            raise ValueError  # the way to end it from within: it comes out as a bad request
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse, and close."""
        if not self._too_large:
            super().send_400_response(msg)
        else:
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """The endpoint answers a client that asks for a WebSocket; nobody has to install a library for that."""

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
