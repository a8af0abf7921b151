"""A scripted upstream: a real socket server that answers as it is told, and misbehaves exactly where it is told.

It runs in the loop of the test, apart from the server, which runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from .forms import LLAMA, Form

__all__ = ["HEAD", "TEXT", "Play", "Upstream", "upstream"]

TEXT = "One two – drei 🦜 vier, fünf."  # characters of one to four bytes
WORDS = ["One two", " – drei", " 🦜 vier", ", fünf", "."]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n"


class Play:
    """One answer as it is written: bytes as they are, or frames in HTTP's chunks."""

    def __init__(self, form: Form, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self.form, self.writer, self.gone = form, writer, gone
        self.frames = form.frames(WORDS)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> None:
        await self.raw(HEAD % self.form.kind)

    async def send(self, data: bytes) -> None:
        """In a chunk of its own."""
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def some(self, count: int = 2) -> None:
        """The head and the first frames."""
        await self.head()
        for frame in self.frames[:count]:
            await self.send(frame)

    async def rest(self, count: int = 2) -> None:
        """The frames behind those, and the end."""
        for frame in self.frames[count:]:
            await self.send(frame)
        await self.end()

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def good(self) -> None:
        await self.some()
        await self.rest()

    def reset(self) -> None:
        """Break off without a word."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def wait(self) -> None:
        """Until the other side has left."""
        await self.gone.wait()


Script = Callable[[Play], Awaitable[None]]


async def good(play: Play) -> None:
    await play.good()


@dataclass
class Upstream:
    """What runs; `plays` are the answers to come, then good ones.  `open`: its connections, `asked`: what it was asked."""

    form: Form
    path: str = ""
    url: str = ""
    plays: list[Script] = field(default_factory=list)
    open: int = 0
    asked: int = 0
    failures: list[Exception] = field(default_factory=list)
    server: asyncio.Server | None = None
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def listen(self) -> None:
        """On a Unix socket, or on a port: the same one when it comes back."""
        if self.path:
            self.server = await asyncio.start_unix_server(self.serve, self.path)
            return
        port = int(self.url.rpartition(":")[2] or 0) if self.url else 0
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Go away, with all connections."""
        assert self.server is not None
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()
        await self.server.wait_closed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.writers.add(writer)
        try:
            while (head := await _head(reader)) is not None:
                path, body = head
                if path == self.form.path:
                    await self._play(reader, writer)
                else:
                    await self._tell(path, body, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except Exception as failure:  # noqa: BLE001 (the test looks at them)
            self.failures.append(failure)
        finally:
            self.open -= 1
            self.writers.discard(writer)
            writer.close()

    async def _play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        play = self.plays.pop(0) if self.plays else good
        gone = asyncio.Event()
        watch = asyncio.create_task(_watch(reader, gone))
        try:
            await play(Play(self.form, writer, gone))
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _tell(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        """What it is like, and how it cuts texts into tokens."""
        answers: dict[str, Any] = {"/v1/models": {"data": [{"id": "demo"}]}, "/tokenize": {"tokens": []}}
        if self.form is LLAMA:
            answers["/props"] = {
                "default_generation_settings": {"n_ctx": 4096},
                "total_slots": 4,
                "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n",
            }
        if path == "/tokenize" and json.loads(body).get("content"):
            answers["/tokenize"] = {
                "tokens": [1, 2] if b"with_pieces" not in body else [{"id": 1, "piece": "<|im_end|>"}]
            }
        found = answers.get(path)
        data = json.dumps(found if found is not None else {"error": {"message": "no"}}).encode()
        status = b"200 OK" if found is not None else b"404 Not Found"
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(data))
        writer.write(head + data)
        await writer.drain()


async def _head(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    line = await reader.readline()
    if not line:
        return None
    size = 0
    while (field_ := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = field_.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return line.split()[1].decode(), await reader.readexactly(size)


async def _watch(reader: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Nothing more is sent while an answer is awaited, so whatever is read is the end."""
    with suppress(ConnectionError):
        await reader.read(1)
    gone.set()


@asynccontextmanager
async def upstream(form: Form, path: str = "") -> AsyncIterator[Upstream]:
    """Run one, on a port of its own, or on a Unix socket."""
    running = Upstream(form, path)
    await running.listen()
    try:
        yield running
    finally:
        await running.close()
