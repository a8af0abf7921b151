"""What an Ollama stream and a whole answer have in common, so that they cannot differ.

A line and a whole answer have the same shape; the endpoints differ in where the text stands (a `Form`):
{"model", "created_at", "message": {"role", "content"} | "response", "done"}, and at the end the reason and the counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from ..events import Usage
from . import wire
from .chat_shape import Token, logprobs_shape

__all__ = [
    "Form",
    "call_shape",
    "chat_form",
    "counts",
    "finish_word",
    "generate_form",
    "head",
    "idle",
    "tokens",
    "usual",
]

_TAKEN = ("model", "created_at", "message", "response", "thinking", "done", "error", "seconds", "timings")


class Form(Protocol):
    """Where an endpoint puts the text of an answer, and what belongs to it."""

    def __call__(self, content: str = "", **more: Any) -> dict[str, Any]:
        """The fields; `more` are thinking and tool_calls, each only if there is any."""


def chat_form(content: str = "", **more: Any) -> dict[str, Any]:
    """The text as /api/chat has it."""
    return {"message": {"role": "assistant", "content": content, **more}}


def generate_form(content: str = "", **more: Any) -> dict[str, Any]:
    """The text as /api/generate has it."""
    return {"response": content, **more}


def head(model: str, created: int) -> dict[str, Any]:
    """What every line begins with."""
    moment = datetime.fromtimestamp(created, UTC)
    return {"model": model, "created_at": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}


def call_shape(index: int, call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A whole call.  Arguments that are no JSON object are shown as they are, under `_raw`.

    The index stands where Ollama has it, and where LiteLLM looks for it, which otherwise takes calls of two lines for one.
    """
    function = {"index": index, "name": name, "arguments": _object(arguments)}
    return {"id": call_id, "index": index, "function": function}


def finish_word(reason: str) -> str:
    """The `done_reason`; it stays `stop` also after calls."""
    return "length" if reason == "length" else "stop"


def tokens(found: Iterable[Token]) -> list[dict[str, Any]]:
    """Log probabilities."""
    shown: list[dict[str, Any]] = logprobs_shape(found)["content"]
    return shown


def idle(reason: str) -> dict[str, Any]:
    """The end of an answer to a request that asked nothing (load, unload)."""
    return {"done": True, "done_reason": reason}


def counts(reason: str, usage: Usage | None, extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """The end of an answer: why, how long it took in nanoseconds, how many tokens.

    `extra` has the `seconds` until the first piece and in all, and the engine's own `timings` where it tells them.
    """
    usage, extra = usage or Usage(), extra or {}
    total, prompt, answer = _durations(extra.get("seconds", {}), extra.get("timings", {}))
    return {
        "done": True,
        "done_reason": finish_word(reason),
        "total_duration": total,
        "load_duration": 0,  # the model is there before anything is asked
        "prompt_eval_count": usage.prompt or 0,
        "prompt_eval_duration": prompt,
        "eval_count": usage.completion or 0,
        "eval_duration": answer,
    }


def usual(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Further facts that ride along, without those that are told in Ollama's own words."""
    return {key: value for key, value in (extra or {}).items() if key not in _TAKEN}


def _durations(seconds: Mapping[str, float], timings: Mapping[str, Any]) -> tuple[int, int, int]:
    """In all, for the prompt, and for the answer; the engine's own measure where there is one."""
    total = seconds.get("total", 0.0)
    first = seconds.get("first", total)
    prompt = _milliseconds(timings, "prompt_ms", first)
    answer = _milliseconds(timings, "predicted_ms", total - first)
    return _nano(max(total, prompt + answer)), _nano(prompt), _nano(answer)


def _milliseconds(timings: Mapping[str, Any], key: str, default: float) -> float:
    value = timings.get(key)
    return value / 1000 if isinstance(value, int | float) else default


def _nano(seconds: float) -> int:
    return max(0, round(seconds * 1e9))


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = wire.load(arguments or "{}")
        wire.dump(value)  # what JSON cannot say again, such as NaN in Python's reading of it, is not an object either
    except (ArithmeticError, RecursionError, ValueError):
        value = None
    return value if isinstance(value, dict) else {"_raw": arguments}
