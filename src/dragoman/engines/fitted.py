"""Vectors of llama.cpp: each text is checked for what llama.cpp would read otherwise than it is meant, then sent.

A text that spells a special token, or may be too long, goes as the ids of its tokens; every other one as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ..errors import Broken
from ..messages import Raw
from ..protocols import embeddings
from .base import ModelInfo
from .embedding import Vectors, Wanted, finished, too_long
from .http import Connection
from .tokens import Tokens

__all__ = ["vectors"]

_TOGETHER = 16  # texts of one exchange: between two of them others have their turn, and a client that left is noticed
_AROUND = 4  # tokens that a model may want before and behind a text


async def vectors(
    link: Connection,
    tokens: Tokens,
    info: ModelInfo,
    inputs: Sequence[Raw],
    wanted: Wanted,
    *,
    places: asyncio.Semaphore,
    model: str = "",
) -> Vectors:
    """Ask a llama.cpp server for vectors; `model`: what it calls the model, where it serves several."""
    rows: list[Sequence[float]] = []
    used = 0
    for start in range(0, len(inputs), _TOGETHER):
        async with places:
            group = [await _fitted(tokens, info, one, wanted) for one in inputs[start : start + _TOGETHER]]
            body: dict[str, Any] = {"input": group, **({"model": model} if model else {})}
            found, count = embeddings.read_answer(await link.json("/v1/embeddings", body), len(group))
        if found is None:
            raise Broken("llama.cpp gave no vectors", engine=link.engine)
        rows += finished(found, wanted, info.name, link.engine)
        used += count or 0
    return Vectors(rows, used)


async def _fitted(tokens: Tokens, info: ModelInfo, given: Raw, wanted: Wanted) -> str | list[int]:
    """A text, or its tokens, as it may be sent."""
    limit, ids = info.context, list(given.ids)
    if not ids:
        fits = limit is None or len(given.text.encode()) + _AROUND <= limit  # a token is a byte at least
        if fits and not any(mark in given.text for mark in info.specials):
            return given.text
        ids = [token.id for token in await tokens.tokenize(given.text, special=False, start=True)]
    if limit is None or len(ids) <= limit:
        return ids
    if not wanted.truncate:
        raise too_long(len(ids), limit)
    end = ids[-1:] if ids[-1] in tokens.special else []  # what ends every text for this model
    return ids[: limit - len(end)] + end
