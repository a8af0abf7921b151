"""What an engine gives: pieces of text as they come, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Alternative", "End", "Piece"]


@dataclass(slots=True)
class Alternative:
    """A token with its log probability (natural logarithm) and the tokens that stood beside it."""

    token: str
    logprob: float
    bytes: tuple[int, ...] = ()
    top: tuple[Alternative, ...] = ()


@dataclass(slots=True)
class Piece:
    """Text as it came: `special` if it is exactly one special token; `ids` are a hint and may be incomplete."""

    text: str
    ids: Sequence[int] = ()
    special: bool = False
    logprobs: tuple[Alternative, ...] = ()


@dataclass(slots=True)
class End:
    """The engine ended by itself: stop (end token, or the text simply ended) or length.

    Token counts are None where unknown.  `extra`: further facts that travel along, such as timings.
    """

    reason: str = "stop"
    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    reasoning: int | None = None
