"""Many streams at once: `python -m bench load`.

A thousand streams through the gateway and through a relay of raw bytes, one after the other on the same machine: is every
piece there and in order, how much memory does a stream take, and how much later does a piece come.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

from .load import Load, drive
from .process import Process, dragoman, python

__all__ = ["main"]


def main(words: list[str] | None = None) -> int:
    """Run it; the status is 1 if a piece was lost."""
    args = _arguments(words)
    with python("upstream", args.pieces, args.pause) as upstream:
        relay = python("relay", f"http://127.0.0.1:{upstream.port}")
        results = [
            _one(name, start, args) for name, start in (("relay", relay), ("dragoman", dragoman(upstream.port, "chat")))
        ]
    base = results[0]
    for name, load, memory in results:
        lates = [_at(load.late, part) / 1000 for part in (0.5, 0.99)]
        added = [late - _at(base[1].late, part) / 1000 for late, part in zip(lates, (0.5, 0.99), strict=True)]
        print(
            f"{name}: {load.whole} whole, {load.wrong} wrong, {len(load.errors)} errors; {memory / args.streams / 1000:.0f} kB a stream"
        )
        print(
            f"  a piece is {lates[0]:.1f} ms late (p50), {lates[1]:.1f} ms (p99); more than the relay: {added[0]:.1f}, {added[1]:.1f}"
        )
    return int(any(load.wrong or load.errors for _, load, _ in results))


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench load", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="streams at once (1000)")
    parser.add_argument("--pieces", type=int, default=200, help="pieces of each (200)")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two pieces of a stream (0.2)")
    return parser.parse_args(words)


def _one(name: str, start: AbstractContextManager[Process], args: argparse.Namespace) -> tuple[str, Load, int]:
    with start as gateway:
        asyncio.run(drive(gateway.port, 2, 2, args.pieces))
        before = gateway.memory
        load, most = asyncio.run(_watched(gateway, args))
        return name, load, most - before


async def _watched(gateway: Process, args: argparse.Namespace) -> tuple[Load, int]:
    """The load, and the most memory that was seen meanwhile."""
    work = asyncio.create_task(drive(gateway.port, args.streams, args.streams, args.pieces, times=True))
    most = 0
    while not work.done():
        most = max(most, gateway.memory)
        await asyncio.wait({work}, timeout=1)
    return await work, most


def _at(values: Sequence[int], part: float) -> float:
    return float(sorted(values)[int(part * (len(values) - 1))]) if values else 0.0


if __name__ == "__main__":
    sys.exit(main())
