"""Clock: the deadlines and keep-alives of one exchange.

A piece that passes costs one look at the time.  The clock sleeps until something could be due, and looks then.
Time that is spent writing to a slow client is not the engine's, and counts for no deadline but the total;
a client that does not read at all is cut off in the end, because it holds a place in the engine.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

from ..errors import Timeout
from .config import Config

__all__ = ["Clock"]


class Clock:
    """Calls `quiet` after every `keep_alive` seconds without a write, and `late` once, when a deadline has passed.

    Args:
        config: the intervals (first_token, stall, total, keep_alive, slow_client).
        began: when the request came, by the event loop's clock.
        quiet: writes a keep-alive; None if the answer has no place for one.
        late: ends the exchange with a `Timeout`.
        unread: cuts the client off, which has not read for too long.

    `busy`: a write is on its way.
    """

    def __init__(
        self,
        config: Config,
        began: float,
        quiet: Callable[[], Awaitable[None]] | None,
        late: Callable[[Timeout], None],
        unread: Callable[[], None],
    ) -> None:
        self._config, self._quiet, self._late, self._unread = config, quiet, late, unread
        self._time = asyncio.get_running_loop().time
        self._began = self._wrote = self._read = self._write_began = began
        self._first = self._over = False
        self.busy = False
        self._changed = asyncio.Event()

    def begun(self) -> None:
        """The first piece has come."""
        self._first = True
        self._changed.set()

    def read(self) -> float:
        """Something came from the engine; the time it is."""
        self._read = now = self._time()
        return now

    def writing(self) -> None:
        """A write begins; it waits for as long as the client is slow."""
        self.busy, self._write_began = True, self._time()

    def wrote(self) -> None:
        """A write has ended."""
        self.busy, self._wrote = False, self._time()
        self._read += self._wrote - self._write_began

    async def run(self) -> None:
        """Watch until cancelled; after a deadline has passed, only whether the client reads its end."""
        while True:
            now = self._time()
            passed = next(((phase, seconds) for phase, seconds, at in self._deadlines(now) if at <= now), None)
            if passed is not None:
                self._over = True
                self._late(_timeout(*passed))
            if self._patience(now) <= now:
                return self._unread()
            if self._quiet and not self.busy and self._wrote + self._config.keep_alive <= now:
                await self._quiet()
            await self._sleep()

    def _deadlines(self, now: float) -> Iterator[tuple[str, float, float]]:
        """What ends the exchange, and when."""
        config = self._config
        if self._over:
            return
        if config.total:
            yield "total", config.total, self._began + config.total
        if not self._first and config.first_token:
            yield "first token", config.first_token, self._began + config.first_token
        if self._first and config.stall:
            yield "stall", config.stall, (now if self.busy else self._read) + config.stall

    def _patience(self, now: float) -> float:
        """When a client that does not read is cut off."""
        limit = self._config.slow_client
        return (self._write_began if self.busy else now) + limit if limit else math.inf

    async def _sleep(self) -> None:
        now = self._time()
        due = [self._patience(now), *(at for _, _, at in self._deadlines(now))]
        if self._quiet:
            due.append((now if self.busy else self._wrote) + self._config.keep_alive)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.001, min(due) - now) if min(due) < math.inf else None):
                await self._changed.wait()
                self._changed.clear()


def _timeout(phase: str, seconds: float) -> Timeout:
    said = {
        "first token": f"the model wrote nothing within {seconds:g} s",
        "stall": f"the model stopped writing for {seconds:g} s",
        "total": f"the answer was not complete within {seconds:g} s",
    }
    setting = "--" + phase.replace(" ", "-")
    return Timeout(said[phase], phase=phase, hint=f"the limit is set by {setting}")
