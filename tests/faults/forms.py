"""How each kind of engine streams: its path, its frames for some words, its way to say an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CHAT", "COMPLETIONS", "GENERATE", "LLAMA", "MESSAGES", "OLLAMA", "RESPONSES", "Form"]

SSE, LINES = b"text/event-stream", b"application/x-ndjson"
TOLD = {"error": {"code": 500, "message": "it caught fire", "type": "server_error"}}


@dataclass(frozen=True)
class Form:
    """`kind`: the content type.  `raw`: it takes prompts, and not conversations alone."""

    path: str
    frames: Callable[[Sequence[str]], list[bytes]]
    error: bytes
    kind: bytes = SSE
    raw: bool = False

    def framed(self, payload: bytes) -> bytes:
        """Any bytes, as a frame of this kind."""
        return payload + b"\n" if self.kind == LINES else b"data: " + payload + b"\n\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _data(*values: Any) -> list[bytes]:
    return [b"data: " + (value if isinstance(value, bytes) else _json(value)) + b"\n\n" for value in values]


def _named(*values: dict[str, Any]) -> list[bytes]:
    return [b"event: " + value["type"].encode() + b"\ndata: " + _json(value) + b"\n\n" for value in values]


def _lines(*values: Any) -> list[bytes]:
    return [_json(value) + b"\n" for value in values]


def _llama(words: Sequence[str]) -> list[bytes]:
    chunks = [{"content": word, "tokens": [number], "stop": False} for number, word in enumerate(words, 10)]
    last = {"content": "", "tokens": [], "stop": True, "stop_type": "eos", "tokens_predicted": 5, "tokens_evaluated": 3}
    return _data(*chunks, last)


def _chat(words: Sequence[str]) -> list[bytes]:
    def chunk(delta: Any, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    said = (chunk({"content": word}) for word in words)
    return _data(chunk({"role": "assistant", "content": ""}), *said, chunk({}, "stop"), b"[DONE]")


def _completions(words: Sequence[str]) -> list[bytes]:
    def chunk(text: str, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}
        return {"id": "x", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}

    return _data(*map(chunk, words), chunk("", "stop"), b"[DONE]")


def _responses(words: Sequence[str]) -> list[bytes]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = {"type": "message", "id": "msg_1", "role": "assistant"}
    text = {"type": "output_text", "text": "".join(words), "annotations": []}
    whole = {**item, "status": "completed", "content": [text]}
    response = {"id": "resp_1", "object": "response", "output": []}
    return _named(
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        *({"type": "response.output_text.delta", **place, "delta": word} for word in words),
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [whole]}},
    )


def _messages(words: Sequence[str]) -> list[bytes]:
    start = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 3}}
    return _named(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in words),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    )


def _ollama(words: Sequence[str]) -> list[bytes]:
    said = [{"model": "m", "message": {"role": "assistant", "content": word}, "done": False} for word in words]
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 5}
    return _lines(*said, {"model": "m", "message": {"role": "assistant", "content": ""}, **end})


def _generate(words: Sequence[str]) -> list[bytes]:
    said = [{"model": "m", "response": word, "done": False} for word in words]
    return _lines(*said, {"model": "m", "response": "", "done": True, "done_reason": "stop", "eval_count": 5})


_ERROR = _data(TOLD)[0]
_NAMED_ERROR = _named({"type": "error", **TOLD})[0]
_PLAIN_ERROR = _lines({"error": "it caught fire"})[0]
_LLAMA_ERROR = b"error: " + _json(TOLD["error"]) + b"\n\n"

LLAMA = Form("/completion", _llama, _LLAMA_ERROR, raw=True)
COMPLETIONS = Form("/v1/completions", _completions, _ERROR, raw=True)
GENERATE = Form("/api/generate", _generate, _PLAIN_ERROR, LINES, raw=True)
CHAT = Form("/v1/chat/completions", _chat, _ERROR)
RESPONSES = Form("/v1/responses", _responses, _NAMED_ERROR)
MESSAGES = Form("/v1/messages", _messages, _NAMED_ERROR)
OLLAMA = Form("/api/chat", _ollama, _PLAIN_ERROR, LINES)
