"""Turns, written as one Completions answer: what the stream of the same turns adds up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..messages import Request, Turn
from . import wire
from .chat_shape import Token, extras, failure
from .completions_request import Settings
from .completions_shape import finish_word, logprobs_lists, usage

__all__ = ["answer"]

_TAKEN = ("id", "object", "created", "model", "choices", "usage", "error")


def answer(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    answer_id: str,
    created: int,
    model: str = "",
    logprobs: Sequence[Iterable[Token]] = (),
    extra: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The whole answer; the arguments are those of `Writer`, one turn (and its log probabilities) for each choice.

    Raises:
        Exception: the error that a turn ended with; a failed turn has no good-looking answer.
    """
    prompts = [prompt.text if settings.echo else "" for prompt in request.prompts for _ in range(request.n)]
    tokens: Sequence[Iterable[Token] | None] = logprobs or [None] * len(turns)
    return {
        "id": answer_id,
        "object": "text_completion",
        "created": created,
        "model": model or request.model,
        "choices": [
            _choice(index, turn, prompt, shown)
            for index, (turn, prompt, shown) in enumerate(zip(turns, prompts, tokens, strict=True))
        ],
        "usage": usage([turn.usage for turn in turns], request.n),
        **extras(extra, _TAKEN),
    }


def _choice(index: int, turn: Turn, prompt: str, tokens: Iterable[Token] | None) -> dict[str, Any]:
    if turn.finish in ("error", "cancelled"):
        raise turn.error or failure(turn.finish)
    stop = {"stop_reason": wire.clean(turn.stop)} if turn.stop else {}
    return {
        "index": index,
        "text": wire.clean(prompt + turn.content),
        "logprobs": None if tokens is None else logprobs_lists(tokens, len(prompt)),
        "finish_reason": finish_word(turn.finish),
        **stop,
    }
