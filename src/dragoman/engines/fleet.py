"""A model that one or several upstreams serve: requests go to one that is up and has room, and to another if it fails.

Another one is tried only before the first piece: what a client has seen is never begun anew.
Where there is only one, it gets a second chance: servers are restarted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from ..errors import Broken, EngineError, Unreachable
from ..messages import Raw
from .base import Item, ModelInfo, Options, Progress, Prompt, Tokenizer, grammars, schemas, talks
from .embedding import Vectors, Wanted
from .voice import Home, Voice

__all__ = ["Fleet"]

_log = logging.getLogger(__name__)
_PAUSE = 0.25  # seconds before the only one is asked again


class Fleet:
    """One model of several upstreams, as an engine.  `pause`: seconds before the only one is asked again."""

    def __init__(self, *members: Voice, pause: float = _PAUSE) -> None:
        self.members = list(members)
        self.pause = pause
        self.name = "upstream"

    def join(self, voice: Voice) -> bool:
        """Add another one of the same model, if it is spoken to in the same way; one of the same upstream is replaced."""
        if (talks(voice), grammars(voice)) != (self.talks, self.grammars):
            return False
        self.members = [member for member in self.members if member.home is not voice.home]
        self.members.append(voice)
        return True

    def leave(self, home: Home) -> bool:
        """An upstream no longer has the model; whether anybody else has it."""
        self.members = [member for member in self.members if member.home is not home]
        return bool(self.members)

    @property
    def talks(self) -> bool:
        """All do, or none does."""
        return self.members[0].talks

    @property
    def grammars(self) -> str:
        """All the same."""
        return grammars(self.members[0])

    @property
    def schemas(self) -> bool:
        """All the same: those that are spoken to in one way."""
        return schemas(self.members[0])

    @property
    def homes(self) -> list[Home | None]:
        """The upstreams."""
        return [member.home for member in self.members]

    @property
    def places(self) -> int | None:
        """The places of all."""
        all_places = [member.home.places if member.home else None for member in self.members]
        return None if None in all_places else sum(filter(None, all_places))

    @property
    def tokenizer(self) -> Tokenizer | None:
        """That of one that has one: the model is the same."""
        return next(filter(None, (getattr(member, "tokenizer", None) for member in self.ordered())), None)

    async def start(self) -> None:
        """The upstreams are started."""

    async def stop(self) -> None:
        """The upstreams are stopped."""

    async def models(self) -> Sequence[ModelInfo]:
        """The one model."""
        return (self.members[0].info,)

    async def know(self, marks: Sequence[str]) -> None:
        """Learn which of these marks are special tokens of the model."""
        await self.members[0].know(marks)

    async def count(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt, by the first that tells; None if none does."""
        for member in self.ordered():
            try:
                return await member.count(prompt)
            except EngineError as error:
                self._failed(member, error)
        return None

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        members = [*self._tried()]
        if not members:
            raise Unreachable("no upstream has this model any more", engine=self.name)
        for place, member in enumerate(members):
            begun = False
            try:
                async with aclosing(cast("Any", member.stream(prompt, options, request))) as batches:
                    async for batch in batches:
                        begun = begun or any(type(item) is not Progress for item in batch)
                        yield batch
                return  # noqa: TRY300 (the end of a stream, not of a try)
            except EngineError as error:
                self._failed(member, error)
                if begun or place + 1 == len(members) or not self._again(error):
                    raise
                _log.warning("%s failed before its first word: %s; another one is tried", _where(member), error)
            if len(self.members) == 1:
                await asyncio.sleep(self.pause)

    @property
    def embeds(self) -> bool:
        """Whether any of them makes vectors."""
        return any(member.embeds for member in self.members)

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`; where one fails, another one is asked."""
        members = [member for member in self._tried() if member.embeds]
        for place, member in enumerate(members):
            try:
                return await member.embed(inputs, wanted)
            except EngineError as error:
                self._failed(member, error)
                if place + 1 == len(members) or not self._again(error):
                    raise
                _log.warning("%s failed to embed: %s; another one is tried", _where(member), error)
            if len(self.members) == 1:
                await asyncio.sleep(self.pause)
        raise Unreachable("no upstream has this model any more", engine=self.name)

    def ordered(self) -> list[Voice]:
        """Those that are up come first, and of them those with the most room; else as they were named."""
        return sorted(self.members, key=lambda member: _load(member.home))

    def _tried(self) -> Iterator[Voice]:
        yield from self.ordered()
        if len(self.members) == 1:
            yield self.members[0]

    def _again(self, error: EngineError) -> bool:
        """The only one is asked again if it was restarted; another one may do what this one refuses."""
        return len(self.members) > 1 or isinstance(error, Unreachable | Broken)

    def _failed(self, member: Voice, error: EngineError) -> None:
        if isinstance(error, Unreachable) and member.home is not None:
            member.home.healthy = False  # until its next health check


def _load(home: Home | None) -> tuple[bool, float]:
    if home is None:
        return False, 0.0
    return not home.healthy, home.running / home.places if home.places else 0.0


def _where(member: Voice) -> str:
    return member.home.name if member.home else member.name
