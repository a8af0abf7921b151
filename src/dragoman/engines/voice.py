"""One model of an upstream, as an engine: an upstream with several models has a voice for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from .base import Item, ModelInfo, Options, Prompt

__all__ = ["Voice"]


class Voice:
    """What all voices have in common; starting and stopping is the upstream's.

    Args:
        name: what the engine is called in messages.
        info: the model.
    """

    talks = False

    def __init__(self, name: str, info: ModelInfo) -> None:
        self.name, self.info = name, info

    async def start(self) -> None:
        """Nothing of its own has to be made ready."""

    async def stop(self) -> None:
        """Nothing of its own has to be released."""

    async def models(self) -> Sequence[ModelInfo]:
        """The one model."""
        return (self.info,)

    async def count(self, prompt: Prompt) -> int | None:
        """Not known, unless the upstream tells."""
        return None

    def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        raise NotImplementedError
