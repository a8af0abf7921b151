"""The embedded engine: llama.cpp in a supervised child process, spoken to on a Unix socket.

Only its raw completions are used, and always streamed: that is where closing the connection stops the generation.
It never queues (its queue does not notice a client that left): the waiting happens here, in front of its slots.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from ..errors import Unreachable, UsageError
from . import gguf
from .ability import abilities
from .base import Item, ModelInfo, Options, Prompt, Tokenizer
from .completion import Completion
from .link import Link
from .supervise import PAUSES, Child
from .tokens import Tokens

__all__ = ["Embedded"]

_CONTEXT = 8192


class Embedded:
    """Runs one GGUF model in this machine.

    Args:
        model: the GGUF file.
        name: what clients call it; the file's name by default.
        dialect: the dialect it speaks, if that is known.
        template: a chat template instead of the model's own.
        slots: generations at the same time.
        context: tokens per generation, prompt included; 0 is the model's own limit, the default too, but at most 8192.
        threads: processor threads; by default one per core.
        batch: prompt tokens evaluated at once; a cancel is noticed between two batches.
        pauses: seconds before each new start of an engine that keeps dying.
    """

    name = "embedded"

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        name: str = "",
        dialect: str = "",
        template: str | None = None,
        slots: int = 2,
        context: int | None = None,
        threads: int = 0,
        batch: int = 64,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self.path, self.template = Path(model), template
        self.info = ModelInfo(name or self.path.stem, dialect)
        self.settings: dict[str, Any] = {
            "model": str(self.path),
            "slots": slots,
            "context": context,
            "threads": threads or os.cpu_count() or 1,
            "batch": batch,
        }
        self.child = Child(self.settings, pauses=pauses)
        self.link = Link(self.child, self.name)
        self.places = slots
        self._learn()
        self._places = asyncio.Semaphore(slots)

    async def start(self) -> None:
        """Read the model's metadata, load it in a child process, and wait until it answers."""
        try:
            self._describe(await asyncio.to_thread(gguf.read, self.path))
        except UsageError as problem:
            raise Unreachable(str(problem), engine=self.name) from problem
        if self.info.template:  # tried now, so that a broken one is told at once and no request waits for it
            await asyncio.to_thread(abilities, self.info.template)
        self._learn()
        await self.child.start()
        await self.tokens.learn()

    async def stop(self) -> None:
        """End the child process."""
        await self.child.stop()

    async def models(self) -> Sequence[ModelInfo]:
        """The one model it serves."""
        return (self.info,)

    @property
    def tokenizer(self) -> Tokenizer:
        """It tells its tokens."""
        return self.tokens

    async def count(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt, the start token included."""
        return await self._completion.count(prompt)

    async def stream(
        self,
        prompt: Prompt,
        options: Options,
        request: Any = None,
    ) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        async with self._places, aclosing(self._completion.stream(prompt, options)) as batches:
            async for batch in batches:
                yield batch

    async def slots(self) -> list[bool]:
        """Which of its slots are busy."""
        return [slot["is_processing"] for slot in await self.link.json("/slots")]

    def _learn(self) -> None:
        self.tokens = Tokens(self.link, self.info)
        self._completion = Completion(self.link, self.tokens, self.info, lambda: self.child.log.refusals)

    def _describe(self, metadata: gguf.Metadata) -> None:
        info, limit, wanted = self.info, metadata.context or _CONTEXT, self.settings["context"]
        info.template = metadata.template if self.template is None else self.template
        info.specials, info.bos, info.eos = metadata.specials, metadata.bos, metadata.eos
        info.context = self.settings["context"] = min(limit, _CONTEXT) if wanted is None else wanted or limit
        info.family, file = metadata.family, self.path.stat()
        info.created, info.size = int(file.st_mtime), file.st_size
