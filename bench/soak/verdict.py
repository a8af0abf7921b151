"""What a soak has shown: whether anything grew, was left, or went wrong, and the tables for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .traffic import Traffic

__all__ = ["Verdict", "lines"]

# What may not grow, and by how much its lowest count in the last quarter may be above that in the first: traffic comes
# and goes, so the lowest counts are those of nearly nobody.  A part of the first, and so many more.
_FLAT = {
    "files": (0.0, 8),
    "tasks": (0.0, 8),
    "threads": (0.0, 2),
    "blocks": (0.03, 5000),
    "heap": (0.05, 4 << 20),
    "memory": (0.15, 16 << 20),
}
_LEFT = ("running", "taken", "waiting", "recordings", "errors")
_Sample = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """`rows`: name, first, last, most allowed.  `left`: what did not go away.  `grown`: types of objects that became more."""

    rows: Sequence[tuple[str, float, float, float]]
    left: Sequence[str]
    grown: Sequence[tuple[str, int]]
    surprised: int

    @property
    def good(self) -> bool:
        """Nothing grew, nothing was left, nobody was surprised."""
        return (
            bool(self.rows)
            and not (self.left or self.surprised)
            and all(last <= most for _, _, last, most in self.rows)
        )

    @classmethod
    def of(
        cls, samples: Sequence[_Sample], before: _Sample, after: _Sample, kinds: Sequence[_Sample], traffic: Traffic
    ) -> Verdict:
        """Judge; the first tenth fills what is kept, and does not count."""
        steady = samples[len(samples) // 10 :]
        part = max(1, len(steady) // 4)
        rows = [_row(name, steady[:part], steady[-part:]) for name in _FLAT] if steady else []
        left = [f"{name}: {after[name]}" for name in _LEFT if after[name]]
        left += [f"{name}: {after[name]} of {before[name]} before" for name in ("tasks",) if after[name] > before[name]]
        return cls(rows, left, list(_grown(kinds)), traffic.surprised)


def _row(name: str, first: Sequence[_Sample], last: Sequence[_Sample]) -> tuple[str, float, float, float]:
    part, more = _FLAT[name]
    low = min(one[name] for one in first)
    return name, low, min(one[name] for one in last), low * (1 + part) + more


def _grown(kinds: Sequence[_Sample]) -> Iterator[tuple[str, int]]:
    if len(kinds) > 1:
        first, last = kinds[0], kinds[-1]
        more = {name: count - first.get(name, 0) for name, count in last.items()}
        yield from sorted(((name, count) for name, count in more.items() if count > 100), key=lambda one: -one[1])[:10]


def lines(verdict: Verdict, samples: Sequence[_Sample], traffic: Traffic) -> Iterator[str]:
    """The page."""
    seconds = samples[-1]["seconds"] if samples else 0.0
    clients = sum(traffic.seen.values())
    yield "# Soak"
    yield ""
    yield "Written by `python -m bench soak`: what the gateway held under mixed traffic."
    yield ""
    yield f"**{'Nothing grew, and nothing was left.' if verdict.good else 'Not good.'}**"
    cpu = samples[-1]["cpu"] / seconds if seconds else 0.0
    yield (
        f"{seconds / 60:.0f} minutes, {clients:,} clients, {traffic.pieces:,} pieces read whole and in order, "
        f"{traffic.surprised} surprises; {100 * cpu:.0f} % of a core."
    )
    yield from ("", "| what | lowest, first quarter | lowest, last quarter | at most |", "|---|---|---|---|")
    for name, first, last, most in verdict.rows:
        yield f"| {name} | {first:,.0f} | {last:,.0f} | {most:,.0f} |"
    yield from ("", f"Left at the end: {', '.join(verdict.left) or 'nothing'}.", "")
    grown = ", ".join(f"{name} +{count}" for name, count in verdict.grown)
    yield f"Objects that became more after the first tenth: {grown or 'none'}."
    yield from ("", "## Clients", "", "| what they did | how many |", "|---|---|")
    for name, count in traffic.seen.most_common():
        yield f"| {name.replace('_', ' ')} | {count:,} |"
    yield from ("", "## Faults that upstreams were told to have", "", "| fault | how many |", "|---|---|")
    for name, count in sorted(traffic.deeds.items()):
        yield f"| {name.replace('_', ' ')} | {count:,} |"
    yield from (
        "",
        "## In the course of it",
        "",
        "| minute | files | tasks | blocks | MB in use | MB resident | running |",
        "|---|---|---|---|---|---|---|",
    )
    for one in samples[:: max(1, len(samples) // 20)]:
        facts = (
            one["files"],
            one["tasks"],
            one["blocks"],
            one["heap"] // 1_000_000,
            one["memory"] // 1_000_000,
            one["running"],
        )
        yield f"| {one['seconds'] / 60:.1f} | {' | '.join(f'{fact:,}' for fact in facts)} |"
    if traffic.surprises:
        yield from ("", "## Surprises", "", *(f"- `{text}`" for text in traffic.surprises))
