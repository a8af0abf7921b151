"""Recorder: the observer that puts every turn into the turn log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from ..engines.base import talks
from ..events import Event, Finish, Usage
from ..state.keep import keeper
from ..state.log import Record, TurnLog
from .config import Config
from .exchange import Exchange
from .observe import Observer
from .prepare import Choice

__all__ = ["Recorder", "build_log"]


def build_log(config: Config) -> TurnLog | None:
    """The log that the settings name.

    Raises:
        UsageError: turns cannot be kept where they should be.
    """
    if config.turn_log == "off":
        return None
    place = keeper(config.turn_log_to) if config.turn_log_to else None
    return TurnLog(config.turn_log, count=config.turn_log_count, keeper=place)


class Recorder(Observer):
    """Records every choice of every exchange."""

    def __init__(self, log: TurnLog) -> None:
        self.log = log
        self._open: dict[Exchange, list[Record]] = {}

    def prepared(self, exchange: Exchange, choices: Sequence[Choice]) -> None:
        """As in `Observer`."""
        began = time.time() - (asyncio.get_running_loop().time() - exchange.began)
        records = self._open[exchange] = [_record(exchange, choice, began) for choice in choices]
        for record in records:
            self.log.begin(record)

    def pieces(self, exchange: Exchange, index: int, batch: Sequence[Any]) -> None:
        """As in `Observer`."""
        self._open[exchange][index].came(exchange.now - exchange.began, batch)

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """As in `Observer`."""
        if records := self._open.get(exchange):
            records[index].made(exchange.now - exchange.began, events, frames)

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        for index, record in enumerate(self._open.pop(exchange, ())):
            finish = exchange.finishes.get(index)
            _close(record, exchange, finish, exchange.usage.get(index))
            self.log.end(record)


def _record(exchange: Exchange, choice: Choice, began: float) -> Record:
    request, served = exchange.request, exchange.served
    return Record(
        exchange.id if choice.index == 0 else f"{exchange.id}-{choice.index}",
        began,
        exchange.path,
        exchange.protocol,
        served.name,
        choice.dialect.name,
        exchange.body,
        choice.prompt,
        tools=() if request.choice == "none" else request.tools,
        marks=served.marks,
        policy={"recover": "strict"} if request.schema is not None else {},
        stop=request.stop,
        parallel=request.parallel,
        key=exchange.caller.key.name,
        decoded=talks(served.engine) and not request.prompts,
    )


def _close(record: Record, exchange: Exchange, finish: Finish | None, usage: Usage | None) -> None:
    cancelled = exchange.outcome == "cancelled"
    record.finish = _engine_end(finish) if finish else "cancelled" if cancelled else "error"
    record.outcome = finish.reason if finish and not cancelled else exchange.outcome
    record.error = "" if cancelled or exchange.failure is None else str(exchange.failure)
    record.usage, record.first, record.seconds = usage, exchange.first, exchange.seconds


def _engine_end(finish: Finish) -> str:
    """Why the engine ended, as far as the turn's end tells it."""
    return "stop" if finish.reason == "tool_calls" else finish.reason
