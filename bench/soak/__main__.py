"""An hour under mixed traffic, and whether anything grows: `python -m bench soak --minutes 60`.

Every protocol asks every kind of upstream: whole and streamed, with faults, deadlines, departures, cancels, crowds, and
upstreams that go away.  Every ten seconds the gateway's files, tasks, blocks of memory and resident memory are counted.
After the first tenth, which fills what is kept, nothing may grow; at the end nothing may be left.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .traffic import WAYS, Traffic
from .verdict import Verdict, lines

__all__ = ["main"]

_ROOT = Path(__file__).parent.parent.parent
_RESULTS = Path(__file__).parent / "results.md"
_QUIET = 30.0  # seconds until everything that is over must be gone


def main(words: list[str] | None = None) -> int:
    """Run it; the status is 1 if anything grew, was left, or went wrong."""
    args = _arguments(words)
    soak = Soak(args.rate, args.seed, args.every)
    asyncio.run(soak.run(60 * args.minutes))
    verdict = soak.verdict
    text = "\n".join(lines(verdict, soak.samples, soak.traffic))
    print(text)
    if args.write:
        _RESULTS.write_text(text + "\n", "utf-8")
    return int(not verdict.good)


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--rate", type=float, default=10.0, help="clients a second, on the average (10)")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two counts (10)")
    parser.add_argument("--seed", type=int, default=1, help="decides who comes when (1)")
    parser.add_argument("--no-write", dest="write", action="store_false", help="do not touch the results")
    return parser.parse_args(words)


@dataclass
class Soak:
    """A run: `samples` of what the gateway holds, and the traffic."""

    rate: float
    seed: int
    every: float
    samples: list[dict[str, Any]] = field(default_factory=list)
    kinds: list[dict[str, int]] = field(default_factory=list)
    traffic: Traffic = field(init=False)
    verdict: Verdict = field(init=False)

    async def run(self, seconds: float) -> None:
        """Run everything, and judge it."""
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            upstream = await _module(stack, "upstream")
            ports = (await _line(upstream)).split()
            (folder / "soak.yaml").write_text(_settings(folder, *map(int, ports)), "utf-8")
            gateway = await _module(stack, "gateway", str(folder / "soak.yaml"))
            url = f"http://127.0.0.1:{int(await _line(gateway))}"
            self.traffic = Traffic(url, self.rate, self.seed)
            before = await _counts(gateway)
            watch = asyncio.create_task(self._watch(gateway, seconds))
            await self.traffic.run(seconds)
            watch.cancel()
            after = await self._quiet(gateway, before)
            self.verdict = Verdict.of(self.samples, before, after, self.kinds, self.traffic)

    async def _watch(self, gateway: asyncio.subprocess.Process, seconds: float) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(self.every)
            since = time.monotonic() - began
            counts = await _counts(gateway)
            self.samples.append({"seconds": since, **counts, "surprises": self.traffic.surprised})
            if since > seconds / 10 and not self.kinds:
                self.kinds.append(await _counts(gateway, "kinds"))
            print(json.dumps(self.samples[-1]), file=sys.stderr, flush=True)

    async def _quiet(self, gateway: asyncio.subprocess.Process, before: dict[str, Any]) -> dict[str, Any]:
        """The counts when everything is over, or was given the time to be."""
        end = time.monotonic() + _QUIET
        while True:
            counts = await _counts(gateway)
            if time.monotonic() > end or (not counts["running"] and counts["tasks"] <= before["tasks"]):
                self.kinds.append(await _counts(gateway, "kinds"))
                return counts
            await asyncio.sleep(0.5)


async def _module(stack: AsyncExitStack, name: str, *arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    said = {**os.environ, "PYTHONPATH": f"{_ROOT / 'src'}:{_ROOT}"}
    command = [sys.executable, "-m", f"bench.soak.{name}", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=said, limit=1 << 20)
    stack.push_async_callback(_ended, process)
    return process


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    await process.wait()


async def _line(process: asyncio.subprocess.Process, word: str = "") -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    if word:
        process.stdin.write(f"{word}\n".encode())
    line = await process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process of the soak ended: {process.returncode}")
    return line.decode()


async def _counts(gateway: asyncio.subprocess.Process, word: str = "counts") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await _line(gateway, word))
    return found


def _settings(folder: Path, port: int, flaky: int) -> str:
    """The gateway's file: one upstream a way of speaking, one with few places, and one that goes away."""
    up, gone = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{flaky}"
    ups: Sequence[dict[str, Any]] = [
        *({"url": up, "way": way, "prefix": f"{way}/", "dialect": "hermes-json"} for way in WAYS),
        {"url": up, "way": "chat", "prefix": "narrow/", "dialect": "hermes-json", "limit": 4},
        {"url": gone, "way": "chat", "prefix": "flaky/", "dialect": "hermes-json", "health": 2},
    ]
    settings = {
        "first_token": 20,
        "stall": 20,
        "keep_alive": 2,
        "queue": 16,
        "state": str(folder / "responses.sqlite"),
        "state_count": 300,
        "turn_log_to": str(folder / "turns.sqlite"),
        "log_level": "error",
    }
    return json.dumps({**settings, "upstreams": ups})  # JSON is YAML


if __name__ == "__main__":
    sys.exit(main())
