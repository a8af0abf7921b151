"""The protocols as their clients speak them: how a request is written, and by which rules an answer is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import (
    Finding,
    check_chat_answer,
    check_chat_stream,
    check_completions_answer,
    check_completions_stream,
    check_error,
    check_messages_answer,
    check_messages_error,
    check_messages_stream,
    check_ollama_answer,
    check_ollama_error,
    check_ollama_stream,
    check_response,
    check_responses_stream,
)
from ..checks.heard import HEAR, Heard
from ..messages import Request
from . import bodies

__all__ = ["CLIENTS", "Client"]


@dataclass(frozen=True)
class Client:
    """One protocol.

    `stream_type`: the media type of its streams.  `wrong`: members that make a request wrong.
    `unsaid`: kinds of scenarios that it has no words for.
    """

    name: str
    path: str
    write: Callable[[Request, bool], dict[str, Any]]
    check_stream: Callable[..., Iterable[Finding]]
    check_answer: Callable[..., Iterable[Finding]]
    check_error: Callable[[Any], Iterable[Finding]]
    wrong: Mapping[str, Any]
    stream_type: str = "text/event-stream"
    unsaid: frozenset[str] = frozenset()
    headers: Mapping[str, str] | None = None
    error_rule: str = "C21"

    def hear(self, body: Any, *, streamed: bool) -> Heard:
        """What an answer says: the bytes of a stream, or the value of a whole one."""
        stream, whole = HEAR[self.name]
        return stream(body) if streamed else whole(body if isinstance(body, Mapping) else {})


def _client(name: str, path: str, **facts: Any) -> tuple[str, Client]:
    return name, Client(name, path, **facts)


_ANTHROPIC = {"anthropic-version": "2023-06-01"}

CLIENTS: Mapping[str, Client] = dict(
    (
        _client(
            "chat",
            "/v1/chat/completions",
            write=bodies.chat,
            check_stream=check_chat_stream,
            check_answer=check_chat_answer,
            check_error=check_error,
            wrong={"messages": "not a list"},
        ),
        _client(
            "responses",
            "/v1/responses",
            write=bodies.responses,
            check_stream=check_responses_stream,
            check_answer=check_response,
            check_error=check_error,
            wrong={"input": 5},
            unsaid=frozenset({"stop"}),
        ),
        _client(
            "messages",
            "/v1/messages",
            write=bodies.messages,
            check_stream=check_messages_stream,
            check_answer=check_messages_answer,
            check_error=check_messages_error,
            wrong={"messages": 5},
            headers=_ANTHROPIC,
            error_rule="M13",
        ),
        _client(
            "ollama",
            "/api/chat",
            write=bodies.ollama,
            check_stream=check_ollama_stream,
            check_answer=check_ollama_answer,
            check_error=check_ollama_error,
            wrong={"messages": 5},
            stream_type="application/x-ndjson",
            unsaid=frozenset({"forced"}),
            error_rule="O7",
        ),
        _client(
            "completions",
            "/v1/completions",
            write=bodies.completions,
            check_stream=check_completions_stream,
            check_answer=check_completions_answer,
            check_error=check_error,
            wrong={"prompt": {"text": 5}},
            unsaid=frozenset({"forced", "tools", "reasoning", "history", "schema"}),
        ),
    )
)
"""Name -> protocol."""
