"""Which characters of a raw text became what: adjacent pieces of one role as one line, coloured on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from ..explanation import Tile, add_tile
from .files import dump

__all__ = ["Trace", "colourful"]

COLOURS = {"content": "32", "reasoning": "2", "arguments": "36", "markup": "35"}


class Trace:
    """Collects what a parser reports: (start, end, role)."""

    def __init__(self) -> None:
        self.tiles: list[Tile] = []

    def __call__(self, start: int, end: int, role: str) -> None:
        """One more tile."""
        add_tile(self.tiles, start, end, role)

    def lines(self, raw: str, *, colour: bool) -> Iterator[str]:
        """Start, end, role and text of each tile."""
        for tile in self.tiles:
            line = f"{tile.start:>6} {tile.end:>6}  {tile.role:<9}  {dump(raw[tile.start : tile.end])}"
            yield f"\033[{COLOURS.get(tile.role, '31')}m{line}\033[0m" if colour else line


def colourful() -> bool:
    """Whether standard output shows colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")
