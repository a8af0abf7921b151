"""Fuzzes everything that strangers can reach: any text of a model, bytes of an upstream, JSON of a client, any template.

`python -m fuzz --cases 1000000` runs so many cases; a case that fails is told by its target and its number, and
`python -m fuzz --target NAME --first NUMBER --cases 1` runs it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback

from .targets import TARGETS

__all__ = ["main", "run"]


def run(name: str, number: int) -> None:
    """One case.

    Raises:
        Exception: whatever is not documented.
    """
    TARGETS[name](random.Random(f"{name}-{number}"))


def main() -> int:
    """Run them; the status is 1 if one failed."""
    args = _arguments()
    names = args.target or list(TARGETS)
    failed, began = 0, time.monotonic()
    for number in range(args.first, args.first + max(1, args.cases // len(names))):
        for name in names:
            try:
                run(name, number)
            except Exception:  # noqa: BLE001 (that is what is looked for)
                failed += 1
                print(f"--- {name} {number}\n{traceback.format_exc(limit=-3)}", flush=True)
        if failed >= args.most:
            break
    print(f"{args.cases} cases, {failed} failed, {time.monotonic() - began:.0f} s")
    return int(bool(failed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "--target", action="append", choices=TARGETS, help="only this one (may be given more than once)"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--cases", type=int, default=10_000, help="cases in all (10000)")
    parser.add_argument("--most", type=int, default=10, help="failures after which it stops (10)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
