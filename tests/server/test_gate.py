"""Places, and who gets the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from dragoman.errors import Busy
from dragoman.server.gate import Gate


class Crowd:
    """Callers at a gate; `inside` are those who got in, in this order."""

    def __init__(self, places: int | None, queue: int) -> None:
        self.gate, self.inside, self.refused = Gate(places, queue), list[str](), list[str]()
        self.tasks: list[asyncio.Task[None]] = []
        self.free = asyncio.Semaphore(0)

    async def come(self, names: Iterable[str]) -> None:
        self.tasks += [asyncio.create_task(self._one(name)) for name in names]
        await asyncio.sleep(0)

    async def leave(self, count: int = 1) -> None:
        for _ in range(count):
            self.free.release()
            for _ in range(4):
                await asyncio.sleep(0)

    async def _one(self, name: str) -> None:
        try:
            async with self.gate.place(name[0]):
                self.inside.append(name)
                await self.free.acquire()
        except Busy:
            self.refused.append(name)

    async def over(self) -> None:
        await self.leave(len(self.tasks))
        await asyncio.gather(*self.tasks, return_exceptions=True)
        assert (self.gate.taken, self.gate.waiting) == (0, 0)


async def test_no_limit_lets_everybody_in() -> None:
    crowd = Crowd(None, 0)
    await crowd.come(f"a{number}" for number in range(50))
    assert len(crowd.inside) == crowd.gate.taken == 50
    await crowd.over()


async def test_who_finds_no_place_waits() -> None:
    crowd = Crowd(2, 10)
    await crowd.come(["a1", "a2", "a3"])
    assert crowd.inside == ["a1", "a2"]
    assert crowd.gate.waiting == 1
    await crowd.leave()
    assert crowd.inside == ["a1", "a2", "a3"]
    await crowd.over()


async def test_callers_take_turns() -> None:
    crowd = Crowd(1, 10)
    await crowd.come(["a1", "a2", "a3", "a4", "b1", "c1", "b2"])
    await crowd.leave(7)
    assert crowd.inside == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]
    await crowd.over()


async def test_a_full_queue_refuses() -> None:
    crowd = Crowd(1, 2)
    await crowd.come(["a1", "a2", "a3", "a4"])
    assert crowd.refused == ["a4"]
    await crowd.over()


async def test_a_newcomer_takes_the_place_of_the_greediest() -> None:
    crowd = Crowd(1, 3)
    await crowd.come(["a1", "a2", "a3", "a4", "b1", "b2"])
    await asyncio.sleep(0)
    assert crowd.refused == ["b2", "a4"]  # b1 took the place of a4; for b2 nobody has two more
    await crowd.leave(4)
    assert crowd.inside == ["a1", "a2", "b1", "a3"]
    await crowd.over()


async def test_no_queue_at_all() -> None:
    crowd = Crowd(1, 0)
    await crowd.come(["a1", "b1"])
    assert crowd.refused == ["b1"]
    await crowd.over()


@pytest.mark.parametrize("when", ["waiting", "given"])
async def test_one_who_leaves_the_queue(when: str) -> None:
    crowd = Crowd(1, 10)
    await crowd.come(["a1", "a2", "a3"])
    if when == "given":
        crowd.free.release()
        while crowd.gate.waiting == 2:  # until a place was given to a2, which has not noticed yet
            await asyncio.sleep(0)
    crowd.tasks[1].cancel()
    await asyncio.gather(crowd.tasks[1], return_exceptions=True)
    await crowd.leave()
    assert crowd.inside[-1] == "a3"
    await crowd.over()


async def test_how_long_to_wait_is_told() -> None:
    gate = Gate(1, 0)
    async with gate.place("a"):
        with pytest.raises(Busy) as caught:
            async with gate.place("b"):
                pass
    assert 1 <= caught.value.retry <= 60
    assert caught.value.status == 503


async def test_a_crowd_that_comes_and_goes_as_it_likes() -> None:
    gate, inside, most = Gate(3, 20), 0, 0

    async def one(number: int) -> None:
        nonlocal inside, most
        async with gate.place(str(number % 5)):
            inside += 1
            most = max(most, inside)
            try:
                await asyncio.sleep(0.0001 * (number % 7))
            finally:
                inside -= 1

    tasks = [asyncio.create_task(one(number)) for number in range(200)]
    for number, task in enumerate(tasks):
        if number % 3 == 0:
            await asyncio.sleep(0)
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert most == 3
    assert (gate.taken, gate.waiting) == (0, 0)
