"""One model of an upstream, as an engine: an upstream with several models has a voice for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Protocol

from ..messages import Raw
from .base import Item, ModelInfo, Options, Prompt
from .embedding import Vectors, Wanted

__all__ = ["Home", "Voice"]


class Home(Protocol):
    """The upstream of a voice, as far as it matters for choosing one: `running` of its `places` are taken."""

    name: str
    healthy: bool
    places: int | None

    @property
    def running(self) -> int:
        """Requests that it answers now."""


class Voice:
    """What all voices have in common; starting and stopping is the upstream's.

    Args:
        name: what the engine is called in messages.
        info: the model.

    `home`: the upstream that it belongs to.
    """

    talks = False
    embeds = False

    def __init__(self, name: str, info: ModelInfo) -> None:
        self.name, self.info = name, info
        self.home: Home | None = None

    async def start(self) -> None:
        """Nothing of its own has to be made ready."""

    async def stop(self) -> None:
        """Nothing of its own has to be released."""

    async def models(self) -> Sequence[ModelInfo]:
        """The one model."""
        return (self.info,)

    async def know(self, marks: Iterable[str]) -> None:
        """Learn which of these marks, that came in a request, are special tokens; most know all of theirs."""

    async def count(self, prompt: Prompt) -> int | None:
        """Not known, unless the upstream tells."""
        return None

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`; only where `embeds` is true."""
        raise NotImplementedError

    def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        raise NotImplementedError
