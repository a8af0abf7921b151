"""What is measured: texts as models write them, cut into pieces of about a token."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass

from dragoman import Parser, Turn, encode
from dragoman.api import get
from dragoman.messages import Call, Reasoning, Text, Tool
from dragoman.syntax.dialect import Dialect

__all__ = ["KINDS", "SIZES", "Load", "load", "pieces", "tools"]

KINDS = ("content", "reasoning", "arguments")
SIZES = (1_000, 4_000, 16_000, 64_000, 128_000)

_PROSE = (
    "The reader takes what is there, and where it cannot decide yet it waits: `a < b` says nothing, and neither does\n"
    "an open brace. Prices rose by 3.5 % in 2021 (see table 4), mostly for wheat, rye and oats.\n\n"
)
_CODE = (
    'def total(rows: list[dict[str, float]], key: str = "net") -> float:\n'
    '    """Add up one column; rows without it count as 0."""\n'
    "    return sum(row.get(key, 0.0) for row in rows if row['year'] > 1999 and not row.get(\"void\"))\n\n\n"
)
_LENGTHS = (4, 3, 5, 1, 6, 4, 2, 7, 4, 3, 5, 4)  # four characters on average, as tokens are


@dataclass(frozen=True)
class Load:
    """A turn to decode: its pieces, and what a parser needs to know."""

    dialect: Dialect
    kind: str
    pieces: tuple[str, ...]

    def parser(self) -> Parser:
        """A parser for it."""
        return Parser(self.dialect, tools(20), prompt=self.dialect.begins)


def pieces(text: str) -> tuple[str, ...]:
    """A text in token-sized pieces."""
    found: list[str] = []
    at = 0
    for length in itertools.cycle(_LENGTHS):
        if at >= len(text):
            return tuple(found)
        found.append(text[at : at + length])
        at += length
    raise AssertionError


def tools(count: int) -> tuple[Tool, ...]:
    """Tools on offer, the last of which is the one that is called."""
    properties = {
        "path": {"type": "string"},
        "text": {"type": "string"},
        "mode": {"enum": ["a", "w"]},
        "n": {"type": "integer"},
    }
    schema = {"type": "object", "properties": properties, "required": ["path", "text"]}
    return (
        *(Tool(f"tool_{i}", "Does a thing.", schema) for i in range(count - 1)),
        Tool("write_file", "Writes.", schema),
    )


def load(name: str, kind: str, count: int) -> Load:
    """A turn of one kind, about `count` pieces long."""
    dialect = get(name)
    size = 4 * count
    if kind == "arguments":
        text = (_CODE * (size // len(_CODE) + 1))[:size]
        part: Call | Reasoning | Text = Call("write_file", json.dumps({"path": "a.py", "text": text.rstrip()}))
    else:
        text = (_PROSE * (size // len(_PROSE) + 1))[:size].rstrip()
        part = Reasoning(text) if kind == "reasoning" else Text(text, "final" if dialect.frame else "")
    raw = encode(dialect, Turn((part,)), prompt=dialect.begins)
    return Load(dialect, kind, pieces(raw)[:count])
