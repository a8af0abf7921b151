"""An engine that makes vectors, for tests."""

from __future__ import annotations

import asyncio
from typing import Any

from dragoman.engines.base import ModelInfo
from dragoman.engines.embedding import Vectors, finished


class Measures:
    """An engine that makes vectors of a text's length; `stall`: it waits for ever."""

    name = "measures"
    embeds = True

    def __init__(self, name: str = "vectors", *, stall: bool = False, places: int = 2, fails: Any = None) -> None:
        self.info = ModelInfo(name, embeds=True, writes=False, context=8)
        self.stall, self.places, self.fails = stall, places, fails
        self.asked: list[Any] = []
        self.running = 0

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def models(self) -> list[ModelInfo]:
        return [self.info]

    async def embed(self, inputs: Any, wanted: Any) -> Vectors:
        self.asked.append((inputs, wanted))
        self.running += 1
        try:
            if self.stall:
                await asyncio.Event().wait()
            if self.fails:
                raise self.fails
            rows = [[float(len(one.text or one.ids)), 1.0, 0.0] for one in inputs]
            return Vectors(finished(rows, wanted, self.info.name, self.name), 3 * len(inputs))
        finally:
            self.running -= 1
