"""What a piece costs on its way through a gateway: `python -m bench gateway`.

In one run, so that all of them meet the same machine: dragoman by both paths, a relay of raw bytes with the same client
library, nginx, and the LiteLLM proxy.  What counts is the processor's time, not the clock's: others may be busy too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from .load import Load, drive
from .process import Process, dragoman, litellm, nginx, python

__all__ = ["main"]

_RESULTS = Path(__file__).parent / "results.md"
_BURST, _PACED = "bursts", "paced"
_GOALS = {(_BURST, "relay"): 2.5, (_PACED, "relay"): 1.4, (_BURST, "litellm"): 1 / 30, (_PACED, "litellm"): 1 / 6}


@dataclass
class Measured:
    """One gateway under one load."""

    name: str
    load: str
    micros: float
    memory: int
    result: Load


def main(words: list[str] | None = None) -> int:
    """Run it, print the tables, and keep them."""
    args = _arguments(words)
    found: list[Measured] = []
    for load, pieces, pause in ((_BURST, args.pieces, 0.0), (_PACED, args.paced, 0.02)):
        with python("upstream", pieces, pause) as upstream:
            for name, start in _gateways(upstream.port, args.litellm):
                found += _one(name, start, load, pieces, args)
    lines = list(_report(found))
    print("\n".join(lines))
    if args.write:
        _RESULTS.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench gateway", description=__doc__)
    parser.add_argument("--pieces", type=int, default=2000, help="pieces of a stream in bursts (2000)")
    parser.add_argument("--streams", type=int, default=20, help="streams of each load (20)")
    parser.add_argument("--paced", type=int, default=100, help="pieces of a paced stream (100)")
    parser.add_argument("--litellm", default=os.environ.get("LITELLM", ""), help="the program `litellm`, if installed")
    parser.add_argument("--no-write", dest="write", action="store_false", help="do not touch the results")
    return parser.parse_args(words)


def _gateways(upstream: int, program: str) -> Iterator[tuple[str, object]]:
    yield "relay", python("relay", f"http://127.0.0.1:{upstream}")
    yield "dragoman, repair path", dragoman(upstream, "chat")
    yield "dragoman, raw path", dragoman(upstream, "llamacpp")
    yield "nginx", nginx(upstream)
    yield "litellm", litellm(upstream, program)


def _one(name: str, start: object, load: str, pieces: int, args: argparse.Namespace) -> list[Measured]:
    with ExitStack() as stack:
        gateway: Process | None = stack.enter_context(start)  # type: ignore[arg-type]
        if gateway is None:
            print(f"{name} is not installed", file=sys.stderr)
            return []
        asyncio.run(drive(gateway.port, 2, 2, pieces))  # what is done once
        streams = args.streams if name != "litellm" or load == _PACED else max(2, args.streams // 5)
        before = gateway.cpu
        result = asyncio.run(drive(gateway.port, streams, 4 if load == _BURST else streams, pieces))
        micros = (gateway.cpu - before) / (streams * pieces) * 1e6
        print(f"{load}: {name}: {micros:.1f} us a piece, {result.errors[:1]}", file=sys.stderr)
        return [Measured(name, load, micros, gateway.memory, result)]


def _report(found: list[Measured]) -> Iterator[str]:
    yield "# Gateway"
    yield ""
    yield "Written by `python -m bench gateway`: processor time of the gateway's own process for each piece, in one run."
    for load in (_BURST, _PACED):
        yield from (
            "",
            f"## {load.capitalize()}",
            "",
            "| gateway | us per piece | pieces per second and core | times the relay | MB | whole streams |",
        )
        yield "|---|---|---|---|---|---|"
        here = [one for one in found if one.load == load]
        yard = next((one.micros for one in here if one.name == "relay"), 0.0)
        for one in here:
            whole = f"{one.result.whole} of {one.result.whole + one.result.wrong + len(one.result.errors)}"
            ratio = one.micros / yard if yard else 0.0
            yield f"| {one.name} | {one.micros:.1f} | {1e6 / one.micros:,.0f} | {ratio:.2f} | {one.memory / 1e6:.0f} | {whole} |"
    yield from ("", "## Goals", "")
    yield from _goals(found)


def _goals(found: list[Measured]) -> Iterator[str]:
    micros = {(one.load, one.name): one.micros for one in found}
    for (load, other), goal in _GOALS.items():
        for path in ("dragoman, repair path", "dragoman, raw path"):
            if (load, other) in micros and (load, path) in micros:
                ratio = micros[load, path] / micros[load, other]
                word = "kept" if ratio <= goal else "missed"
                shown = f"{ratio:.2f} times" if goal > 1 else f"1/{1 / ratio:.1f} of"
                wanted = f"at most {goal:g}" if goal > 1 else f"at most 1/{1 / goal:.0f}"
                yield f"- {load}, {path}: {shown} {other} ({wanted}): {word}"
    largest = max((one.memory for one in found if one.name.startswith("dragoman")), default=0)
    yield f"- memory without an embedded engine: {largest / 1e6:.0f} MB (at most 100): {'kept' if largest <= 100e6 else 'missed'}"


if __name__ == "__main__":
    sys.exit(main())
