"""An upstream: a server that runs already; what it is and which models it has is found out at the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from ..errors import UsageError
from .base import Item, ModelInfo, Options, Prompt
from .http import Http, Refusal
from .llamacpp import LlamaCpp
from .llamacpp import refuse as llama_refuse
from .probe import Found, probe
from .refusals import refused
from .talk import SPEECHES, Manners, Talk
from .voice import Voice

__all__ = ["WAYS", "Settings", "Upstream"]

WAYS = ("auto", "llamacpp", "chat")
_UNLIMITED = 1 << 16


@dataclass(slots=True, kw_only=True)
class Settings:
    """How an upstream is reached and used.

    `way`: how it is spoken to, `auto` finds out.  `model`: the one model to use of it, by its name there.
    `limit`: requests at the same time, 0 for as many as it says.  `dialect`, `template`: instead of what it says.
    """

    url: str
    way: str = "auto"
    key: str = ""
    model: str = ""
    dialect: str = ""
    template: str | None = None
    limit: int = 0
    connect: float = 10.0
    headers: Mapping[str, str] = field(default_factory=dict)
    manners: Manners = field(default_factory=Manners)


class Upstream:
    """An engine with a voice for each of its models.

    Raises:
        UsageError: the URL is none.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.http = self._http(refused)
        self.name = self.http.url
        self.found = Found()
        self.voices: Sequence[Voice] = ()
        self.places: int | None = None

    async def start(self) -> None:
        """Find out what it is.

        Raises:
            Unreachable: nobody is there.
            UsageError: it has no model, or not the one that is wanted.
        """
        self.found = await probe(self.http)
        if self.settings.way != "auto":
            self.found.way = self.settings.way
        names = self._names()
        self.places = self.settings.limit or _slots(self.found) or None
        places = asyncio.Semaphore(self.places or _UNLIMITED)
        if self.found.way == "llamacpp":
            await self.http.close()
            self.http = self._http(llama_refuse, pooled=False)
            self.voices = [await self._llama(name, places) for name in names]
        else:
            self.voices = [self._talk(name, places) for name in names]

    async def stop(self) -> None:
        """Close all connections."""
        await self.http.close()

    async def models(self) -> Sequence[ModelInfo]:
        """All models."""
        return [voice.info for voice in self.voices]

    async def count(self, prompt: Prompt) -> int | None:
        """Of the first model."""
        return await self.voices[0].count(prompt)

    def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """By the first model."""
        return self.voices[0].stream(prompt, options, request)

    def _http(self, refuse: Refusal, *, pooled: bool = True) -> Http:
        wanted = self.settings
        return Http(
            wanted.url,
            "upstream",
            refuse,
            key=wanted.key,
            headers=wanted.headers,
            connect=wanted.connect,
            pooled=pooled,
        )

    def _names(self) -> list[str]:
        wanted, there = self.settings.model, list(self.found.models)
        if wanted:
            return [wanted]
        if not there:
            raise UsageError(f"{self.name} does not list its models; name the one to use with --model")
        return there

    async def _llama(self, name: str, places: asyncio.Semaphore) -> Voice:
        info = ModelInfo(_shown(name), self.settings.dialect, source=f"llama.cpp at {self.name}")
        several = len(self.found.models) > 1
        props = await self.http.json(f"/props?model={name}") if several else self.found.props
        voice = LlamaCpp(self.http, info, places, model=name if several else "")
        await voice.learn(props, self.settings.template)
        return voice

    def _talk(self, name: str, places: asyncio.Semaphore) -> Voice:
        way = self.found.way
        kind = self.found.kind or "a server"
        info = ModelInfo(_shown(name), self.settings.dialect, source=f"{way} of {kind} at {self.name}")
        info.context = _context(self.found.models.get(name, {}))
        if self.found.props:
            info.template = str(self.found.props.get("chat_template") or "")
        return Talk(self.http, info, SPEECHES[way], model=name, places=places, manners=self.settings.manners)


def _slots(found: Found) -> int:
    slots = found.props.get("total_slots")
    return slots if isinstance(slots, int) else 0


def _context(card: Mapping[str, Any]) -> int | None:
    """The context that a list of models tells, under the names that servers give it."""
    meta = card.get("meta")
    for holder in (card, meta if isinstance(meta, Mapping) else {}):
        for key in ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train"):
            if isinstance(holder.get(key), int):
                return int(holder[key])
    return None


def _shown(name: str) -> str:
    """What clients call a model: a path of a file says less than the file's name."""
    return PurePath(name).stem if name.endswith(".gguf") else name
