"""Connections as they are in the wild: reused, pipelined, slow, chunked."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import aiohttp

from .conftest import PATH, USER, Running

Serving = Callable[..., Running]
BODY = json.dumps({"messages": USER}).encode()


async def test_a_connection_is_used_again(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(server.url, connector=connector) as session:
        for stream in (True, False, True, False):
            async with session.post(PATH, json={"messages": USER, "stream": stream}) as response:
                assert response.status == 200
                await response.read()
    assert server.engine.running == 0


def talk(server: Running, *parts: bytes) -> bytes:
    """Send these bytes, and read until the server closes or has answered."""
    with socket.create_connection((server.host, server.port)) as sock:
        for part in parts:
            sock.sendall(part)
        received = b""
        while b"}}" not in received:
            data = sock.recv(65536)
            if not data:
                break
            received += data
    return received


def head(*fields: str) -> bytes:
    return "\r\n".join([f"POST {PATH} HTTP/1.1", "Host: x", "Content-Type: application/json", *fields, "", ""]).encode()


def test_a_body_in_chunks(serving: Serving) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
    answer = talk(serving({"output": "Hi"}), head("Transfer-Encoding: chunked"), chunks)
    assert answer.startswith(b"HTTP/1.1 200")


def test_a_client_that_asks_first(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    answer = talk(server, head(f"Content-Length: {len(BODY)}", "Expect: 100-continue"), BODY)
    assert answer.startswith(b"HTTP/1.1 100")
    assert b"HTTP/1.1 200" in answer


def test_a_length_that_is_a_lie(serving: Serving) -> None:
    answer = talk(serving({"output": "Hi"}, body_limit=1024), head("Content-Length: 1000000"))
    assert b"HTTP/1.1 413" in answer
