"""An upstream: a server that runs already; what it is and which models it has is found out at the start.

It is spoken to on the best way that is open: raw completions where the model's template is known and the server takes
raw prompts, else a protocol in which it is talked with.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from ..errors import EngineError, Unreachable, UsageError
from .ability import abilities
from .base import Item, ModelInfo, Options, Prompt
from .completions import Completions
from .does import embeds_only, makes_vectors, sees
from .gguf import Metadata
from .http import Http, Refusal
from .llamacpp import LlamaCpp, candidates
from .llamacpp import refuse as llama_refuse
from .metadata import context_of, from_files, of_completions, of_ollama, shown
from .ollama import Ollama
from .probe import Found, is_guided, probe
from .refusals import refused
from .talk import SPEECHES, Manners, Talk
from .voice import Voice

__all__ = ["WAYS", "Settings", "Upstream"]

WAYS = ("auto", "llamacpp", "completions", "generate", "chat", "responses", "messages", "ollama")
_UNLIMITED = 1 << 16
_SOON = 1.0  # seconds until one that is not there is asked again, at first
_log = logging.getLogger(__name__)
_RAW = {"llama.cpp": "llamacpp", "vllm": "completions", "sglang": "completions", "ollama": "generate"}
_TALKED = {"ollama": "ollama"}
_TELLS = ("vllm", "sglang")  # their tokens


@dataclass(slots=True, kw_only=True)
class Settings:
    """How an upstream is reached and used.

    `way`: how it is spoken to, `auto` finds out.  `models`: names or patterns of those to use, all by default.
    `vision`: its models are shown images, where it does not say so itself.
    `thinking`: its answers begin in reasoning, which it leaves in the text.  `prefix`: stands before the names of its models.  `health`: seconds between two looks whether it is there.
    `limit`: requests at the same time, 0 for as many as it says.  `dialect`, `template`: instead of what it says.
    `tokenizer`: a GGUF file or a model's folder that tells the template and the special tokens.
    """

    url: str
    way: str = "auto"
    key: str = ""
    models: Sequence[str] = ()
    dialect: str = ""
    template: str | None = None
    tokenizer: str = ""
    thinking: bool = False
    vision: bool = False
    prefix: str = ""
    health: float = 15.0
    limit: int = 0
    connect: float = 10.0
    headers: Mapping[str, str] = field(default_factory=dict)
    manners: Manners = field(default_factory=Manners)


class Upstream:
    """An engine with a voice for each of its models.  `healthy`: it was there when it was last asked.

    Raises:
        UsageError: the URL is none.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.http = self._http(refused)
        self.name = self.http.url
        self.found = Found()
        self.voices: Sequence[Voice] = ()
        self.healthy = False
        self.places: int | None = None
        self._places = asyncio.Semaphore(_UNLIMITED)

    async def start(self) -> None:
        """Find out what it is.

        Raises:
            Unreachable: nobody is there.
            UsageError: it has no model, or it cannot be spoken to on the way that is set.
        """
        self.found = await probe(self.http)
        self.places = self.settings.limit or _slots(self.found) or None
        self._places = asyncio.Semaphore(self.places or _UNLIMITED)
        if self._wanted() == "llamacpp" and self.http.refuse is not llama_refuse:
            await self.http.close()
            self.http = self._http(llama_refuse, pooled=False)
        self.voices = [await self._voice(name) for name in self._names()]
        for voice in self.voices:
            voice.home = self
        self.healthy = True

    @property
    def running(self) -> int:
        """Requests that it answers now."""
        return (self.places or _UNLIMITED) - self._places._value  # noqa: SLF001 (asyncio tells it nowhere else)

    async def watch(self, changed: Callable[[Upstream], None]) -> None:
        """Look after it for ever: `changed` is called when it came (back) and has told its models anew."""
        pause = _SOON
        while True:
            await asyncio.sleep(self.settings.health if self.healthy else pause)
            if self.voices and await self._is_there():
                pause, self.healthy = _SOON, True
                continue
            if await self._came():
                pause = _SOON
                changed(self)
            else:
                pause = min(pause * 2, self.settings.health)

    async def _is_there(self) -> bool:
        """One that came back may be another one, so it is asked anew."""
        try:
            await self.http.try_json("/v1/models")
        except Unreachable as error:
            if self.healthy:
                _log.warning("%s", error)
            self.healthy = False
        return self.healthy

    async def _came(self) -> bool:
        try:
            await self.start()
        except Unreachable:
            return False
        except (EngineError, UsageError) as error:
            _log.warning("%s: %s", self.name, error)
            return False
        return True

    def open_for(self, name: str) -> Voice | None:
        """A voice for a model that it does not list, if a pattern of the settings allows the name."""
        inner = name.removeprefix(self.settings.prefix)
        way = self._wanted() or "chat"
        fits = name.isprintable() and any(
            fnmatchcase(inner, pattern) for pattern in self.settings.models if _is_pattern(pattern)
        )
        if not self.healthy or way not in SPEECHES or not name.startswith(self.settings.prefix) or not fits:
            return None
        wanted, source = self.settings, f"{way} of {self.name}"
        info = ModelInfo(name, wanted.dialect, thinking=wanted.thinking, source=source, vision=wanted.vision)
        voice = self._talk(inner, info, way)
        voice.home = self
        return voice

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
        more = {"key": wanted.key, "headers": wanted.headers, "connect": wanted.connect, "pooled": pooled}
        return Http(wanted.url, "upstream", refuse, **more)  # type: ignore[arg-type]  # each has the type it needs

    def _wanted(self) -> str:
        """The way that is set, or the best that this kind of server may have."""
        return _RAW.get(self.found.kind, "") if self.settings.way == "auto" else self.settings.way

    def _names(self) -> Sequence[str]:
        wanted, there = self.settings.models, list(self.found.models)
        if not wanted and not there:
            raise UsageError(f"{self.name} does not list its models; name the one to use with --model")
        exact = [name for name in wanted if not _is_pattern(name)]
        patterns = ["*"] if not wanted else [name for name in wanted if _is_pattern(name)]
        listed = [name for name in there if any(fnmatchcase(name, pattern) for pattern in patterns)]
        return list(dict.fromkeys((*exact, *listed)))

    async def _voice(self, name: str) -> Voice:
        way = self._wanted()
        info = ModelInfo(self.settings.prefix + _shown(name), self.settings.dialect, thinking=self.settings.thinking)
        if way == "llamacpp":
            return await self._llama(name, info)
        card = dict(self.found.models.get(name, {}))
        if self.found.kind == "ollama":
            card |= await shown(self.http, name)
        info.embeds, info.writes = makes_vectors(card), not embeds_only(card)
        if not info.writes:
            return self._embedder(name, info, card)
        files, source, own = await self._metadata(name, way, card)
        _describe(info, files, self.settings.template)
        info.context = context_of(card) or files.context
        if self.settings.way == "auto" and not (way and info.template):
            way = _TALKED.get(self.found.kind, "chat")
        if way not in SPEECHES and not info.template:
            raise UsageError(
                f"the chat template of {name!r} is not known, so {self.name} cannot be spoken to in raw completions;"
                " name its GGUF file or its folder with --upstream-tokenizer, or use --upstream-way chat"
            )
        info.source = f"{way} of {self.found.kind or 'a server'} at {self.name}" + (f", {source}" if source else "")
        if way in SPEECHES:
            info.hint = own
            info.vision = self.settings.vision or sees(card, self.found.props)
            return self._talk(name, info, way)
        await asyncio.to_thread(abilities, info.template)  # a broken one is told at once, and no request waits for it
        return await self._raw(name, info, way)

    def _embedder(self, name: str, info: ModelInfo, card: Mapping[str, Any]) -> Voice:
        """A model that makes vectors and writes nothing."""
        way = _TALKED.get(self.found.kind, "chat")
        info.context = context_of(card)
        info.source = f"vectors of {self.found.kind or 'a server'} at {self.name}"
        return self._talk(name, info, way)

    async def _metadata(self, name: str, way: str, card: Mapping[str, Any]) -> tuple[Metadata, str, str]:
        """What files or the upstream tell, where that was found, and a template in another language than Jinja."""
        if path := self.settings.tokenizer:
            return await from_files(path), f"the files of {path}", ""
        if self.found.kind == "ollama":
            return await of_ollama(card)
        if self.found.props:
            return Metadata(template=str(self.found.props.get("chat_template") or "")), "/props", ""
        if way == "completions":
            return (*await of_completions(self.http, card), "")
        return Metadata(), "", ""

    async def _llama(self, name: str, info: ModelInfo) -> Voice:
        info.source = f"llama.cpp at {self.name}"
        several = len(self.found.models) > 1
        props = (
            await self.http.json(f"/props?model={quote(name, safe='')}")
            if several or not self.found.props
            else self.found.props
        )
        if sees({}, props):
            _log.warning(
                "%s could be shown images, which raw completions cannot carry; way `chat` passes them on", name
            )
        voice = LlamaCpp(self.http, info, self._places, model=name if several else "")
        await voice.learn(props, self.settings.template)
        return voice

    def _talk(self, name: str, info: ModelInfo, way: str) -> Voice:
        settings = self.settings
        return Talk(self.http, info, SPEECHES[way], model=name, places=self._places, manners=settings.manners)

    async def _raw(self, name: str, info: ModelInfo, way: str) -> Voice:
        manners, places, kind = self.settings.manners, self._places, self.found.kind
        if way == "generate":
            return Ollama(self.http, info, model=name, places=places, manners=manners)
        tells, guided = kind in _TELLS, kind == "vllm" and await is_guided(self.http)
        voice = Completions(
            self.http, info, kind=kind, model=name, places=places, tells=tells, guided=guided, manners=manners
        )
        if tells and not info.specials:
            await voice.learn(candidates(info.template, (info.bos, info.eos)))
        return voice


def _describe(info: ModelInfo, files: Metadata, template: str | None) -> None:
    info.template = files.template if template is None else template
    info.specials, info.bos, info.eos, info.family = files.specials, files.bos, files.eos, files.family


def _is_pattern(name: str) -> bool:
    return any(letter in name for letter in "*?[")


def _slots(found: Found) -> int:
    slots = found.props.get("total_slots")
    return slots if isinstance(slots, int) else 0


def _shown(name: str) -> str:
    """What clients call a model: a path of a file says less than the file's name."""
    return PurePath(name).stem if name.endswith(".gguf") else name
