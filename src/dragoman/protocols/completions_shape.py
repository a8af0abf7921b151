"""What a Completions stream and a whole answer have in common, so that they cannot differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..events import Usage
from . import wire
from .chat_shape import Token, logprobs_shape, usage_shape

__all__ = ["finish_word", "logprobs_lists", "usage"]


def finish_word(reason: str) -> str:
    """The `finish_reason`."""
    return {"length": "length", "filter": "content_filter"}.get(reason, "stop")


def logprobs_lists(tokens: Iterable[Token], at: int) -> dict[str, Any]:
    """Log probabilities in their older form: lists side by side; `at` is where the first token's text begins."""
    found = list(tokens)
    texts = [wire.clean(token.token) for token in found]
    shapes = logprobs_shape(found)["content"]
    offsets = [at + sum(map(len, texts[:place])) for place in range(len(texts))]
    return {
        "tokens": texts,
        "token_logprobs": [shape["logprob"] for shape in shapes],
        "top_logprobs": [_beside(shape) for shape in shapes] if any(token.top for token in found) else None,
        "text_offset": offsets,
    }


def usage(usages: Sequence[Usage | None], count: int) -> dict[str, Any]:
    """The usage of all choices, `count` of which share each prompt."""
    shapes = [usage_shape(usages[at : at + count]) for at in range(0, len(usages), count)]
    total = usage_shape([])
    for shape in shapes:
        total = _added(total, shape)
    return total


def _added(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {key: _added(one[key], other[key]) for key in one}
    return one + other


def _beside(shape: dict[str, Any]) -> dict[str, float]:
    return {other["token"]: other["logprob"] for other in shape["top_logprobs"]}
