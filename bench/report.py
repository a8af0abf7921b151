"""What was measured, as tables: for the terminal and for `bench/results.md`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .grammars import FORMS
from .material import SIZES
from .measure import Rate

__all__ = ["GOALS", "Report", "machine"]

GOALS = {
    "content": 1.0,
    "reasoning": 1.0,
    "arguments": 1.8,
    "decode + frame": 2.2,
    "frame": 1.5,
    "exponent": 1.05,
    "set-up": 20.0,
    "memory": 8192.0,
    "grammar": 30.0,
}

_WORDS = {
    "content": "us per piece of content",
    "reasoning": "us per piece of reasoning",
    "arguments": "us per piece of live arguments",
    "decode + frame": "us per piece decoded and written as a Chat frame",
    "frame": "us per output frame, in the dearest protocol",
    "exponent": "growth exponent",
    "set-up": "us to set up a stream with 20 tools",
    "memory": "bytes per open parser",
    "grammar": "ms for the grammar (GBNF) of 100 tools",
}


@dataclass
class Report:
    """All numbers: by dialect and kind one rate for each size, and the rest by name."""

    sizes: Sequence[int] = SIZES
    rates: dict[tuple[str, str], list[Rate]] = field(default_factory=dict)
    frames: dict[tuple[str, str], Rate] = field(default_factory=dict)
    written: dict[tuple[str, str], Rate] = field(default_factory=dict)
    exponents: dict[tuple[str, str], float] = field(default_factory=dict)
    set_up: dict[str, float] = field(default_factory=dict)
    memory: dict[tuple[str, str], float] = field(default_factory=dict)
    grammars: dict[str, dict[str, float]] = field(default_factory=dict)

    def worst(self) -> dict[str, float]:
        """The worst number for each goal."""
        found = {kind: max((r.micros for r in rates), default=0) for kind, rates in self._by_kind().items()}
        found["decode + frame"] = max((rate.micros for rate in self.frames.values()), default=0)
        found["frame"] = max((rate.micros for rate in self.written.values()), default=0)
        found["exponent"] = max(self.exponents.values(), default=0)
        found["set-up"] = max(self.set_up.values(), default=0)
        found["memory"] = max(self.memory.values(), default=0)
        found["grammar"] = max((forms["gbnf"] for forms in self.grammars.values()), default=0)
        return found

    def _by_kind(self) -> dict[str, list[Rate]]:
        kinds: dict[str, list[Rate]] = {}
        for (_, kind), rates in self.rates.items():
            kinds.setdefault(kind, []).extend(rates)
        return kinds

    def verdict(self) -> Iterator[tuple[str, float, float, bool]]:
        """Each goal: its words, the goal, what was measured, and whether that is good enough."""
        for key, measured in self.worst().items():
            yield _WORDS[key], GOALS[key], measured, measured <= GOALS[key]

    def lines(self) -> Iterator[str]:
        """The report in Markdown."""
        yield from _table(["goal", "at most", "worst measured", ""], self._goals())
        yield ""
        yield "Microseconds per piece (in brackets: how many times the floor, a function that only appends the pieces)."
        yield ""
        yield from _table(
            ["dialect", "kind", *(f"{size // 1000}k pieces" for size in self.sizes), "exponent"], self._rates()
        )
        yield ""
        yield "Decoded and written as Chat Completions chunks, 16k pieces (floor: quoting the pieces as JSON)."
        yield ""
        yield from _table(["dialect", "kind", "us per piece", "floors"], self._frames())
        yield ""
        yield "An event written as a frame, in each protocol (floor: quoting the pieces as JSON)."
        yield ""
        yield from _table(["protocol", "kind", "us per frame", "floors"], self._written())
        yield ""
        yield "One stream: microseconds to set up with 20 tools, bytes while it is open."
        yield ""
        yield from _table(["dialect", "set-up", "bytes in content", "bytes in arguments"], self._streams())
        yield ""
        yield "The grammar of 100 tools with four parameters each: milliseconds in each form."
        yield ""
        yield from _table(["dialect", *FORMS], self._grammars())

    def _goals(self) -> Iterator[list[str]]:
        for words, goal, measured, good in self.verdict():
            yield [
                words,
                f"{goal:g}",
                f"{measured:.2f}" if measured < 100 else f"{measured:.0f}",
                "met" if good else "MISSED",
            ]

    def _rates(self) -> Iterator[list[str]]:
        for (name, kind), rates in self.rates.items():
            cells = [f"{rate.micros:.2f} ({rate.ratio:.1f})" for rate in rates]
            yield [name, kind, *cells, f"{self.exponents[name, kind]:.2f}"]

    def _frames(self) -> Iterator[list[str]]:
        for (name, kind), rate in self.frames.items():
            yield [name, kind, f"{rate.micros:.2f}", f"{rate.ratio:.1f}"]

    def _written(self) -> Iterator[list[str]]:
        for (name, kind), rate in self.written.items():
            yield [name, kind, f"{rate.micros:.2f}", f"{rate.ratio:.1f}"]

    def _streams(self) -> Iterator[list[str]]:
        for name, micros in self.set_up.items():
            yield [name, f"{micros:.1f}", *(f"{self.memory[name, kind]:.0f}" for kind in ("content", "arguments"))]

    def _grammars(self) -> Iterator[list[str]]:
        for name, forms in self.grammars.items():
            yield [name, *(f"{forms[form]:.1f}" for form in FORMS)]

    def write(self, path: Path) -> None:
        """The report as a page."""
        head = ["# What it costs", "", f"Written by `make bench` on {machine()}.", ""]
        path.write_text("\n".join([*head, *self.lines(), ""]), encoding="utf-8")


def _table(head: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def machine() -> str:
    """Where this runs: the interpreter, the processor, and how busy it is."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return f"Python {platform.python_version()}, {_processor()}, {os.cpu_count()} cores, load {load:.1f}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.machine())
