"""What the client of each protocol asks, and what it holds against the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dragoman import checks

__all__ = ["CLIENTS", "Client"]

USER = [{"role": "user", "content": "Hello"}]


@dataclass(frozen=True)
class Client:
    """What one protocol's client does.

    `stream`, `answer`, `error`: what finds faults in bytes and bodies.  `failed`: whether a stream says so itself.  `raw`: it asks with a prompt, which not every engine takes.
    """

    path: str
    body: dict[str, Any]
    stream: Callable[..., Iterable[Any]]
    answer: Callable[..., Iterable[Any]]
    error: Callable[[Any], Iterable[Any]]
    failed: Callable[[bytes], bool]
    text: Callable[[Any], str]
    joined: Callable[[bytes], str]
    raw: bool = False

    def check(self, status: int, kind: str, body: bytes, *, stream: bool) -> None:
        """Every rule of the protocol."""
        asked = {**self.body, "stream": stream}
        if status != 200:
            found = list(self.error(json.loads(body)))
        elif stream:
            assert "json" not in kind or "ndjson" in kind
            found = list(self.stream(body, request=asked))
        else:
            found = list(self.answer(json.loads(body), request=asked))
        assert not found, found


def _data(body: bytes) -> list[Any]:
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def _last(body: bytes) -> Any:
    return (_data(body) or [{}])[-1]


def _lines(body: bytes) -> list[Any]:
    return [json.loads(line) for line in body.splitlines() if line.strip()]


CLIENTS = {
    "chat": Client(
        "/v1/chat/completions",
        {"messages": USER},
        checks.check_chat_stream,
        checks.check_chat_answer,
        checks.check_error,
        lambda body: "error" in _last(body) and b"[DONE]" not in body,
        lambda answer: answer["choices"][0]["message"]["content"],
        lambda body: "".join(choice["delta"].get("content") or "" for one in _data(body) for choice in one["choices"]),
    ),
    "completions": Client(
        "/v1/completions",
        {"prompt": "Hello"},
        checks.check_completions_stream,
        checks.check_completions_answer,
        checks.check_error,
        lambda body: "error" in _last(body) and b"[DONE]" not in body,
        lambda answer: answer["choices"][0]["text"],
        lambda body: "".join(choice["text"] for one in _data(body) for choice in one["choices"]),
        raw=True,
    ),
    "responses": Client(
        "/v1/responses",
        {"input": "Hello", "store": False},
        checks.check_responses_stream,
        checks.check_response,
        checks.check_error,
        lambda body: _last(body).get("type") in ("response.failed", "error"),
        lambda answer: answer["output"][0]["content"][0]["text"],
        lambda body: "".join(one["delta"] for one in _data(body) if one["type"] == "response.output_text.delta"),
    ),
    "messages": Client(
        "/v1/messages",
        {"model": "demo", "max_tokens": 100, "messages": USER},
        checks.check_messages_stream,
        checks.check_messages_answer,
        checks.check_messages_error,
        lambda body: _last(body).get("type") == "error",
        lambda answer: answer["content"][0]["text"],
        lambda body: "".join(
            one["delta"].get("text", "") for one in _data(body) if one["type"] == "content_block_delta"
        ),
    ),
    "ollama": Client(
        "/api/chat",
        {"model": "demo", "messages": USER},
        checks.check_ollama_stream,
        checks.check_ollama_answer,
        checks.check_ollama_error,
        lambda body: "error" in _lines(body)[-1],
        lambda answer: answer["message"]["content"],
        lambda body: "".join(one["message"]["content"] for one in _lines(body) if "message" in one),
    ),
}
