"""A model of this machine that embeds: llama.cpp in a child process of its own, in the mode for vectors.

In that mode a text is evaluated in one batch, so a batch is as large as the longest text may be.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ..errors import UnsupportedFeature, UsageError
from ..messages import Raw
from . import gguf
from .base import Item, Options, Prompt
from .embedded import Embedded
from .embedding import Vectors, Wanted
from .fitted import vectors

__all__ = ["LocalEmbedder"]

_CONTEXT = 2048  # by default: memory grows with the batch
_NONE, _RANK = 0, 4  # of the ways to make one vector of a text's many, as GGUF files number them


class LocalEmbedder(Embedded):
    """Embeds with one GGUF model in this machine.

    Args:
        model: the GGUF file.
        name: what clients call it; the file's name by default.
        slots: requests at the same time.
        context: tokens per text; 0 is what the model takes, at most 2048.
        threads: processor threads; by default one per core.
        more: as for `Embedded`.
    """

    embeds = True

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        name: str = "",
        slots: int = 2,
        context: int = 0,
        threads: int = 0,
        **more: Any,
    ) -> None:
        super().__init__(model, name=name, slots=slots, context=context, threads=threads, **more)
        self.settings["embedding"] = True
        self.info.embeds, self.info.writes = True, False

    def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """It does not write."""
        raise UnsupportedFeature(f"{self.info.name!r} makes vectors and writes no text", param="model")

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`."""
        return await vectors(self.link, self.tokens, self.info, inputs, wanted, places=self._places)

    def _describe(self, metadata: gguf.Metadata) -> None:
        limit, wanted = metadata.context or _CONTEXT, self.settings["context"]
        self.settings["context"] = min(wanted or _CONTEXT, limit)
        super()._describe(metadata)
        self.info.template = ""  # nothing is rendered
        self.settings["batch"] = self.settings["context"]
        if metadata.pooling == _RANK:
            raise UsageError(f"the model {str(self.path)!r} ranks texts and makes no vectors of them")
        # A model that was trained to write does not say how; of its states the mean tells most.
        self.settings["pooling"] = "mean" if metadata.pooling in (None, _NONE) else ""
