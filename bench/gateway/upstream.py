"""A scripted upstream in a process of its own: it streams numbered pieces in either way of speaking.

python -m bench.gateway.upstream PIECES PAUSE [TOGETHER]    # prints its port

It writes as an engine does: with each step one piece for every stream, and each piece by itself.
`PAUSE`: seconds between two steps, 0 for none.  `TOGETHER`: pieces that are joined into one write, which no engine does.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

__all__ = ["body_of", "main"]

_STAMP = b" t000000000000000"

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def main() -> None:
    """Serve until stdin is closed."""
    pieces, pause, *together = sys.argv[1:]
    asyncio.run(_serve(int(pieces), float(pause), int(*together or "1")))


async def _serve(pieces: int, pause: float, together: int) -> None:
    there = _There(pieces, pause, together)
    server = await asyncio.start_server(there.talk, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


class _There:
    def __init__(self, pieces: int, pause: float, together: int) -> None:
        self.pause, self.together = pause, together
        words = [f" w{number}{_STAMP.decode() if pause else ''}" for number in range(pieces)]
        self.frames = {"/v1/chat/completions": _chunked(_chat(words)), "/completion": _chunked(_llama(words))}

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                await self._answer(line.split()[1].decode(), await body_of(reader), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        frames = self.frames.get(path)
        if frames is None:
            _tell(path, body, writer)
        elif self.pause:
            writer.write(_HEAD)
            for frame in frames:
                writer.write(_stamped(frame))
                await asyncio.sleep(self.pause)
        else:
            writer.write(_HEAD)
            for begin in range(0, len(frames), self.together):
                writer.write(b"".join(frames[begin : begin + self.together]))
                await writer.drain()
                await asyncio.sleep(0)  # the other streams' turn
        await writer.drain()


def _stamped(frame: bytes) -> bytes:
    """With the time at which it leaves behind its word, which every process of this machine reads off the same clock."""
    stamp = b" t%015d" % (time.monotonic_ns() // 1000)
    return frame.replace(_STAMP, stamp)


async def body_of(reader: asyncio.StreamReader) -> bytes:
    """The body of the request whose first line was read."""
    size = 0
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return await reader.readexactly(size)


def _tell(path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    answers: dict[str, Any] = {
        "/v1/models": {"object": "list", "data": [{"id": "demo", "object": "model"}]},
        "/props": {
            "default_generation_settings": {"n_ctx": 4096},
            "total_slots": 4096,
            "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}",
        },
        "/tokenize": {"tokens": _tokens(body)},
    }
    data = json.dumps(answers.get(path, {})).encode()
    status = b"200 OK" if path in answers else b"404 Not Found"
    writer.write(
        b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(data)) + data
    )


def _tokens(body: bytes) -> list[Any]:
    asked = json.loads(body or b"{}")
    if not asked.get("content"):
        return []
    return [{"id": 1, "piece": "<|im_end|>"}] if asked.get("with_pieces") else [7]


def _chunked(lines: list[bytes]) -> list[bytes]:
    framed = [b"%x\r\ndata: %b\n\n\r\n" % (len(line) + 8, line) for line in lines]
    return [*framed, b"0\r\n\r\n"]


def _chat(words: list[str]) -> list[bytes]:
    def chunk(delta: Any, reason: str | None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        facts = {"id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
        return json.dumps({**facts, "choices": [choice]}).encode()

    first = chunk({"role": "assistant", "content": ""}, None)
    return [first, *(chunk({"content": word}, None) for word in words), chunk({}, "stop"), b"[DONE]"]


def _llama(words: list[str]) -> list[bytes]:
    made = [{"content": word, "tokens": [7], "stop": False, "tokens_predicted": 1} for word in words]
    last = {"content": "", "tokens": [], "stop": True, "stop_type": "eos", "tokens_predicted": len(words)}
    return [json.dumps(one).encode() for one in [*made, last]]


if __name__ == "__main__":
    main()
