"""Clients that leave, cancel, or read slowly, at every frame; and engines that go away and come back."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.engines.upstream import Settings
from dragoman.engines.upstream import Upstream as Engine
from dragoman.errors import Unreachable

from .clients import CLIENTS, Client
from .conftest import KINDS, Bench, Fed, bench, descriptors, usual
from .upstream import TEXT, Play, upstream

REMOTE = [kind for kind in KINDS if kind != "embedded"]


def stops_after(count: int) -> Callable[[Play], object]:
    """An answer of so many frames; then it waits for the other side to leave."""

    async def play(play: Play) -> None:
        if count >= 0:
            await play.head()
        for frame in play.frames[: max(count, 0)]:
            await play.send(frame)
        await play.wait()

    return play


def posted(client: Client, *, stream: bool, name: str = "") -> bytes:
    data = json.dumps({**client.body, "stream": stream}).encode()
    head = f"POST {client.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    own = f"X-Request-Id: {name}\r\n" if name else ""
    return f"{head}{own}Content-Length: {len(data)}\r\n\r\n".encode() + data


async def connected(here: Bench, data: bytes) -> socket.socket:
    sock = socket.socket()
    sock.connect((here.server.host, here.server.port))
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(sock, data)
    return sock


async def asked(here: Bench, count: int) -> None:
    """Until the upstream has got this many requests."""
    while here.upstream.asked < count:
        await asyncio.sleep(0.002)


def fin(sock: socket.socket) -> None:
    sock.close()


def rst(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


@usual()
@pytest.mark.parametrize("leave", [fin, rst])
async def test_a_client_leaves_at_every_frame(
    kind: str, protocol: str, leave: Callable[[socket.socket], None], folder: Path
) -> None:
    client = CLIENTS[protocol]
    async with bench(kind, folder) as here:
        await here.ask(client, stream=True)
        await here.quiet()
        before = descriptors()
        for stream in (True, False):
            for count in range(-1, 6):
                here.upstream.plays.append(stops_after(count))  # type: ignore[arg-type]
                so_far = here.upstream.asked
                sock = await connected(here, posted(client, stream=stream))
                await asked(here, so_far + 1)
                leave(sock)
                await here.quiet()  # and the upstream's side of it ends only when it was left
        status, body = await here.ask(client, stream=True)
        assert (status, client.joined(body)) == (200, TEXT)
        await here.quiet()
        assert descriptors() <= before + 2


@usual()
async def test_cancel_at_every_frame(kind: str, protocol: str, folder: Path) -> None:
    client = CLIENTS[protocol]
    async with bench(kind, folder) as here:
        for stream in (True, False):
            for count in range(-1, 6):
                here.upstream.plays.append(stops_after(count))  # type: ignore[arg-type]
                so_far, name = here.upstream.asked, f"{stream}-{count}"
                answer = asyncio.create_task(here.ask(client, stream=stream, **{"x-request-id": name}))
                await asked(here, so_far + 1)
                async with here.session.post(f"{here.server.url}/v1/cancel/{name}") as response:
                    assert response.status == 200
                status, body = await answer
                assert status == 499 or (stream and status == 200)
                assert b"cancel" in body
                await here.quiet()
        assert (await here.ask(client, stream=True))[0] == 200
        await here.quiet()


@pytest.mark.parametrize(
    ("kind", "protocol"),
    [
        ("llamacpp", "chat"),
        ("chat", "responses"),
        ("embedded", "messages"),
        ("chat", "ollama"),
        ("completions", "completions"),
        ("generate", "chat"),
        ("responses", "responses"),
        ("messages", "messages"),
        ("ollama", "ollama"),
    ],
)
async def test_a_client_that_reads_slowly(kind: str, protocol: str, folder: Path) -> None:
    """The upstream is slowed down too, and nothing is lost."""
    client, words, sent = CLIENTS[protocol], 2400, 0  # more than all the sockets between them hold

    async def play(play: Play) -> None:
        nonlocal sent
        frames = play.form.frames(["x" * 10_000] * words)
        await play.head()
        for frame in frames:
            await play.send(frame)
            sent += 1
        await play.end()

    async with bench(kind, folder) as here:
        here.upstream.plays.append(play)
        sock = await connected(here, posted(client, stream=True).replace(b"\r\nHost", b"\r\nConnection: close\r\nHost"))
        before = -1
        while before != sent:  # it stands still as long as nobody reads
            before = sent
            await asyncio.sleep(0.2)
        held = sent
        received = bytearray()
        while data := await asyncio.get_running_loop().sock_recv(sock, 1 << 16):
            received += data
        sock.close()
        await here.quiet()
        assert received.count(b"x" * 10_000) >= words  # whole texts are told once more at the end of some protocols
        assert sent > words
        assert held < words, "the upstream was never slowed down"


@usual(*REMOTE)
async def test_an_upstream_goes_away_and_comes_back(kind: str, protocol: str) -> None:
    client = CLIENTS[protocol]
    async with bench(kind, Path()) as here:
        assert (await here.ask(client, stream=True))[0] == 200
        await here.quiet()
        address = here.upstream.url
        await here.upstream.close()
        for stream in (True, False):
            status, body = await here.ask(client, stream=stream)
            assert status in (502, 503)
            assert address in body.decode()
            await here.quiet()
        await here.upstream.listen()
        for stream in (True, False):
            assert (await here.ask(client, stream=stream))[0] == 200
            await here.quiet()


@pytest.mark.parametrize("kind", ["llamacpp", "chat"])
async def test_tls_where_there_is_none(kind: str) -> None:
    async with upstream(KINDS[kind]) as there:
        engine = Engine(
            Settings(url=there.url.replace("http:", "https:"), way=kind, dialect="hermes-json", connect=0.5)
        )
        with pytest.raises(Unreachable, match="cannot be reached"):
            await engine.start()
        await engine.stop()


async def test_a_child_that_died_tells_its_last_words(folder: Path) -> None:
    with pytest.raises(Unreachable, match="killed by signal 9"):
        await Fed(str(folder / "nobody.sock")).start()
