"""What a Responses stream and a whole answer have in common: the response object, its usage, its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import RequestError
from ..events import Usage
from . import chat_error, wire
from .chat_shape import extras

__all__ = ["Response", "error", "error_event", "incomplete_reason", "usage_shape"]

_INCOMPLETE = {"length": "max_output_tokens", "filter": "content_filter"}
# What is called by another name in other protocols.
_PARAMS = {"messages": "input", "response_format": "text.format"}
_CODES = {429: "rate_limit_exceeded"}
# What a response repeats of a request that does not speak of it.
_UNASKED: Mapping[str, Any] = {
    "previous_response_id": None,
    "instructions": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "temperature": 1.0,
    "reasoning": {"effort": None, "summary": None},
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": True,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
    "user": None,
}


class Response:
    """A response: what never changes of it, and its object in every state."""

    def __init__(self, answer_id: str, created: int, model: str, echo: Mapping[str, Any]) -> None:
        self._names = {"id": answer_id, "object": "response", "created_at": created}
        self._model, self._echo = model, {**_UNASKED, **echo}

    def object(
        self,
        status: str,
        output: Sequence[Mapping[str, Any]] = (),
        *,
        usage: Usage | None = None,
        completed: int | None = None,
        incomplete: str = "",
        exc: BaseException | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The whole object, with every key it can have."""
        whole = {
            **self._names,
            "completed_at": completed,
            "status": status,
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "model": self._model,
            "output": list(output),
            "error": None if exc is None else _failure(exc),
            **self._echo,
            "usage": None if usage is None else usage_shape(usage),
        }
        return {**whole, **extras(extra, whole)}


def usage_shape(usage: Usage) -> dict[str, Any]:
    """The usage; what is unknown counts as 0."""
    prompt, completion = usage.prompt or 0, usage.completion or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": min(usage.cached or 0, prompt), "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": min(usage.reasoning or 0, completion)},
        "total_tokens": prompt + completion,
    }


def incomplete_reason(reason: str) -> str:
    """Why a response is not whole, "" if it is."""
    return _INCOMPLETE.get(reason, "")


def error(exc: BaseException) -> tuple[int, dict[str, Any]]:
    """The status and the body for an error before the first byte."""
    status, body = chat_error.error(exc)
    param = body["error"]["param"]
    body["error"]["param"] = _PARAMS.get(param, param)
    return status, body


def error_event(exc: BaseException) -> dict[str, Any]:
    """The members of an `error` event: flat, and once more as an object of its own, since specifications differ."""
    status, body = error(exc)
    facts = body["error"]
    flat = {"code": _code(exc, status), "message": facts["message"], "param": facts["param"]}
    return {**flat, "error": {"type": facts["type"], **flat}}


def _failure(exc: BaseException) -> dict[str, str]:
    status, body = error(exc)
    return {"code": _code(exc, status), "message": wire.clean(body["error"]["message"])}


def _code(exc: BaseException, status: int) -> str:
    """One of the few codes that clients know."""
    return _CODES.get(status, "invalid_prompt" if isinstance(exc, RequestError) else "server_error")
