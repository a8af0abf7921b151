"""What one output frame costs in each protocol: a token's event in, the bytes of its frame out."""

from __future__ import annotations

import json.encoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dragoman.events import CallArgs, CallStart, Content, Event, Reasoning
from dragoman.messages import Raw, Request
from dragoman.protocols import chat, completions, messages_api, ollama, ollama_generate, responses
from dragoman.server.shelf import Recording
from dragoman.state.store import Record

from .measure import Rate, rate

__all__ = ["PIECES", "each"]

PIECES = 16_000
_OPENERS: Mapping[str, tuple[Event, Callable[[], Event]]] = {
    "content": (Content("a"), lambda: Content(" token")),
    "reasoning": (Reasoning("a"), lambda: Reasoning(" token")),
    "arguments": (CallStart(0, "", "f"), lambda: CallArgs(0, " token")),
}
_ALL = ("content", "reasoning", "arguments")
# Name -> protocol, what differs in its settings, and the kinds of frames it has.
_CASES: Mapping[str, tuple[Any, dict[str, Any], Sequence[str]]] = {
    "chat": (chat, {}, _ALL),
    "chat, buffered calls": (chat, {"tool_arguments": "buffered"}, ("arguments",)),
    "chat, inline reasoning": (chat, {"reasoning_field": "inline"}, ("reasoning",)),
    "chat, reasoning twice": (chat, {"reasoning_field": "both"}, ("reasoning",)),
    "responses": (responses, {}, _ALL),
    "responses, with a summary": (responses, {"summary": True}, ("reasoning",)),
    "messages": (messages_api, {}, _ALL),
    "messages, eager calls": (messages_api, {"eager": frozenset(["f"])}, ("arguments",)),
    "ollama": (ollama, {}, _ALL),
    "ollama, generate": (ollama_generate, {}, ("content", "reasoning")),
    "completions": (completions, {}, ("content",)),
}


def each(repeat: int) -> Iterator[tuple[str, str, Rate]]:
    """Every protocol and kind of frame with its rate; a response that is kept is recorded as the server does."""
    for name, (protocol, settings, kinds) in _CASES.items():
        for kind in kinds:
            yield name, kind, _rate(protocol, settings, kind, repeat)
    yield "responses, kept", "content", _rate(responses, {}, "content", repeat, kept=True)


def _rate(protocol: Any, settings: dict[str, Any], kind: str, repeat: int, *, kept: bool = False) -> Rate:
    first, make = _OPENERS[kind]
    batches = [[make()] for _ in range(PIECES)]

    def run() -> None:
        write = _writer(protocol, settings).write
        add = Recording(Record("", {}, [], ""), background=False).add if kept else None
        write([first])
        for batch in batches:
            frame = write(batch)
            if add is not None:
                add(frame)

    return rate(run, partial(_quote_only, batches), PIECES, repeat)


def _quote_only(batches: Sequence[object]) -> None:
    """The floor: quoting each piece as JSON."""
    quote = json.encoder.encode_basestring
    for _ in batches:
        quote(" token")


def _writer(protocol: Any, settings: dict[str, Any]) -> Any:
    request = Request(model="m", prompts=(Raw("x"),) if protocol is completions else ())
    return protocol.Writer(request, protocol.Settings(**settings), answer_id="resp_1", created=0, ids=lambda: "call_1")
