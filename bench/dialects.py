"""What a token costs in every dialect, next to the cheapest of them: `python -m bench dialects` (three minutes).

The sizes are small and the runs few: what is looked at is how dialects compare, and how each grows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dragoman import names
from dragoman.errors import UsageError
from dragoman.events import CallArgs

from .material import KINDS, Load, load
from .measure import decode, exponent, seconds
from .report import machine

__all__ = ["main"]

_SIZES = (1_000, 4_000, 16_000)
_LONG = 25_000  # pieces of an argument of 100 KB
_RESULTS = Path(__file__).parent / "dialects.md"
_TIMES, _GROWTH, _MARK = 2.0, 1.05, 64


@dataclass
class Cost:
    """Of one dialect: microseconds per piece and the exponent, by kind; the most characters of an argument that waited."""

    micros: dict[str, float] = field(default_factory=dict)
    growth: dict[str, float] = field(default_factory=dict)
    held: int | None = None


def main(words: list[str] | None = None) -> int:
    """Run it, print the table, and keep it."""
    parser = argparse.ArgumentParser(prog="python -m bench dialects", description=__doc__)
    parser.add_argument("--repeat", type=int, default=4, help="runs of which the best counts (4)")
    parser.add_argument("--dialect", action="append", help="only this one (may be given more than once)")
    parser.add_argument("--no-write", dest="write", action="store_false", help="do not touch bench/dialects.md")
    args = parser.parse_args(words)
    loads = {name: dict(_loads(name)) for name in args.dialect or names()}
    lines = list(_report(_measure(loads, args.repeat)))
    print("\n".join(lines))
    if args.write:
        _RESULTS.write_text("\n".join(lines) + "\n", "utf-8")
    return 0


def _loads(name: str) -> Iterator[tuple[str, list[Load]]]:
    """Turns of every kind that the dialect can write."""
    for kind in KINDS:
        try:
            yield kind, [load(name, kind, size) for size in _SIZES]
        except UsageError:
            continue


def _measure(loads: Mapping[str, Mapping[str, list[Load]]], repeat: int) -> dict[str, Cost]:
    """All dialects in turns, so that a busy moment is nobody's alone."""
    best: dict[tuple[str, str, int], float] = {}
    for turn in range(repeat):
        print(f"turn {turn + 1} of {repeat} ...", file=sys.stderr)
        for name, kinds in loads.items():
            for kind, works in kinds.items():
                for place, work in enumerate(works):
                    found = seconds(decode(work)) / len(work.pieces) * 1e6
                    best[name, kind, place] = min(found, best.get((name, kind, place), found))
    return {name: _cost(name, kinds, best) for name, kinds in loads.items()}


def _cost(name: str, kinds: Iterable[str], best: Mapping[tuple[str, str, int], float]) -> Cost:
    cost = Cost()
    for kind in kinds:
        found = [best[name, kind, place] for place in range(len(_SIZES))]
        cost.micros[kind], cost.growth[kind] = min(found[1:]), exponent(_SIZES, found)
    if "arguments" in cost.micros:
        cost.held = _held(load(name, "arguments", _LONG))
    return cost


def _held(work: Load) -> int:
    """The most characters of a long argument that were read and not given out."""
    parser, fed, given, most = work.parser(), 0, -1, 0
    for piece in work.pieces:
        events = parser.feed(piece)
        fed += len(piece)
        if any(type(event) is CallArgs for event in events):
            given = fed
        elif given >= 0:
            most = max(most, fed - given)
    return most if given >= 0 else fed


def _report(costs: Mapping[str, Cost]) -> Iterator[str]:
    yield "# What a piece costs in every dialect"
    yield ""
    yield f"Written by `python -m bench dialects` on {machine()}."
    yield "Microseconds per piece of about a token, decoded; in brackets how many times the cheapest dialect of the kind."
    yield "`-`: the dialect has no such part."
    yield f"Growth: the largest exponent from {_SIZES[0]:,} to {_SIZES[-1]:,} pieces, of all kinds."
    yield "Held: the most characters of an argument of 100 KB that were read and not given out at once."
    yield ""
    yield from _goals(costs)
    yield ""
    yield f"| dialect | {' | '.join(KINDS)} | growth | held |"
    yield "|---|" + "---|" * (len(KINDS) + 2)
    least = {kind: min(cost.micros.get(kind, 1e9) for cost in costs.values()) for kind in KINDS}
    for name, cost in costs.items():
        cells = (_cell(cost.micros.get(kind), least[kind]) for kind in KINDS)
        held = "-" if cost.held is None else str(cost.held)
        yield f"| {name} | {' | '.join(cells)} | {max(cost.growth.values()):.2f} | {held} |"


def _cell(micros: float | None, least: float) -> str:
    return "-" if micros is None else f"{micros:.2f} ({micros / least:.1f})"


def _goals(costs: Mapping[str, Cost]) -> Iterator[str]:
    yield "| goal | at most | worst | |"
    yield "|---|---|---|---|"
    for kind in KINDS:
        found = {name: cost.micros[kind] for name, cost in costs.items() if kind in cost.micros}
        worst = max(found, key=found.__getitem__)
        yield _goal(f"{kind}, times the cheapest", _TIMES, found[worst] / min(found.values()), worst)
    growth = {name: max(cost.growth.values()) for name, cost in costs.items()}
    worst = max(growth, key=growth.__getitem__)
    yield _goal("growth", _GROWTH, growth[worst], worst)
    held = {name: cost.held for name, cost in costs.items() if cost.held is not None}
    worst = max(held, key=held.__getitem__)
    yield _goal("characters of an argument that are held", _MARK, held[worst], worst)


def _goal(words: str, most: float, found: float, name: str) -> str:
    return f"| {words} | {most:g} | {found:.3g} ({name}) | {'met' if found <= most else 'MISSED'} |"
