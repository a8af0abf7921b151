"""The upstream of the soak, in a process of its own: it speaks every way, and does what the prompt tells it to do.

python -m bench.soak.upstream    # prints two ports: of the one that stays, and of one that goes away and comes back

A prompt says `count:N` (how many pieces), `pause:MS` between them, and `do:DEED`, one of `DEEDS`.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from ..gateway.upstream import body_of

__all__ = ["DEEDS", "main"]

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n"
_COUNT, _PAUSE, _DEED = re.compile(rb"count:(\d+)"), re.compile(rb"pause:(\d+)"), re.compile(rb"do:(\w+)")
_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
_UP, _DOWN = 15.0, 3.0  # seconds of the one that goes away
_LINE = 4 << 20


def main() -> None:
    """Serve until stdin is closed."""
    asyncio.run(_serve())


async def _serve() -> None:
    server = await asyncio.start_server(_talk, "127.0.0.1", 0, backlog=1024)
    flaky = _Flaky()
    await flaky.listen()
    print(server.sockets[0].getsockname()[1], flaky.port, flush=True)
    blinking = asyncio.create_task(flaky.blink())
    await asyncio.to_thread(sys.stdin.read)
    blinking.cancel()


class _Flaky:
    """A server that is there, and then is not, with all its connections."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def listen(self) -> None:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def blink(self) -> None:
        while True:
            await asyncio.sleep(_UP)
            assert self._server is not None
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            await asyncio.sleep(_DOWN)
            await self.listen()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            await _talk(reader, writer)
        finally:
            self._open.discard(writer)


async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            path, body = line.split()[1].decode().partition("?")[0], await body_of(reader)
            if path in _WAYS:
                await _Answer(path, body, reader, writer).play()
            else:
                _tell(path, body, writer)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def _tell(path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    """What it is like, and how it cuts texts into tokens."""
    asked = json.loads(body or b"{}")
    token: Any = {"id": 1, "piece": "<|im_end|>"} if asked.get("with_pieces") else 7
    known: dict[str, Any] = {
        "/v1/models": {"object": "list", "data": [{"id": "demo", "object": "model"}]},
        "/props": {
            "default_generation_settings": {"n_ctx": 4096},
            "total_slots": 64,
            "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}",
        },
        "/tokenize": {"tokens": [token] if asked.get("content") else []},
    }
    status = b"200 OK" if path in known else b"404 Not Found"
    writer.write(_whole(status, json.dumps(known.get(path, {})).encode()))


def _whole(status: bytes, body: bytes, kind: bytes = b"application/json") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b" % (status, kind, len(body), body)


# --- ways of speaking: a path, and the frames of some words


def _data(*values: Any) -> list[bytes]:
    return [b"data: %b\n\n" % (value if isinstance(value, bytes) else json.dumps(value).encode()) for value in values]


def _named(*values: dict[str, Any]) -> list[bytes]:
    return [b"event: %b\ndata: %b\n\n" % (value["type"].encode(), json.dumps(value).encode()) for value in values]


def _llama(words: Sequence[str]) -> list[bytes]:
    made = [{"content": word, "tokens": [7], "stop": False} for word in words]
    return _data(*made, {"content": "", "tokens": [], "stop": True, "stop_type": "eos", "tokens_predicted": len(words)})


def _chat(words: Sequence[str]) -> list[bytes]:
    def chunk(delta: Any, reason: str | None = None) -> Any:
        return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    return _data(
        chunk({"role": "assistant"}), *(chunk({"content": word}) for word in words), chunk({}, "stop"), b"[DONE]"
    )


def _completions(words: Sequence[str]) -> list[bytes]:
    def chunk(text: str, reason: str | None = None) -> Any:
        return {"id": "x", "choices": [{"index": 0, "text": text, "finish_reason": reason}]}

    return _data(*map(chunk, words), chunk("", "stop"), b"[DONE]")


def _responses(words: Sequence[str]) -> list[bytes]:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    deltas = [
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word}
        for word in words
    ]
    done = {"type": "response.completed", "response": {"object": "response", "status": "completed", "output": []}}
    return _named({"type": "response.output_item.added", "output_index": 0, "item": item}, *deltas, done)


def _messages(words: Sequence[str]) -> list[bytes]:
    begin = {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 3}}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in words
    ]
    over = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    return _named(begin, block, *deltas, {"type": "content_block_stop", "index": 0}, over, {"type": "message_stop"})


def _ollama(key: Callable[[str], dict[str, Any]]) -> Callable[[Sequence[str]], list[bytes]]:
    def frames(words: Sequence[str]) -> list[bytes]:
        last = {**key(""), "done": True, "done_reason": "stop", "eval_count": len(words)}
        made = [*({**key(word), "done": False} for word in words), last]
        return [json.dumps(one).encode() + b"\n" for one in made]

    return frames


_SSE, _LINES = b"text/event-stream", b"application/x-ndjson"
_WAYS: dict[str, tuple[Callable[[Sequence[str]], list[bytes]], bytes]] = {
    "/completion": (_llama, _SSE),
    "/v1/chat/completions": (_chat, _SSE),
    "/v1/completions": (_completions, _SSE),
    "/v1/responses": (_responses, _SSE),
    "/v1/messages": (_messages, _SSE),
    "/api/chat": (_ollama(lambda word: {"message": {"role": "assistant", "content": word}}), _LINES),
    "/api/generate": (_ollama(lambda word: {"response": word}), _LINES),
}


class _Answer:
    """One answer, as the prompt wants it."""

    def __init__(self, path: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames, self.kind = _WAYS[path]
        self.reader, self.writer = reader, writer
        count, pause, deed = (pattern.findall(body)[-1:] for pattern in (_COUNT, _PAUSE, _DEED))
        self.pause = int(pause[0]) / 1000 if pause else 0.0
        self.deed = deed[0].decode() if deed else "good"
        words = [f" w{number}" for number in range(int(count[0]) if count else 5)]
        self.frames = frames([_CALL] if self.deed == "call" else words)

    async def play(self) -> None:
        await DEEDS[self.deed](self)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def head(self) -> None:
        await self.raw(_HEAD % self.kind)

    async def some(self, count: int = 3) -> None:
        await self.head()
        for frame in self.frames[:count]:
            await self.send(frame)

    async def rest(self, count: int = 3) -> None:
        for frame in self.frames[count:]:
            await self.send(frame)
            await asyncio.sleep(self.pause)
        await self.end()

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def gone(self) -> None:
        """Until the other side has left."""
        with suppress(ConnectionError):
            await self.reader.read(1)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


# --- what it may be told to do


async def _good(answer: _Answer) -> None:
    await answer.some()
    await answer.rest()


async def _endless(answer: _Answer) -> None:
    """Until the other side has left."""
    await answer.some()
    gone = asyncio.create_task(answer.gone())
    try:
        while not gone.done():
            await answer.send(answer.frames[1])
            await asyncio.sleep(answer.pause or 0.05)
    finally:
        gone.cancel()


async def _silent(answer: _Answer) -> None:
    await answer.gone()


async def _stalls(answer: _Answer) -> None:
    await answer.some()
    await answer.gone()


async def _dies_early(answer: _Answer) -> None:
    answer.close()


async def _dies(answer: _Answer) -> None:
    await answer.some()
    answer.close()


async def _dies_in_a_frame(answer: _Answer) -> None:
    await answer.some()
    await answer.send(answer.frames[3][:9])
    answer.reset()


async def _ends_early(answer: _Answer) -> None:
    await answer.some()
    await answer.end()


async def _tells_noise(answer: _Answer) -> None:
    await answer.some()
    await answer.send(b"data: \xff\xfe\x00{]\n\n{\n")
    await answer.rest()


async def _breaks_chunks(answer: _Answer) -> None:
    await answer.some()
    await answer.raw(b"zz\r\nnot a chunk\r\n")
    await answer.gone()


async def _long_line(answer: _Answer) -> None:
    await answer.some()
    await answer.send(b'data: {"content": "')
    for _ in range(8):
        await answer.send(b"x" * _LINE)
    answer.close()


async def _tells_an_error(answer: _Answer) -> None:
    await answer.some()
    told = b'{"type": "error", "error": {"code": 500, "message": "it caught fire", "type": "server_error"}}'
    await answer.send(told + b"\n" if answer.kind == _LINES else b"event: error\ndata: %b\n\n" % told)
    await answer.end()


def _refuses(status: bytes, body: bytes, kind: bytes = b"application/json") -> Callable[[_Answer], Awaitable[None]]:
    async def refuse(answer: _Answer) -> None:
        await answer.raw(_whole(status, body, kind))

    return refuse


DEEDS: dict[str, Callable[[_Answer], Awaitable[None]]] = {
    "good": _good,
    "call": _good,
    "endless": _endless,
    "silent": _silent,
    "stalls": _stalls,
    "dies_early": _dies_early,
    "dies": _dies,
    "dies_in_a_frame": _dies_in_a_frame,
    "ends_early": _ends_early,
    "tells_noise": _tells_noise,
    "breaks_chunks": _breaks_chunks,
    "long_line": _long_line,
    "tells_an_error": _tells_an_error,
    "refuses_500": _refuses(b"500 Internal Server Error", b'{"error": {"message": "it caught fire"}}'),
    "refuses_429": _refuses(b"429 Too Many Requests", b"slow down", b"text/plain"),
    "refuses_503": _refuses(b"503 Service Unavailable", b""),
    "refuses_400": _refuses(b"400 Bad Request", b'{"error": {"message": "no"}}'),
    "tells_a_page": _refuses(b"200 OK", b"<html>log in</html>", b"text/html"),
    "tells_nothing": _refuses(b"200 OK", b""),
}


if __name__ == "__main__":
    main()
