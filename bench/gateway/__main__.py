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

from ..report import machine
from .load import Load, drive
from .process import Process, dragoman, litellm, nginx, python

__all__ = ["main"]

_RESULTS = Path(__file__).parent / "results.md"
_BURST, _PACED, _JOINED = "bursts", "paced", "joined"
_LOADS = {
    _BURST: "Every piece is a write of its own, as engines write them, one after the other as fast as it goes.",
    _PACED: "Every piece is a write of its own, and every stream gets one each 20 ms: a wake-up for every piece.",
    _JOINED: (
        "A hundred pieces in one write, which no engine does: whoever copies bytes hardly sees a piece.\n"
        "It shows what reading and writing a piece anew costs at the least, and has no goal."
    ),
}
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
    shapes = {_BURST: (args.pieces, 0.0, 1), _PACED: (args.paced, 0.02, 1), _JOINED: (args.pieces, 0.0, 100)}
    for load in args.load or _LOADS:
        with python("upstream", *shapes[load]) as upstream:
            found += _all(load, upstream.port, shapes[load][0], args)
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
    parser.add_argument("--load", action="append", choices=list(_LOADS), help="only this one")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; the best counts (3)")
    parser.add_argument("--litellm", default=os.environ.get("LITELLM", ""), help="the program `litellm`, if installed")
    parser.add_argument("--no-write", dest="write", action="store_false", help="do not touch the results")
    return parser.parse_args(words)


def _gateways(upstream: int, program: str) -> Iterator[tuple[str, object]]:
    yield "relay", python("relay", f"http://127.0.0.1:{upstream}")
    yield "dragoman, repair path", dragoman(upstream, "chat")
    yield "dragoman, raw path", dragoman(upstream, "llamacpp")
    yield "nginx", nginx(upstream)
    yield "litellm", litellm(upstream, program)


def _all(load: str, upstream: int, pieces: int, args: argparse.Namespace) -> list[Measured]:
    """All gateways stand beside each other and are measured in turns, so that a busy moment is nobody's alone."""
    with ExitStack() as stack:
        gateways: dict[str, Process] = {}
        for name, start in _gateways(upstream, args.litellm):
            gateway: Process | None = stack.enter_context(start)  # type: ignore[arg-type]
            if gateway is None:
                print(f"{name} is not installed", file=sys.stderr)
                continue
            gateways[name] = gateway
            asyncio.run(drive(gateway.port, 2, 2, pieces))  # what is done once
        rounds = [
            {name: _one(name, gateway, load, pieces, args) for name, gateway in gateways.items()}
            for _ in range(args.rounds)
        ]
    return [min((one[name] for one in rounds), key=lambda one: one.micros) for name in gateways]


def _one(name: str, gateway: Process, load: str, pieces: int, args: argparse.Namespace) -> Measured:
    streams = args.streams if name != "litellm" or load == _PACED else max(2, args.streams // 5)
    before = gateway.cpu
    result = asyncio.run(drive(gateway.port, streams, streams if load == _PACED else 4, pieces))
    micros = (gateway.cpu - before) / (streams * pieces) * 1e6
    print(f"{load}: {name}: {micros:.1f} us a piece, {result.errors[:1]}", file=sys.stderr)
    return Measured(name, load, micros, gateway.memory, result)


def _report(found: list[Measured]) -> Iterator[str]:
    yield "# Gateway"
    yield ""
    yield f"Written by `python -m bench gateway` on {machine()}."
    yield "Processor time of the gateway's own process for each piece; all of them in turns in one run, the best of each."
    yield "A gateway that is slower finds more pieces in each read, so where they come fast, nobody reads them one by one."
    for load, what in _LOADS.items():
        if not any(one.load == load for one in found):
            continue
        yield from (
            "",
            f"## {load.capitalize()}",
            "",
            what,
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
    if found:
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
