"""Withdrawn: the requests that were cancelled by an id; those that run are ended, those that have not come are remembered.

A key cancels its own requests only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from ..errors import Cancelled
from .caller import LONGEST_ID, Caller
from .exchange import Exchange
from .keys import Key

__all__ = ["Withdrawn", "end"]

_KEPT, _PATIENCE = 1000, 60.0  # ids of requests that have not come yet, and seconds that they are waited for


def end(asked: str, key: Key, running: Iterable[Exchange]) -> list[str]:
    """Cancel what runs; the ids of those answers.  One whose end is written runs no more, though it may still be listed."""
    runs = (one for one in running if one.caller.key is key and one.seconds is None and not one.ending)
    found = [one for one in runs if asked in (one.id, *one.caller.ids)]
    for exchange in found:
        exchange.fail(Cancelled("the request was cancelled"))
    return [exchange.id for exchange in found]


class Withdrawn:
    """What was cancelled, by the answer's id or by an id of the client's own."""

    def __init__(self) -> None:
        self._early: OrderedDict[tuple[str, str], float] = OrderedDict()

    def cancel(self, asked: str, key: Key, now: float, running: Iterable[Exchange]) -> list[str]:
        """Cancel; the ids of the answers that ran."""
        asked = asked[:LONGEST_ID]
        if not (ended := end(asked, key, running)):
            self._remember((key.name, asked), now)
        return ended

    def check(self, caller: Caller) -> None:
        """Refuse a request that was cancelled before it came.

        Raises:
            Cancelled: it was.
        """
        for own in caller.ids if self._early else ():
            when = self._early.pop((caller.key.name, own), None)
            if when is not None and caller.began - when < _PATIENCE:
                raise Cancelled("the request was cancelled before it came")

    def _remember(self, name: tuple[str, str], now: float) -> None:
        self._early[name] = now
        self._early.move_to_end(name)
        if len(self._early) > _KEPT:
            self._early.popitem(last=False)
