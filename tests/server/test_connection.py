"""Limits of a connection: its head, its time, and an answer that nobody reads."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.engines.base import End, Piece
from dragoman.engines.script import Script
from dragoman.server import connection, http

from .conftest import PATH, USER, Running, running

Serving = Callable[..., Running]


def exchange(server: Running, data: bytes) -> bytes:
    """Send, and read until the server closes."""
    with socket.create_connection((server.host, server.port)) as sock:
        received = b""
        try:
            sock.sendall(data)
            while more := sock.recv(65536):
                received += more
        except ConnectionError:  # it was closed while we were still sending
            pass
    return received


HEAD = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode()


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X: " + b"a" * 70_000 + b"\r\n\r\n",
        HEAD + b"X: y\r\n" * 20_000 + b"\r\n",
        HEAD + b"X: " + b"a" * 1_000_000,
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_a_head_beyond_all_limits(serving: Serving, head: bytes) -> None:
    server = serving({"output": "Hi"})
    received = exchange(server, head)
    assert not received or received.startswith(b"HTTP/1.1 431"), received[:100]
    body = json.dumps({"messages": USER}).encode()
    fine = HEAD + b"X: " + b"a" * 30_000 + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    assert exchange(server, fine).startswith(b"HTTP/1.1 200")


def test_a_head_that_does_not_end(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_TIME", 0.05)
    server = serving({"output": "Hi"})
    assert exchange(server, HEAD) == b""
    assert exchange(server, b"") == b""


def test_a_body_that_does_not_end(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_BODY_TIME", 0.05)
    server = serving({"output": "Hi"})
    assert exchange(server, HEAD + b"Content-Length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408")


class Flood(Script):
    """Writes more than any buffer holds."""

    async def stream(self, prompt: Any, options: Any, request: Any = None) -> Any:
        self.running += 1
        try:
            for _ in range(3000):
                await asyncio.sleep(0)
                yield [Piece("x" * 10_000)]
            yield [End()]
        finally:
            self.running -= 1


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_never_reads_is_cut_off(stream: bool) -> None:
    with running(Flood({"model": "flood", "dialect": "hermes-json"}), slow_client=0.3) as server:
        body = json.dumps({"messages": USER, "stream": stream}).encode()
        with socket.create_connection((server.host, server.port)) as sock:
            sock.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            await server.busy()
            await server.idle()
            sock.settimeout(60)
            with pytest.raises(ConnectionResetError):
                while sock.recv(1 << 20):
                    pass
                raise ConnectionResetError  # closed in the ordinary way, which is as good
