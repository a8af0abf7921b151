"""What stands behind each path, for the OpenAPI document; /v1 before a path makes no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["OPERATIONS", "Operation"]

_JSON, _EVENTS, _LINES = "application/json", "text/event-stream", "application/x-ndjson"


@dataclass(frozen=True)
class Operation:
    """One method of a path.

    `takes`: the table of fields of its body, "" for any object, None for no body.
    `gives` and `streams`: media types of its answer, whole and streamed.
    """

    method: str
    summary: str
    takes: str | None = ""
    gives: str = _JSON
    streams: str = ""
    statuses: Sequence[int] = (200,)
    query: Sequence[tuple[str, Mapping[str, Any]]] = ()


def _answer(summary: str, takes: str, streams: str = _EVENTS) -> tuple[Operation, ...]:
    return (Operation("post", summary, takes, streams=streams),)


def _get(summary: str, *query: str, gives: str = _JSON) -> tuple[Operation, ...]:
    return (Operation("get", summary, gives=gives, query=[(name, {"type": "string"}) for name in query]),)


def _post(summary: str, takes: str | None = "", *statuses: int) -> tuple[Operation, ...]:
    return (Operation("post", summary, takes, statuses=statuses or (200,)),)


_CANCEL = _post("End a request by the id of its answer or of its client", None, 200, 202)
_REFUSED = (Operation("post", "Not offered here", None, ""),)
_STREAM = ("stream", {"type": "string", "enum": ["true", "false"]})
_AFTER = ("starting_after", {"type": "integer", "minimum": -1})
_LIMIT = ("limit", {"type": "integer", "minimum": 1, "maximum": 100})
_ORDER = ("order", {"type": "string", "enum": ["asc", "desc"]})

OPERATIONS: Mapping[str, Sequence[Operation]] = {
    "/chat/completions": _answer("An answer in a conversation", "Chat Completions"),
    "/responses": _answer("A response", "Responses"),
    "/messages": _answer("A message", "Messages"),
    "/completions": _answer("How a text goes on", "Completions"),
    "/api/chat": _answer("An answer in a conversation", "Ollama, /api/chat", _LINES),
    "/api/generate": _answer("An answer to a prompt", "Ollama, /api/generate", _LINES),
    "/responses/{id}": (
        Operation("get", "A stored response, or its stream once more", streams=_EVENTS, query=[_STREAM, _AFTER]),
        Operation("delete", "Forget a stored response"),
    ),
    "/responses/{id}/cancel": _post("End a response that runs in the background", None),
    "/responses/{id}/input_items": (
        Operation("get", "What a response was made from", query=[_LIMIT, _ORDER, ("after", {"type": "string"})]),
    ),
    "/responses/input_tokens": _post("The size of a prompt", "Responses"),
    "/responses/compact": _REFUSED,
    "/messages/count_tokens": _post("The size of a prompt", "Messages"),
    "/models": _get("The models"),
    "/models/{model:path}": _get("One model"),
    "/embeddings": _post("Texts as vectors, where the engine makes them", "Embeddings"),
    "/tokenize": _post("The tokens of a text"),
    "/detokenize": _post("The text of tokens"),
    "/apply-template": _post("A conversation as the model's prompt"),
    "/api/tags": _get("The models"),
    "/api/ps": _get("The models that are loaded"),
    "/api/show": _post("A model and its abilities"),
    "/api/version": _get("The version"),
    "/api/embed": _post("Texts as vectors, where the engine makes them", "Ollama, /api/embed"),
    "/api/embeddings": _post("A text as a vector, where the engine makes it", "Ollama, /api/embeddings"),
    "/health": _get("Whether the server is ready"),
    "/metrics": _get("Numbers for Prometheus", gives="text/plain"),
    "/openapi.json": _get("This document"),
    "/": _get("What the server is and has"),
    "/chat/completions/{id}/cancel": _CANCEL,
    "/completions/{id}/cancel": _CANCEL,
    "/messages/{id}/cancel": _CANCEL,
    "/cancel/{id}": _CANCEL,
    "/api/cancel/{id}": _CANCEL,
    "/dragoman/live": _get("Turns as they happen", gives=_EVENTS),
    "/dragoman/turns/{turn}.txt": _get("A turn as a case file", gives="text/plain"),
    "/dragoman/web/{name}": _get("A file of the page", gives="text/html"),
}
"""Path without /v1 -> its operations."""
