"""A case: what a model wrote, all that decides how it is read, and what it is expected to mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..messages import Tool

__all__ = ["BadCase", "Case", "Moment", "Piece"]

Piece = tuple[str, bool]


class BadCase(UsageError):
    """A case file that cannot be read: where, and why."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a piece came, in seconds after the request, and the ids of its tokens as far as they were told."""

    seconds: float
    ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Case:
    """One case.

    `pieces`: the text as it came, and whether each was a special token; `moments`: one for each piece, if recorded.
    `tools`: those on offer, None if that is unknown.  `vocabulary`: marks that are special tokens of the tokenizer.
    `parallel`: the turn goes on after its first call.
    `path` and `request`: where the request went, and its JSON; `frames`: what was sent for it, and when;
    `facts`: lines of comment (all of these only if recorded).
    `expect`: the lines of the expectation; `lines`: where they stand in the file (first, behind the last).
    """

    dialect: str
    title: str
    pieces: tuple[Piece, ...]
    tools: tuple[Tool, ...] | None = ()
    prompt: str = ""
    finish: str = "stop"
    policy: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    marks: bool = False
    special: bool = True
    canonical: bool = False
    expect: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    lines: tuple[int, int] = (0, 0)
    moments: tuple[Moment, ...] = ()
    request: str = ""
    path: str = ""
    frames: tuple[tuple[float, str], ...] = ()
    parallel: bool = True
    facts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.dialect}: {self.title}"

    @property
    def raw(self) -> str:
        """The text, however it comes."""
        return "".join(text for text, _ in self.pieces)

    @property
    def specials(self) -> Mapping[str, int] | None:
        """Mark -> token id, where marks arrive as special tokens (the ids only tell them apart)."""
        return {mark: number for number, mark in enumerate(self.vocabulary, 1)} if self.marks else None

    def timed(self) -> Iterator[tuple[str, bool, Moment | None]]:
        """The pieces with their moments."""
        moments: Sequence[Moment | None] = self.moments or [None] * len(self.pieces)
        for (text, special), moment in zip(self.pieces, moments, strict=True):
            yield text, special, moment
