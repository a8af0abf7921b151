"""Which characters of a raw text became what: adjacent pieces of one role as one line, coloured on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from .files import dump

__all__ = ["Trace", "colourful"]

COLOURS = {"content": "32", "reasoning": "2", "arguments": "36", "markup": "35"}


class Trace:
    """Collects what a parser reports: (start, end, role)."""

    def __init__(self) -> None:
        self.tiles: list[tuple[int, int, str]] = []

    def __call__(self, start: int, end: int, role: str) -> None:
        """One more tile; it grows the last one if that has the same role."""
        if self.tiles and self.tiles[-1][1:] == (start, role):
            start = self.tiles.pop()[0]
        self.tiles.append((start, end, role))

    def lines(self, raw: str, *, colour: bool) -> Iterator[str]:
        """Start, end, role and text of each tile."""
        for start, end, role in self.tiles:
            line = f"{start:>6} {end:>6}  {role:<9}  {dump(raw[start:end])}"
            yield f"\033[{COLOURS.get(role, '31')}m{line}\033[0m" if colour else line


def colourful() -> bool:
    """Whether standard output shows colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
