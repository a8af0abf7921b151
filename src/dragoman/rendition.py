"""Rendition: an explained turn in the words of a protocol, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from types import ModuleType

from .cases.case import Case
from .errors import UsageError
from .events import Finish, Usage
from .explanation import Explanation
from .messages import Request
from .protocols import chat, messages_api, ollama, responses

__all__ = ["PROTOCOLS", "frames"]

PROTOCOLS: dict[str, ModuleType] = {
    "chat": chat,
    "responses": responses,
    "messages": messages_api,
    "ollama": ollama,
}


def frames(case: Case, found: Explanation, protocol: str) -> Iterator[bytes]:
    """What a client of a protocol is sent at each step; the end of the stream is part of the last.

    Raises:
        UsageError: there is no such protocol.
    """
    if protocol not in PROTOCOLS:
        raise UsageError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    spoken = PROTOCOLS[protocol]
    request, settings = Request(model="model", tools=tuple(case.tools or ())), spoken.Settings(stream=True)
    numbers = count(1)
    writer = spoken.Writer(
        request, settings, answer_id="answer", created=0, model="model", ids=lambda: f"call_{next(numbers)}"
    )
    for step in found.steps:
        events = list(step.events)
        if events and isinstance(events[-1], Finish) and not any(isinstance(event, Usage) for event in events):
            events.insert(-1, Usage(0, 0))
        last = step is found.steps[-1]
        yield (writer.write(events, 0, ()) if events else b"") + (writer.close({}) if last else b"")
