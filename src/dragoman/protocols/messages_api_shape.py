"""What a Messages stream and a whole answer have in common, so that they cannot differ."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from ..events import Usage
from ..messages import Request
from . import wire

__all__ = ["TAKEN", "input_json", "input_of", "stop_fields", "usage_shape"]

TAKEN = ("id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "delta", "error")

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def stop_fields(reason: str, stop: str, usage: Usage | None, request: Request, *, called: bool) -> dict[str, Any]:
    """`stop_reason` and `stop_sequence`: the limit always wins, then a whole call, then a stop string."""
    if reason == "length":
        word = "max_tokens" if _limited(usage, request) else "model_context_window_exceeded"
    elif reason == "filter":
        word = "refusal"
    elif called:
        word = "tool_use"
    else:
        word = "stop_sequence" if stop else "end_turn"
    return {"stop_reason": word, "stop_sequence": wire.clean(stop) if word == "stop_sequence" else None}


def _limited(usage: Usage | None, request: Request) -> bool:
    """Whether the client's limit ended the answer; if it left room, the context did."""
    if request.limit is None:
        return False
    written = None if usage is None or usage.estimated else usage.completion
    return written is None or written >= request.limit


def usage_shape(usage: Usage | None) -> dict[str, Any]:
    """The usage; what is unknown counts as 0.  The three kinds of input add up to the prompt."""
    usage = usage or Usage()
    prompt, completion = usage.prompt or 0, usage.completion or 0
    cached = min(usage.cached or 0, prompt)
    return {
        "input_tokens": prompt - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": completion,
        "output_tokens_details": {"thinking_tokens": min(usage.reasoning or 0, completion)},
    }


def input_of(arguments: str) -> dict[str, Any]:
    """The arguments of a whole call as an object; what is none goes out under one key, as it is."""
    try:
        value = json.loads(arguments or "{}", parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"_raw": arguments}


def input_json(arguments: str) -> str:
    """The same as JSON text: the model's own where it can be sent as it is."""
    value = input_of(arguments)
    if value == {"_raw": arguments} or _HALF.search(arguments):
        return wire.dump(value).decode()
    return arguments or "{}"


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
