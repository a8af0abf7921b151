"""Truncate: a conversation made to fit the model's context, where the client allows it: the oldest turns go.

Instructions stay, and so does the last turn.  A turn goes whole, from one message of the user to the next,
so that no result is left without its call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..engines.prompt import render
from ..messages import Message, Request
from .roster import Served

__all__ = ["fit"]

_ROOM = 256  # tokens that are left for an answer without a limit


async def fit(request: Request, served: Served) -> Request:
    """The request with as many of its messages as fit, or as it is where nothing can be told or done."""
    context, starts = served.info.context, _starts(request.messages)
    if context is None or not starts:
        return request
    room = min(request.limit or _ROOM, context // 2)
    for begin in starts:
        shorter = _without(request, begin)
        count = await served.engine.count(render(shorter, served.info, served.dialect))
        if count is None or count + room <= context:
            return shorter
    return _without(request, starts[-1])


def _starts(messages: Sequence[Message]) -> list[int]:
    """Where the turns begin."""
    return [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and (index == 0 or messages[index - 1].role != "user")
    ]


def _without(request: Request, start: int) -> Request:
    """Without what was said before a message; instructions stay."""
    kept = (message for index, message in enumerate(request.messages) if index >= start or message.role == "system")
    return replace(request, messages=tuple(kept))
