"""What the HTTP client does not tell: that an answer broke off because its chunks are wrong.

aiohttp closes a connection that it cannot read on (the size of a chunk is no number, no end of line behind a chunk), but
whoever waits for the body then waits for ever: its C reader has let go of the body before it fails (seen in 3.14.5).
So the connection is watched: where it is gone and the body has neither its end nor an error, that is the error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

__all__ = ["told"]


@contextmanager
def told(answer: aiohttp.ClientResponse) -> Iterator[None]:
    """Inside, a body whose connection is gone raises `ClientPayloadError` to whoever reads it."""
    connection = answer.connection
    closed = connection.protocol.closed if connection is not None and connection.protocol is not None else None
    if closed is None:  # it was read to its end together with its head, or is gone already
        yield
        return

    def tell(_: asyncio.Future[None]) -> None:
        body = answer.content
        if not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError("its chunks are wrong"))

    closed.remove_done_callback(_seen)  # a connection is used again and again, and needs it once
    closed.add_done_callback(_seen)
    closed.add_done_callback(tell)
    try:
        yield
    finally:
        closed.remove_done_callback(tell)


def _seen(closed: asyncio.Future[None]) -> None:
    """How a kept connection ended is nobody's concern; unseen, it would be logged as an error."""
    if not closed.cancelled():
        closed.exception()
