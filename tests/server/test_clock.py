"""Deadlines and keep-alives."""

from __future__ import annotations

import asyncio

from dragoman.errors import Timeout
from dragoman.server.clock import Clock
from dragoman.server.config import Config


class Watched:
    """A clock, and what it did."""

    def __init__(self, **settings: float) -> None:
        self.quiet, self.cut, self.late = 0, 0, list[Timeout]()
        self.clock = Clock(
            Config(**settings), asyncio.get_running_loop().time(), self._ping, self.late.append, self._cut
        )  # type: ignore[arg-type]
        self.task = asyncio.create_task(self.clock.run())

    async def _ping(self) -> None:
        self.quiet += 1
        self.clock.writing()
        self.clock.wrote()

    def _cut(self) -> None:
        self.cut += 1

    async def end(self) -> str:
        """Wait for the deadline, and say which it was."""
        while not self.late:
            await asyncio.sleep(0.001)
        self.task.cancel()
        (timeout,) = self.late
        return timeout.phase


async def test_the_first_token() -> None:
    assert await Watched(first_token=0.02).end() == "first token"


async def test_a_stall_is_seen_when_the_first_piece_came_early() -> None:
    watched = Watched(first_token=500.0, stall=0.02)
    await asyncio.sleep(0)
    watched.clock.begun()
    assert await watched.end() == "stall"


async def test_pings_do_not_put_off_the_stall() -> None:
    watched = Watched(stall=0.5, keep_alive=0.05)
    watched.clock.begun()
    assert await watched.end() == "stall"
    assert watched.quiet >= 2


async def test_pieces_put_off_the_stall() -> None:
    watched = Watched(stall=0.5, total=1.0)
    watched.clock.begun()
    while not watched.late:
        watched.clock.read()
        await asyncio.sleep(0.001)
    assert await watched.end() == "total"


async def test_a_slow_client_is_no_stall() -> None:
    watched = Watched(stall=0.02, total=0.3)
    watched.clock.begun()
    watched.clock.writing()
    assert await watched.end() == "total"


async def test_no_deadline_is_none() -> None:
    watched = Watched(first_token=0.0, stall=0.0, keep_alive=500.0)
    await asyncio.sleep(0.05)
    assert not watched.task.done()
    watched.task.cancel()
