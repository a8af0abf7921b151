"""What a token costs in a parser: microseconds of CPU time, and how it grows."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import partial

from tests.peers.serving import Pieces, streamed
from tests.peers.tokens import pieces
from tests.peers.turns import Case

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Text, Turn
from dragoman.syntax.dialect import Dialect

from ..measure import seconds

__all__ = ["KINDS", "Speed", "speed"]

KINDS = ("content", "argument")
SIZES = (1_000, 4_000)
_PROSE = "The reader takes what is there, and where it cannot decide yet it waits: `a < b` says nothing.\n"
_CODE = 'def total(rows: list[dict], key: str = "net") -> float:\n    return sum(row[key] for row in rows if row)\n'


@dataclass(frozen=True)
class Speed:
    """Microseconds per token for the shorter and the longer text."""

    short: float
    long: float

    @property
    def growth(self) -> float:
        """The exponent: 1 is linear, 2 quadratic."""
        return 1 + math.log(self.long / self.short) / math.log(SIZES[1] / SIZES[0])


def speed(peer: type, dialect: Dialect, reads: str, kind: str) -> Speed | None:
    """How fast a parser reads a long text; None if it cannot read it, or the dialect cannot write it."""
    try:
        short, long = (_micros(peer, *_load(dialect, kind, size), reads) for size in SIZES)
    except UsageError:
        return None
    except Exception:  # noqa: BLE001 (whatever they raise, there is nothing to measure)
        return None
    return Speed(short, long)


def _load(dialect: Dialect, kind: str, size: int) -> tuple[Case, Pieces]:
    """About so many tokens."""
    text = ((_PROSE if kind == "content" else _CODE) * size)[: 3 * size].strip()
    part = Text(text, "final" if dialect.frame else "") if kind == "content" else _call(text)
    closed = dialect.begins if dialect.blocks else dialect.begins + dialect.reasoning.replace("{text}", "")
    case = Case(dialect, kind, closed, api.encode(dialect, Turn((part,)), prompt=closed), Turn((part,)))
    return case, pieces(case)[:size]


def _call(text: str) -> Call:
    return Call("write_file", json.dumps({"path": "a.py", "text": text}))


def _micros(peer: type, case: Case, tokens: Pieces, reads: str, repeat: int = 3) -> float:
    """The best of some runs; a text that takes seconds is read once."""
    best = math.inf
    for _ in range(repeat):
        reader = peer(case, reads)
        best = min(best, seconds(partial(streamed, reader, tokens)))
        if best > 1:
            break
    return best / len(tokens) * 1e6
