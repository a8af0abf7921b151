"""Gate: the places of an engine.  Who finds none free waits in a queue that is bounded, and fair between callers.

A place that becomes free goes to the callers in turn, not to requests in turn: one caller's hundred requests do not
make another wait for all of them.  A full queue refuses; but a newcomer who has fewer requests in it than somebody else
takes the place of that one's last.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ..errors import Busy

__all__ = ["Gate"]

_SOONEST, _LATEST = 1.0, 60.0  # seconds that a refused client is told to wait
_WEIGHT = 0.2  # of the latest request in the average of how long one takes

_Turn = asyncio.Future[None]


class Gate:
    """Lets so many in at once.

    Args:
        places: how many; None for no limit.
        queue: how many may wait.
    """

    def __init__(self, places: int | None, queue: int) -> None:
        self.places, self.queue = places, queue
        self.taken = self.waiting = 0
        self._lines: dict[str, deque[_Turn]] = {}  # the caller whose turn it is stands first
        self._takes = 1.0

    @asynccontextmanager
    async def place(self, caller: str) -> AsyncIterator[None]:
        """Hold a place; leaving it, or being cancelled while waiting, gives it back.

        Raises:
            Busy: too many wait already.
        """
        await self._enter(caller)
        time = asyncio.get_running_loop().time
        began = time()
        try:
            yield
        finally:
            self._takes += _WEIGHT * (time() - began - self._takes)
            self._leave()

    @property
    def retry(self) -> float:
        """In how many seconds a place may be free for one who comes now."""
        wait = self._takes * (1 + self.waiting / (self.places or 1))
        return min(max(_SOONEST, wait), _LATEST)

    async def _enter(self, caller: str) -> None:
        if self.places is None or self.taken < self.places:
            self.taken += 1
            return
        if self.waiting >= self.queue and not self._evict(caller):
            raise self._full()
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(caller, deque()).append(turn)
        self.waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            self._withdraw(caller, turn)
            raise

    def _leave(self) -> None:
        """Give the place to the next caller, or free it."""
        while self._lines:
            caller, line = next(iter(self._lines.items()))
            turn = line.popleft()
            self.waiting -= 1
            del self._lines[caller]
            if line:
                self._lines[caller] = line  # behind the others
            if not turn.done():  # else it was cancelled a moment ago
                turn.set_result(None)
                return
        self.taken -= 1

    def _withdraw(self, caller: str, turn: _Turn) -> None:
        """One who waited has left; if a place was given to it just then, that goes on."""
        if not turn.cancelled():
            if turn.exception() is None:
                self._leave()
            return
        with suppress(KeyError, ValueError):
            line = self._lines[caller]
            line.remove(turn)
            self.waiting -= 1
            if not line:
                del self._lines[caller]

    def _evict(self, caller: str) -> bool:
        """Make room in a full queue, if somebody else has at least two more in it."""
        if not self._lines:
            return False
        greedy = max(self._lines, key=lambda name: len(self._lines[name]))
        line = self._lines[greedy]
        if greedy == caller or len(line) < len(self._lines.get(caller, ())) + 2:
            return False
        self.waiting -= 1
        last = line.pop()
        if not last.done():
            last.set_exception(self._full())
        return True

    def _full(self) -> Busy:
        problem = f"{self.waiting} requests wait for this model already; try again later (--queue allows more)"
        return Busy(problem, retry=self.retry, code="queue_full")
