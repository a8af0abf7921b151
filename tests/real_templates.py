"""The chat templates of real models, as packages carry them, and what becomes of each: `tried` is one line of a list.

They stand in `.venv/templates` (`make` puts them there), never in the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dragoman import api
from dragoman.engines.gguf import Metadata
from dragoman.engines.lessons import renderer
from dragoman.errors import UsageError
from dragoman.messages import Turn
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.learn import reads, show, study, writes
from dragoman.syntax.probes import Probe

PLACE = Path(sys.prefix) / "templates"
LIST = Path(__file__).parent / "templates.txt"


@cache
def templates() -> dict[str, Path]:
    """Those that show calls, by name."""
    found = {f"{path.parts[-3]}/{path.stem}": path for path in sorted(PLACE.glob("*/*/*.jinja"))}
    return {name: path for name, path in found.items() if "tool_calls" in path.read_text("utf-8")}


@dataclass(frozen=True)
class Outcome:
    """What became of a template: the dialect that was detected, and how many of its `probes` went which way.

    `read`, `written`: by the dialect that was detected.  `learnt`, `rewritten`: by the dialect that was learnt.
    `agree`: each of the two reads what the other writes.
    """

    name: str
    dialect: str
    probes: int
    read: int
    written: int
    learnt: int
    rewritten: int
    agree: bool

    def __str__(self) -> str:
        numbers = (self.probes, self.read, self.written, self.learnt, self.rewritten)
        return f"{self.name}  {self.dialect}  {' '.join(map(str, numbers))}  {'agree' if self.agree else '-'}"

    @classmethod
    def of(cls, line: str) -> Outcome:
        name, dialect, numbers, agree = line.split("  ")
        return cls(name, dialect, *map(int, numbers.split()), agree == "agree")


def tried(name: str) -> Outcome:
    """What becomes of a template now."""
    known = Metadata(template=templates()[name].read_text("utf-8"), eos="</s>")
    dialect = next((api.get(one) for one, _ in api.detections(known.template)), None)
    try:
        probes = show(renderer(known))
    except UsageError:
        probes = []
    learnt = _learnt(known)
    return Outcome(
        name,
        dialect.name if dialect else "?",
        len(probes),
        *_counts(dialect, probes),
        *_counts(learnt, probes),
        dialect is not None and learnt is not None and _agree(dialect, learnt, probes),
    )


def _learnt(known: Metadata) -> Dialect | None:
    try:
        lesson = study(renderer(known))
    except UsageError:
        return None
    return lesson.dialect if lesson.dialect.call else None


def _counts(dialect: Dialect | None, probes: list[Probe]) -> tuple[int, int]:
    if dialect is None:
        return 0, 0
    return sum(reads(dialect, probe) for probe in probes), sum(writes(dialect, probe) for probe in probes)


def _agree(one: Dialect, other: Dialect, probes: list[Probe]) -> bool:
    """Whether each reads what the other writes, of every probe that either can write at all."""
    return all(
        reads(b, Probe("", turn, text)) for a, b in ((one, other), (other, one)) for turn, text in _said(a, probes)
    )


def _said(dialect: Dialect, probes: list[Probe]) -> Iterator[tuple[Turn, str]]:
    for probe in probes:
        try:
            yield probe.turn, api.encode(dialect, probe.turn, prompt=dialect.begins)
        except UsageError:
            continue


def listed() -> dict[str, Outcome]:
    """The list as it is written."""
    lines = LIST.read_text("utf-8").splitlines()
    found = [Outcome.of(line) for line in lines if line and not line.startswith("#")]
    return {outcome.name: outcome for outcome in found}


__all__ = ["Outcome", "listed", "templates", "tried"]
