"""Chunks that are wrong are an error at once, and a kept connection that ends later is no concern of anybody."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from dragoman.engines.http import Http
from dragoman.engines.refusals import refused
from dragoman.errors import Broken, DragomanError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
GOOD = b"3\r\nabc\r\n"


@asynccontextmanager
async def playing(after: bytes, *, status: bytes = b"200 OK", leaves: bool = False):
    """An upstream that begins well, writes this, and stays."""
    left, over = asyncio.Event(), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD.replace(b"200 OK", status) + GOOD)
        await writer.drain()
        await asyncio.sleep(0.02)  # so that what follows is read by itself
        writer.write(after)
        if leaves:
            await writer.drain()
            writer.transport.abort()
        with suppress(ConnectionError):
            await reader.read(1)
        left.set()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        over.set()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    http = Http(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "upstream", refused)
    try:
        yield http, left
    finally:
        await http.close()
        await over.wait()
        server.close()
        await server.wait_closed()


WRONG = {
    "no number": b"zz\r\nnot a chunk\r\n",
    "negative": b"-1\r\nabc",
    "too large": b"FFFFFFFFFFFFFFFFFFFF\r\nabc",
    "nothing": b"\r\n\r\nabc",
    "a blank first": b" 5\r\nhello\r\n",
    "longer than it says": b"5\r\nhello you\r\n",
    "another answer": b"HTTP/1.1 502 Bad Gateway\r\n\r\n",
    "a field that is none": b"0\r\nX: y\r\nbad field\r\n\r\n",
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_wrong_chunks_are_an_error_while_the_connection_stays(wrong):
    async with playing(WRONG[wrong]) as (http, left):
        received = b""
        with pytest.raises(Broken, match="chunks are wrong"):
            async with http.ask("/") as answer:
                while data := await answer.content.readany():
                    received += data
        assert received.startswith(b"abc")
        await left.wait()  # it was hung up on


async def test_wrong_chunks_of_an_error_are_an_error(recwarn):
    async with playing(WRONG["no number"], status=b"500 No") as (http, _):
        with pytest.raises(DragomanError):
            async with http.ask("/"):
                pass


async def test_a_good_end_stays_good():
    async with playing(b"0\r\n\r\n") as (http, left):
        async with http.ask("/") as answer:
            assert await answer.content.read() == b"abc"
        assert not left.is_set()  # the connection is kept


async def test_a_connection_that_breaks_off_is_told_by_its_own_words():
    async with playing(b"5\r\nhel", leaves=True) as (http, _):
        with pytest.raises(Broken, match="broke off"):
            async with http.ask("/") as answer:
                while await answer.content.readany():
                    pass


async def test_a_kept_connection_that_is_reset_is_not_logged(caplog):
    """Its end has an error that nobody asked for."""
    async with playing(b"0\r\n\r\n", leaves=True) as (http, _):
        async with http.ask("/") as answer:
            assert await answer.content.read() == b"abc"
        await asyncio.sleep(0.05)
    assert not caplog.records
