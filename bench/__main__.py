"""Measures what a token costs, prints the tables and writes `bench/results.md` (twenty seconds a dialect).

`python -m bench dialects` compares all dialects.
`python -m bench gateway` measures what a piece costs on its way through the server, against other gateways; `python -m bench load` runs a thousand streams at once;
`python -m bench soak` sees for an hour whether anything grows under mixed traffic.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dragoman import get, names

from . import grammars
from .frames import each
from .material import KINDS, SIZES, load
from .measure import append_only, decode, exponent, frames, memory, quote_only, rate, set_up
from .report import Report

FRAMED = 16_000
USUAL = ("hermes-json", "qwen3-coder-xml", "qwen35-xml", "harmony", "gemma4")


def main() -> int:
    """Run it."""
    if sys.argv[1:2] == ["gateway"]:
        from .gateway.__main__ import main as gateway

        return gateway(sys.argv[2:])
    if sys.argv[1:2] == ["dialects"]:
        from .dialects import main as dialects

        return dialects(sys.argv[2:])
    if sys.argv[1:2] == ["load"]:
        from .gateway.many import main as many

        return many(sys.argv[2:])
    if sys.argv[1:2] == ["soak"]:
        from .soak.__main__ import main as soak

        return soak(sys.argv[2:])
    args = _arguments()
    report = Report(sizes=[size for size in SIZES if size <= args.most])
    for name in args.dialect or (names() if args.all else USUAL):
        print(f"measuring {name} ...", file=sys.stderr)
        _one(report, name, args.repeat)
    print("measuring frames ...", file=sys.stderr)
    report.written = {(name, kind): rate for name, kind, rate in each(args.repeat)}
    print("\n".join(report.lines()))
    if args.write:
        report.write(Path(__file__).parent / "results.md")
    missed = [words for words, _, _, good in report.verdict() if not good]
    return 1 if missed and args.strict else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--dialect", action="append", help="only this one (may be given more than once)")
    parser.add_argument("--all", action="store_true", help="every dialect there is, not only the most used ones")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the best counts (5)")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="pieces of the longest turn (128000)")
    parser.add_argument("--no-write", dest="write", action="store_false", help="do not touch bench/results.md")
    parser.add_argument("--strict", action="store_true", help="end with status 1 if a goal is missed")
    return parser.parse_args()


def _one(report: Report, name: str, repeat: int) -> None:
    for kind in KINDS:
        found = []
        for size in report.sizes:
            work = load(name, kind, size)
            found.append(rate(decode(work), append_only(work), len(work.pieces), repeat))
        report.rates[name, kind] = found
        report.exponents[name, kind] = exponent(report.sizes, [each.micros for each in found])
        work = load(name, kind, min(FRAMED, report.sizes[-1]))
        report.frames[name, kind] = rate(frames(work), quote_only(work), len(work.pieces), repeat)
        report.memory[name, kind] = memory(load(name, kind, 500))
    report.set_up[name] = set_up(load(name, "content", 10), repeat)
    if get(name).call:
        report.grammars[name] = dict(grammars.each(name, repeat))


if __name__ == "__main__":
    sys.exit(main())
