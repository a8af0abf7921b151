"""Embeddings: texts as vectors.  An engine that makes them has the method `embed`, and its attribute `embeds` is true.

A vector that leaves here has the length 1, so that the product of two is their cosine whatever engine made them.
It is cut shorter only where the model was trained for that; the first half of any other says nothing.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ..errors import Broken, RequestError
from ..messages import Raw
from .base import Engine

__all__ = ["Embedder", "Vectors", "Wanted", "embedder", "finished", "too_long"]

# Families that were trained so that the beginning of a vector is a vector (Matryoshka), by their model cards.
_NESTED = re.compile(
    r"nomic-embed-text(:|$|-v1\.5|-v2)|embedding-?gemma|qwen3-embedding|jina-embeddings-v[3-9]|mxbai-embed-(large|2d)"
    r"|arctic-embed(2|-m-v1\.5|-[ml]-v2)|text-embedding-3|gte-modernbert|modernbert-embed|potion-|static-retrieval",
    re.IGNORECASE,
)
_NEAR = 1e-3  # what an engine has normalised itself goes on as it is


@dataclass(frozen=True, slots=True)
class Wanted:
    """How vectors are to be made: how many `dimensions` (None for all), and whether what is too long is cut."""

    dimensions: int | None = None
    truncate: bool = False


@dataclass(slots=True)
class Vectors:
    """A vector for each text, and how many tokens the texts had in all (None if unknown)."""

    rows: Sequence[Sequence[float]]
    tokens: int | None = None


class Embedder(Protocol):
    """An engine that makes vectors."""

    name: str

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """A vector for each of these texts, or lists of tokens.

        Raises:
            RequestError: a text is too long, a token is none of the model's, or the vectors cannot be cut.
            EngineError: it failed.
        """


def embedder(engine: Engine) -> Embedder | None:
    """The engine, if it makes vectors as far as is known."""
    return cast("Embedder", engine) if getattr(engine, "embeds", False) else None


def finished(rows: Iterable[Any], wanted: Wanted, model: str, engine: str) -> list[Sequence[float]]:
    """What an engine gave, as vectors of the length 1 and the wanted number of dimensions.

    Raises:
        RequestError: this model's vectors cannot have so many.
        Broken: it gave what is no vector.
    """
    return [_unit(_cut(_numbers(row, engine), wanted.dimensions, model)) for row in rows]


def too_long(tokens: object, limit: object) -> RequestError:
    """A text does not fit; both in tokens."""
    problem = (
        f"an input has {tokens} tokens, and the model takes {limit}; split it, or let it be cut where that is offered"
    )
    return RequestError(problem, param="input", code="context_length_exceeded")


def _numbers(row: Any, engine: str) -> array[float]:
    try:
        found = array("d", row)
    except TypeError:
        found = array("d")
    if not found or not all(map(math.isfinite, found)):
        raise Broken("the engine gave what is no vector", engine=engine, hint="can this model embed?")
    return found


def _cut(row: array[float], dimensions: int | None, model: str) -> array[float]:
    size = len(row)
    if dimensions is None or dimensions == size:
        return row
    if dimensions > size:
        _refuse(f"must be at most {size}, as the vectors of {model!r} have")
    if not _NESTED.search(model):
        _refuse(f"cannot be {dimensions}: the vectors of {model!r} have {size}, and mean nothing when they are cut")
    return row[:dimensions]


def _refuse(problem: str) -> None:
    raise RequestError(f"dimensions {problem}", param="dimensions", code="invalid_value")


def _unit(row: array[float]) -> Sequence[float]:
    length = math.hypot(*row)
    return row if length == 0 or abs(length - 1) < _NEAR else array("d", [number / length for number in row])
