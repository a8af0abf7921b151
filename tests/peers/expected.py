"""`expected.txt`: what each of their parsers makes of the cases, and the kind of every difference.

    vllm/hermes-json  hermes + qwen3  46
        quoted-mark  streamed  arguments  its own mark in a string

A pair has a line with the number of its cases (each is read piece by piece and as a whole); below it stand those whose
answer is not what was meant: the kind of the difference (docs/why.md explains each), how it was read, what is wrong.
Run this file to try all pairs again and to write the file anew; a difference that is new has the kind `?`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FILE", "Difference", "Pair", "load", "measured"]

FILE = Path(__file__).parent / "expected.txt"


@dataclass(frozen=True)
class Difference:
    """One answer that is not what was meant."""

    how: str
    what: str
    case: str
    kind: str = "?"

    def __str__(self) -> str:
        return f"    {self.kind}  {self.how}  {self.what}  {self.case}"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.how, self.what, self.case


@dataclass(frozen=True)
class Pair:
    """One dialect, and their parsers for it."""

    peer: str
    dialect: str
    reads: str
    answers: int
    differences: tuple[Difference, ...] = ()

    def __str__(self) -> str:
        first = f"{self.peer}/{self.dialect}  {self.reads}  {self.answers}"
        return "\n".join([first, *map(str, self.differences)])

    def count(self, *, raised: bool) -> int:
        """How many answers raise, or how many differ without raising."""
        return sum((one.what == "raises") is raised for one in self.differences)


def load(text: str) -> list[Pair]:
    """The pairs of a file."""
    found: list[Pair] = []
    for line in text.splitlines():
        fields = line.strip().split("  ")
        if line.startswith(" "):
            last = found[-1]
            difference = Difference(*fields[1:], fields[0])
            found[-1] = Pair(last.peer, last.dialect, last.reads, last.answers, (*last.differences, difference))
        elif line and not line.startswith("#"):
            peer, _, dialect = fields[0].partition("/")
            found.append(Pair(peer, dialect, fields[1], int(fields[2])))
    return found


def measured(peer: str, dialect: str, reads: str) -> Pair:
    """A pair as it is now."""
    from dragoman import api

    from .serving import PEERS, answers, asked
    from .tokens import pieces
    from .turns import cases

    count, found = 0, []
    for case in cases(api.get(dialect)):
        if asked(case, reads):
            tried = answers(PEERS[peer], case, reads, pieces(case))
            count += len(tried)
            wrong = [(how, answer.differs(case.turn)) for how, answer in tried.items()]
            found += [Difference(how, what, case.kind) for how, what in wrong if what]
    return Pair(peer, dialect, reads, count, tuple(found))


def _named(pair: Pair, known: Iterable[Difference]) -> Pair:
    """The same with the kinds that are known."""
    kinds = {one.key: one.kind for one in known}
    named = (Difference(*one.key, kinds.get(one.key, "?")) for one in pair.differences)
    return Pair(pair.peer, pair.dialect, pair.reads, pair.answers, tuple(named))


def _again() -> Iterator[Pair]:
    from .turns import pairs

    known = {(pair.peer, pair.dialect): pair.differences for pair in load(FILE.read_text("utf-8"))}
    for peer in ("vllm", "sglang"):
        for dialect, reads in pairs()[peer].items():
            print(peer, dialect, file=sys.stderr)
            yield _named(measured(peer, dialect, reads), known.get((peer, dialect), ()))


if __name__ == "__main__":
    head = (
        "# Written by tests/peers/expected.py, where it is explained; the kinds are given by hand, see docs/why.md.\n\n"
    )
    FILE.write_text(head + "\n".join(map(str, _again())) + "\n", encoding="utf-8")
