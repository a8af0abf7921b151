"""The load: many streams at once over plain sockets, each read to its end and looked at piece by piece."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field

__all__ = ["Load", "drive"]

_PIECE = re.compile(rb" w(\d+)")
_SENT = re.compile(rb" t(\d+)")
_BODY = json.dumps({"model": "demo", "messages": [{"role": "user", "content": "Hello"}], "stream": True}).encode()
_HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Authorization: Bearer none\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(_BODY)
)


@dataclass
class Load:
    """What came of it: streams that were whole or wrong (pieces lost or out of order), and how late each piece was (us)."""

    whole: int = 0
    wrong: int = 0
    pieces: int = 0
    seconds: float = 0.0
    late: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def drive(port: int, streams: int, at_once: int, pieces: int, *, times: bool = False) -> Load:
    """Run so many streams, so many of them at once.

    Args:
        port: of the gateway.
        streams: in all.
        at_once: of them at the same time.
        pieces: that each must have.
        times: how late each piece comes is kept.
    """
    load, places = Load(), asyncio.Semaphore(at_once)
    began = time.monotonic()

    async def one() -> None:
        async with places:
            try:
                await _stream(port, pieces, load, times=times)
            except (OSError, ValueError, asyncio.IncompleteReadError) as error:
                load.errors.append(repr(error))

    await asyncio.gather(*(one() for _ in range(streams)))
    load.seconds = time.monotonic() - began
    return load


def _dechunked(data: bytes) -> bytes:
    """The body without the lengths of its chunks, which may stand in the middle of a piece."""
    parts, at = [], 0
    while (end := data.find(b"\r\n", at)) > 0:
        size = int(data[at:end], 16)
        parts.append(data[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(parts)


async def _stream(port: int, pieces: int, load: Load, *, times: bool) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_HEAD + _BODY)
    received, late = bytearray(), list[int]()
    try:
        while data := await reader.read(1 << 16):
            if times:
                now = time.monotonic_ns() // 1000
                late += [now - int(sent) for sent in _SENT.findall(data)]
            received += data
    finally:
        writer.close()
    if not received.startswith(b"HTTP/1.1 200"):
        raise ValueError(bytes(received[:200]))
    body = _dechunked(bytes(received.partition(b"\r\n\r\n")[2]))
    found = [int(number) for number in _PIECE.findall(body)]
    load.pieces += len(found)
    load.wrong += found != list(range(pieces))
    load.whole += found == list(range(pieces)) and b"[DONE]" in body
    load.late += late
