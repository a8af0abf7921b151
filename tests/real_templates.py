"""The chat templates of real models, as packages carry them, and what becomes of each: `tried` is one line of a list.

They stand in `.venv/templates` (`make` puts them there), never in the repository.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from excuses import excuse

from dragoman import api
from dragoman.engines.gguf import Metadata
from dragoman.engines.lessons import renderer
from dragoman.errors import UsageError
from dragoman.messages import Turn
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.learn import ended, reads, show, study, writes
from dragoman.syntax.probes import Probe

PLACE = Path(sys.prefix) / "templates"
MAPPED = PLACE / "node_modules/@huggingface/ollama-utils/src/chat-template-automap.ts"
LIST = Path(__file__).parent / "templates.txt"

_MAPPED = re.compile(r'model: "(?P<model>[^"]+)",\s+gguf: (?P<template>"(?:\\.|[^"\\])*")')


@cache
def templates() -> dict[str, str]:
    """Those that show calls, by name."""
    found = {f"{path.parts[-3]}/{path.stem}": path.read_text("utf-8") for path in sorted(PLACE.glob("*/*/*.jinja"))}
    new = {text: name for name, text in _mapped() if text not in found.values()}
    found |= {name: text for text, name in new.items()}
    return {name: text for name, text in found.items() if "tool_calls" in text}


def _mapped() -> Iterator[tuple[str, str]]:
    """The templates that a package for Node holds against Ollama's own; it is there where npm is."""
    text = MAPPED.read_text("utf-8") if MAPPED.exists() else ""
    for found in _MAPPED.finditer(text):
        yield f"npm/{found['model'].replace(':', '@').removeprefix('library/')}", json.loads(found["template"])


@dataclass(frozen=True)
class Outcome:
    """What became of a template: the dialect that was detected, and how many of its `probes` went which way.

    `read`, `written`: by the dialect that was detected.  `learnt`, `rewritten`: by the dialect that was learnt.
    `agree`: each of the two reads what the other writes.
    `excused`: how many of those not written differ for a reason that is the template's own (`excuses`).
    """

    name: str
    dialect: str
    probes: int
    read: int
    written: int
    learnt: int
    rewritten: int
    agree: bool
    excused: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        numbers = (self.probes, self.read, self.written, self.learnt, self.rewritten)
        parts = [self.name, self.dialect, " ".join(map(str, numbers)), "agree" if self.agree else "-"]
        return "  ".join([*parts, *([" ".join(f"{why}:{n}" for why, n in self.excused.items())] * bool(self.excused))])

    @classmethod
    def of(cls, line: str) -> Outcome:
        name, dialect, numbers, agree, *more = line.split("  ")
        excused = {why: int(n) for why, n in (one.split(":") for one in " ".join(more).split())}
        return cls(name, dialect, *map(int, numbers.split()), agree == "agree", excused)

    @property
    def meant(self) -> int:
        """How many probes show what the model itself would write."""
        return self.probes - sum(self.excused.values())

    @property
    def understood(self) -> bool:
        """Whether every probe reads as the template tells it."""
        return self.read + self.excused.get("told", 0) >= self.probes > 0

    @property
    def same(self) -> bool:
        """Whether every probe that shows what the model would write is written so."""
        return self.written >= self.meant > 0


def tried(name: str) -> Outcome:
    """What becomes of a template now."""
    known = Metadata(template=templates()[name], eos="</s>")
    dialect = next((api.get(one) for one, _ in api.detections(known.template)), None)
    try:
        probes = show(renderer(known))
    except UsageError:
        probes = []
    learnt = _learnt(known)
    read, written = _counts(dialect, probes)
    why = Counter(filter(None, (excused(dialect, probe) for probe in probes))) if dialect else Counter[str]()
    return Outcome(
        name,
        dialect.name if dialect else "?",
        len(probes),
        read,
        written,
        *_counts(learnt, probes),
        dialect is not None and learnt is not None and _agree(dialect, learnt, probes),
        dict(sorted(why.items())),
    )


def excused(dialect: Dialect, probe: Probe) -> str:
    """Why a probe's text may differ from ours, "" if it is the same, or nothing excuses it."""
    if writes(dialect, probe):
        return ""
    try:
        ours = api.encode(dialect, probe.turn, prompt=dialect.begins)
    except UsageError:
        ours = ""
    return excuse(dialect, probe.turn, ended(dialect, probe.text), ended(dialect, ours))


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
