"""After hundreds of each fault nothing is left of them: memory, files, tasks, and whatever knows of an exchange."""

from __future__ import annotations

import asyncio
import gc
import logging
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from .clients import CLIENTS, Client
from .conftest import Bench, bench, descriptors
from .scripts import FAULTS

KEPT = 5  # turns and responses that are remembered
MOST = 400  # bytes that each exchange may leave behind; one that is not let go of leaves thousands
WEIGHTY = "sends_a_line_without_end"  # once in a round of rounds


@pytest.fixture
def quiet_log() -> Iterator[None]:
    """What is logged would be kept for the report."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


async def suffer(here: Bench, client: Client, rounds: int) -> int:
    """Each fault so many times, streamed and whole by turns; how many exchanges that were."""
    count = 0
    for number in range(rounds):
        for name, fault in FAULTS.items():
            if name == WEIGHTY and number:
                continue
            here.upstream.plays += [fault.play] * 2
            here.patience(0.02 if fault.stalls else 600.0)
            await here.ask(client, stream=bool((number + count) % 2))
            await here.quiet()
            here.upstream.plays.clear()
            count += 1
    return count


def held(here: Bench) -> dict[str, Any]:
    """What knows of exchanges, counted."""
    service, loop = here.server.service, here.server.service.loading.get_loop()
    served = next(iter(service.roster))
    return {
        "open": len(service.open),
        "recordings": len(service.shelf.live),
        "background": len(service.shelf._tasks),
        "withdrawn": len(service.withdrawn._early),
        "gaps": len(service.metrics._gaps._last),
        "lines": len(served.gate._lines),
        "taken": served.gate.taken,
        "models": len(list(service.roster)),
        "tasks": len([task for task in asyncio.all_tasks(loop) if "Queue.get" not in repr(task)]),
        "remembered": max(0, len(service.log) - KEPT),
    }


def memory() -> int:
    for _ in range(3):
        gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("kind", "protocol"),
    [("llamacpp", "messages"), ("chat", "responses"), ("generate", "completions"), ("embedded", "ollama")],
)
async def test_faults_leave_nothing(
    kind: str, protocol: str, rounds: int, folder: Path, quiet_log: None, traced: None
) -> None:
    client = CLIENTS[protocol]
    async with bench(kind, folder, turn_log_count=KEPT, state_count=KEPT) as here:
        await suffer(here, client, 2)  # what is made once
        before, files, seen = held(here), descriptors(), [memory()]
        for _ in range(2):
            count = await suffer(here, client, rounds)
            seen.append(memory())
            assert held(here) == before
            assert descriptors() <= files + 2
        grown = [after - earlier for earlier, after in pairwise(seen)]
        assert min(grown) < MOST * count, grown
