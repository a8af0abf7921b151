"""A turn, written as one Messages answer: what the stream of the same turn adds up to, cut calls left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..messages import Call, Reasoning, Request, Text, Turn
from . import wire
from .chat_messages import used_ids
from .chat_shape import CallIds, Token, extras, failure
from .messages_api_request import Settings
from .messages_api_shape import TAKEN, input_of, stop_fields, usage_shape
from .messages_api_signature import sign

__all__ = ["answer"]


def answer(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    answer_id: str,
    created: int,  # noqa: ARG001 - every protocol's answer takes the same, and this one does not tell it
    ids: Callable[[], str],
    model: str = "",
    logprobs: Sequence[Iterable[Token]] = (),  # noqa: ARG001 - the same
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole answer; the arguments are those of `Writer`.  There is one turn: the protocol knows no choices.

    Raises:
        Exception: the error that the turn ended with; a failed turn has no good-looking answer.
    """
    (turn,) = turns
    if turn.finish in ("error", "cancelled"):
        raise turn.error or failure(turn.finish)
    called = any(call.complete for call in turn.calls)
    return {
        "id": answer_id,
        "type": "message",
        "role": "assistant",
        "model": model or request.model,
        "content": [*_blocks(turn, settings, CallIds(used_ids(request.messages), ids))],
        **stop_fields(turn.finish, turn.stop, turn.usage, request, called=called),
        "usage": usage_shape(turn.usage),
        **extras(extra, TAKEN),
    }


def _blocks(turn: Turn, settings: Settings, ids: CallIds) -> Iterator[dict[str, Any]]:
    for part in turn.parts:
        if isinstance(part, Call):
            if part.complete:
                yield _call(part, ids)
        elif part.text and isinstance(part, Text):
            yield {"type": "text", "text": wire.clean(part.text)}
        elif part.text and settings.thinking != "none":
            yield _thinking(part, settings)


def _call(call: Call, ids: CallIds) -> dict[str, Any]:
    name = wire.clean(call.name)
    return {"type": "tool_use", "id": ids.give(call.id), "name": name, "input": input_of(call.arguments)}


def _thinking(part: Reasoning | Text, settings: Settings) -> dict[str, Any]:
    text, omitted = wire.clean(part.text), settings.thinking == "omitted"
    signature = sign(text, settings.key, carry=omitted)
    return {"type": "thinking", "thinking": "" if omitted else text, "signature": signature}
