"""Errors as Ollama's clients read them: `{"error": text}`, as a whole answer or as the last line of a stream."""

from __future__ import annotations

from . import chat_error

__all__ = ["error"]


def error(exc: BaseException) -> tuple[int, dict[str, str]]:
    """The status and the body for an error; of one that is not ours nothing is told but that it happened."""
    status, body = chat_error.error(exc)
    return status, {"error": body["error"]["message"]}
