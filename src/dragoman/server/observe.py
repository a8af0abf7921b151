"""The hook that sees every answer: the log hangs on it, and whatever else wants to watch or to cancel."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..events import Event, Notice
from .exchange import Exchange
from .prepare import Choice

__all__ = ["Log", "Observer", "Observers"]

_log = logging.getLogger("dragoman.turns")


class Observer:
    """Sees exchanges, as far as it defines these.  It is called between two pieces of a stream: it is quick, and does not raise."""

    def started(self, exchange: Exchange) -> None:
        """A request was read; `exchange.fail` ends it from outside."""

    def prepared(self, exchange: Exchange, choices: Sequence[Choice]) -> None:
        """Its prompts are rendered, and the engine is about to be asked."""

    def pieces(self, exchange: Exchange, index: int, batch: Sequence[Any]) -> None:
        """What the engine gave for the choice `index`, before it is decoded."""

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """Events of the choice `index`, and what is written for them (b"" where the answer is not streamed).

        The end of a stream, which belongs to all choices, comes without events.
        """

    def finished(self, exchange: Exchange) -> None:
        """It is over; `exchange.outcome` says how."""


def one_line(text: str) -> str:
    """The text on one line, what does not show escaped: an upstream's words must not look like lines of ours."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


class Observers:
    """Several observers as one.  Nobody is asked for what it does not look at: that costs nothing."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._started: list[Callable[..., None]] = []
        self._prepared: list[Callable[..., None]] = []
        self._pieces: list[Callable[..., None]] = []
        self._events: list[Callable[..., None]] = []
        self._finished: list[Callable[..., None]] = []
        for observer in observers:
            self.add(observer)

    def add(self, observer: Observer) -> None:
        """Let one more watch."""
        for name in ("started", "prepared", "pieces", "events", "finished"):
            if getattr(type(observer), name) is not getattr(Observer, name):
                getattr(self, f"_{name}").append(getattr(observer, name))

    def started(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        for tell in self._started:
            tell(exchange)

    def prepared(self, exchange: Exchange, choices: Sequence[Choice]) -> None:
        """As in `Observer`."""
        for tell in self._prepared:
            tell(exchange, choices)

    def pieces(self, exchange: Exchange, index: int, batch: Sequence[Any]) -> None:
        """As in `Observer`."""
        for tell in self._pieces:
            tell(exchange, index, batch)

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """As in `Observer`."""
        for tell in self._events:
            tell(exchange, index, events, frames)

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        for tell in self._finished:
            tell(exchange)


class Log(Observer):
    """One line a turn: what was asked, how it ended, how long it took.  A client that left is no error.

    Args:
        json: the line is a JSON object.
    """

    def __init__(self, *, json: bool = False) -> None:
        self._json = json

    def started(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        _log.debug("%s started model=%s", exchange.id, exchange.served.name)

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], _: bytes) -> None:
        """As in `Observer`: what was repaired, dropped or cut."""
        for event in events:
            if type(event) is Notice:
                _log.debug("%s choice=%d notice=%s at=%d raw=%r", exchange.id, index, event.code, event.at, event.raw)

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        error = None if exchange.outcome == "cancelled" else exchange.failure
        level = logging.WARNING if error else logging.INFO
        if self._json:
            _log.log(level, "%s", exchange.id, extra={"facts": _plain(exchange, error)})
            return
        facts = " ".join(f"{key}={value}" for key, value in _facts(exchange))
        _log.log(level, "%s %s%s", exchange.id, facts, f" {one_line(str(error))}" if error else "")


def _plain(exchange: Exchange, error: Exception | None) -> dict[str, Any]:
    """The facts of a turn as plain data; what is not known is null."""
    usage = list(exchange.usage.values())
    return {
        "id": exchange.id,
        "outcome": exchange.outcome,
        "model": exchange.served.name,
        "dialect": exchange.served.decoded,
        "protocol": exchange.protocol,
        "prompt_tokens": usage[0].prompt if usage else None,
        "cached_tokens": usage[0].cached if usage else None,
        "completion_tokens": sum(one.completion or 0 for one in usage),
        "first_seconds": exchange.first and round(exchange.first, 4),
        "seconds": round(exchange.seconds or 0.0, 4),
        "error": str(error) if error else None,
    }


def _facts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield "outcome", exchange.outcome
    yield "model", exchange.served.name
    yield "dialect", exchange.served.decoded
    for usage in list(exchange.usage.values())[:1]:
        yield "prompt", "?" if usage.prompt is None else str(usage.prompt)
    yield "completion", str(sum(usage.completion or 0 for usage in exchange.usage.values()))
    if exchange.first is not None:
        yield "first", f"{exchange.first:.3f}s"
    yield "total", f"{exchange.seconds or 0:.3f}s"
