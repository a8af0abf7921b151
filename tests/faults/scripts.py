"""The faults of an upstream: each a script for one answer, with what the client may get."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .upstream import HEAD, Play

__all__ = ["FAULTS", "Fault"]


@dataclass(frozen=True)
class Fault:
    """`good`: it only looks like a fault, the whole answer comes.  `early`: nothing came, so the client gets a status."""

    play: Callable[[Play], Awaitable[None]]
    good: bool = False
    early: bool = False

    @property
    def stalls(self) -> bool:
        """Only a deadline can notice it."""
        return self.play.__name__.startswith("stalls")


FAULTS: dict[str, Fault] = {}


def fault(*, good: bool = False, early: bool = False) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    def keep(play: Callable[[Play], Awaitable[None]]) -> None:
        FAULTS[play.__name__] = Fault(play, good, early)

    return keep


# --- it dies


@fault(early=True)
async def dies_before_the_head(play: Play) -> None:
    play.writer.close()


@fault(early=True)
async def is_reset_before_the_head(play: Play) -> None:
    play.reset()


@fault(early=True)
async def dies_in_the_head(play: Play) -> None:
    await play.raw(HEAD[:30])
    play.writer.close()


@fault(early=True)
async def dies_after_the_head(play: Play) -> None:
    await play.head()
    play.writer.close()


@fault()
async def dies_between_frames(play: Play) -> None:
    await play.some()
    play.writer.close()


@fault()
async def dies_in_a_frame(play: Play) -> None:
    await play.some()
    frame = play.frames[2]
    await play.raw(b"%x\r\n%b" % (len(frame), frame[: len(frame) // 2]))
    play.writer.close()


@fault()
async def is_reset_in_a_frame(play: Play) -> None:
    await play.some()
    await play.send(play.frames[2][:20])
    play.reset()


@fault()
async def dies_in_a_character(play: Play) -> None:
    await play.some()
    frame = next(frame for frame in play.frames if "🦜".encode() in frame)
    await play.send(frame[: frame.index("🦜".encode()) + 2])
    play.writer.close()


@fault()
async def dies_before_the_last_frame(play: Play) -> None:
    await play.head()
    for frame in play.frames[:-2]:
        await play.send(frame)
    play.writer.close()


# --- it ends too early, without dying


@fault(early=True)
async def ends_without_a_frame(play: Play) -> None:
    await play.head()
    await play.end()


@fault()
async def ends_in_a_frame(play: Play) -> None:
    await play.some()
    await play.send(play.frames[2][:-10])
    await play.end()


@fault(early=True)
async def answers_with_nothing(play: Play) -> None:
    await play.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n")


# --- it is slow


@fault(early=True)
async def stalls_before_the_head(play: Play) -> None:
    await play.wait()


@fault(early=True)
async def stalls_after_the_head(play: Play) -> None:
    await play.head()
    await play.wait()


@fault()
async def stalls_between_frames(play: Play) -> None:
    await play.some()
    await play.wait()


@fault()
async def stalls_in_a_frame(play: Play) -> None:
    await play.some()
    await play.send(play.frames[2][:20])
    await play.wait()


@fault(good=True)
async def drips(play: Play) -> None:
    await play.head()
    for byte in b"".join(play.frames):
        await play.send(bytes([byte]))
        await asyncio.sleep(0)
    await play.end()


@fault(good=True)
async def sends_all_at_once(play: Play) -> None:
    body = b"".join(play.frames)
    await play.raw(HEAD % play.form.kind + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))


# --- it sends what nobody can read


@fault(early=True)
async def speaks_no_http(play: Play) -> None:
    await play.raw(b"\x16\x03\x01 what is this?\r\n\r\n")
    play.writer.close()


@fault(early=True)
async def sends_noise(play: Play) -> None:
    await play.head()
    await play.send(random.Random(5).randbytes(5000) + b"\n\n")
    await play.end()


@fault()
async def sends_noise_between_frames(play: Play) -> None:
    await play.some()
    await play.send(play.form.framed(random.Random(6).randbytes(500).replace(b"\n", b"")))
    await play.rest()


@fault()
async def sends_half_a_json(play: Play) -> None:
    await play.some()
    await play.send(play.form.framed(b'{"content": "x", "choices": ['))
    await play.rest()


@fault()
async def sends_another_json(play: Play) -> None:
    await play.some()
    for data in (b"[1, 2]", b"null", b"7", b'"x"', b'{"content": 7, "choices": 7}', b'{"content": {}, "choices": [7]}'):
        await play.send(play.form.framed(data))
    await play.rest()


def _breaks(name: str, chunk: bytes) -> None:
    """HTTP's own frame is wrong, and the connection stays: nothing but these bytes tells it."""

    async def play(play: Play) -> None:
        await play.some()
        await play.raw(chunk)
        await play.wait()

    play.__name__ = f"breaks_http_by_{name}"
    fault()(play)


_breaks("a_size_that_is_no_number", b"zz\r\nnot a chunk\r\n")
_breaks("a_size_that_is_too_large", b"FFFFFFFFFFFFFFFFFFFF\r\n")
_breaks("a_chunk_without_its_end", b"5\r\n: hey, this is longer\r\n")
_breaks("another_head", b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")


@fault()
async def breaks_http_and_leaves(play: Play) -> None:
    await play.some()
    await play.raw(b"zz\r\nnot a chunk\r\n")
    play.writer.close()


@fault()
async def sends_a_line_without_end(play: Play) -> None:
    await play.some()
    await play.send(b'data: {"content": "')
    for _ in range(100):
        if play.gone.is_set():
            return
        await play.send(b"x" * (1 << 20))
    raise AssertionError("it took all of it")


# --- it refuses


def _answer(status: str, body: bytes, kind: str = "application/json", *more: str) -> bytes:
    fields = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(fields).encode() + body


def _refuses(name: str, status: str, body: bytes, kind: str = "application/json", *more: str) -> None:
    async def play(play: Play) -> None:
        await play.raw(_answer(status, body, kind, *more))

    play.__name__ = name
    fault(early=True)(play)


_refuses("answers_500", "500 Internal Server Error", b'{"error": {"message": "it caught fire"}}')
_refuses("answers_503_without_words", "503 Service Unavailable", b"")
_refuses("answers_429_in_text", "429 Too Many Requests", b"slow down", "text/plain")
_refuses("answers_404_as_a_page", "404 Not Found", b"<html>no</html>", "text/html")
_refuses("answers_with_a_large_error", "500 Internal Server Error", b"x" * (3 << 20), "text/plain")
_refuses("answers_another_error", "400 Bad Request", b'{"error": [1, {"message": null}]}')
_refuses("answers_somewhere_else", "302 Found", b"", "text/html", "Location: http://127.0.0.1:9/")
_refuses("answers_a_page", "200 OK", b"<html>log in</html>", "text/html")
_refuses("answers_401", "401 Unauthorized", b'{"error": {"message": "no key"}}')
_refuses("answers_half_a_json", "500 Internal Server Error", b'{"error": {"mess')
_refuses("answers_no_text", "502 Bad Gateway", bytes(range(256)), "application/octet-stream")
_refuses("answers_with_a_false_type", "200 OK", b"what is this?", "application/json")
_refuses("answers_json_of_another_kind", "200 OK", b"[1, 2, 3]")


@fault()
async def tells_an_error_in_the_middle(play: Play) -> None:
    await play.some()
    await play.send(play.form.error)
    await play.end()
