"""Vectors of an upstream: how they are asked for in each protocol that has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Broken, UnsupportedFeature
from ..messages import Raw
from ..protocols import embeddings, ollama_embed
from .embedding import Vectors, Wanted, finished
from .http import Connection

__all__ = ["OLLAMA", "OPENAI", "Asking", "ask"]

_Rows = tuple[Sequence[Any] | None, int | None]


@dataclass(frozen=True, slots=True)
class Asking:
    """How vectors are asked for in a protocol: where, how a request is written, how an answer is read.

    `tokens`: a text may be given as the ids of its tokens.
    """

    path: str
    write: Callable[..., dict[str, Any]]
    read: Callable[[Any, int], _Rows]
    tokens: bool = True


OPENAI = Asking("/v1/embeddings", embeddings.write_request, embeddings.read_answer)
OLLAMA = Asking("/api/embed", ollama_embed.write_request, ollama_embed.read_answer, tokens=False)


async def ask(
    http: Connection,
    asking: Asking,
    inputs: Sequence[Raw],
    wanted: Wanted,
    *,
    model: str,
    places: asyncio.Semaphore,
    fit: Callable[[dict[str, Any]], dict[str, Any]],
) -> Vectors:
    """A vector for each text.

    Args:
        http: the connection to the upstream.
        asking: the protocol.
        inputs: the texts.
        wanted: how the vectors are to be.
        model: what the upstream calls the model.
        places: requests at the same time.
        fit: makes of a request's body what this upstream wants.
    """
    if not asking.tokens and any(one.ids for one in inputs):
        raise UnsupportedFeature("the upstream embeds texts only, no lists of tokens", param="input", status=501)
    body = asking.write(model, inputs, dimensions=wanted.dimensions, truncate=wanted.truncate)
    async with places:
        answer = await http.json(asking.path, fit(body))
    rows, tokens = asking.read(answer, len(inputs))
    if rows is None:
        raise Broken("the upstream answered without a vector for each text", engine=http.engine)
    return Vectors(finished(rows, wanted, model, http.engine), tokens)
