"""The last hour in numbers: turns, tokens and waiting times in slots of ten seconds, for the page's plots."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .exchange import Exchange
from .observe import Observer

__all__ = ["Gauge"]

_SLOT = 10  # seconds
_SLOTS = 360


@dataclass(slots=True)
class _Slot:
    """Ten seconds: turns that ended in them, tokens, failures, and how long first pieces took in all."""

    at: int
    turns: int = 0
    tokens: int = 0
    errors: int = 0
    firsts: int = 0
    waited: float = 0.0


@dataclass(slots=True)
class _Totals:
    """What one model has done since the start."""

    turns: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    seconds: float = 0.0


class Gauge(Observer):
    """Counts turns as they end.

    Args:
        clock: Unix time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._slots: deque[_Slot] = deque(maxlen=_SLOTS)
        self._totals: dict[str, _Totals] = {}

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        slot, totals = self._slot(), self._totals.setdefault(exchange.served.label, _Totals())
        completion = sum(usage.completion or 0 for usage in exchange.usage.values())
        slot.turns += 1
        slot.tokens += completion
        slot.errors += exchange.outcome == "error"
        if exchange.first is not None:
            slot.firsts += 1
            slot.waited += exchange.first
            totals.seconds += (exchange.seconds or exchange.first) - exchange.first
        totals.turns += 1
        totals.completion += completion
        for usage in list(exchange.usage.values())[:1]:
            totals.prompt += usage.prompt or 0
            totals.cached += usage.cached or 0

    def model(self, name: str) -> dict[str, Any]:
        """What a model has done: turns, tokens per second, and the share of prompt tokens that were cached."""
        found = self._totals.get(name, _Totals())
        return {
            "turns": found.turns,
            "tokens": found.completion,
            "tokens_per_second": round(found.completion / found.seconds, 2) if found.seconds > 0 else None,
            "cached_share": round(found.cached / found.prompt, 4) if found.prompt else None,
        }

    def history(self) -> list[list[float | None]]:
        """For each slot of the last hour with turns: its Unix time, turns, tokens per second, errors, mean seconds to the first piece."""
        first = self._clock() - _SLOT * _SLOTS
        return [
            [
                slot.at,
                slot.turns,
                round(slot.tokens / _SLOT, 2),
                slot.errors,
                round(slot.waited / slot.firsts, 4) if slot.firsts else None,
            ]
            for slot in self._slots
            if slot.at > first
        ]

    def _slot(self) -> _Slot:
        at = int(self._clock()) // _SLOT * _SLOT
        if not self._slots or self._slots[-1].at != at:
            self._slots.append(_Slot(at))
        return self._slots[-1]
