"""Roster: the engines of a server and the models they serve; `pick` finds the one that a request names."""

from __future__ import annotations

import asyncio
import difflib
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import cast

from .. import api
from ..engines.base import Engine, ModelInfo, talks
from ..engines.embedding import embedder
from ..engines.fleet import Fleet
from ..engines.gguf import Metadata
from ..engines.lessons import fitting
from ..engines.upstream import Upstream
from ..engines.voice import Voice
from ..errors import EngineError, RequestError, Unreachable, UnsupportedFeature, UsageError
from ..syntax.dialect import Dialect
from .gate import Gate

__all__ = ["Roster", "Served", "told"]

_log = logging.getLogger(__name__)
_GUESTS = 500  # models that clients have named, where an upstream takes names by a pattern
# What models of any make are known to leave in the text of an engine that decodes by itself.
_UNKNOWN = Dialect("", reasoning="<think>\n{text}\n</think>")
_SILENT = Dialect("")  # of what writes nothing


@dataclass(slots=True)
class Served:
    """A model on offer: the engine that runs it, what is known of it, and the dialect it writes.

    `marks`: the special tokens that mean something in this dialect, and so must arrive as text.
    `gate`: where requests wait for a place in the engine.  `why`: what told the dialect.
    `label`: what metrics call it: its name, or "other" where clients have made up too many names.
    """

    engine: Engine
    info: ModelInfo
    dialect: Dialect
    marks: tuple[str, ...] = ()
    gate: Gate = field(default_factory=lambda: Gate(None, 0))
    why: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        self.label = self.label or self.name
        dialect = self.dialect
        forms = (form.template for form in dialect.forms)
        spelled = "\n".join(
            (*forms, dialect.reasoning, *dialect.content, dialect.begins, *dialect.ends, *dialect.special)
        )
        self.marks = tuple(mark for mark in self.info.specials if mark in spelled)

    @property
    def name(self) -> str:
        """What clients call it."""
        return self.info.name

    @property
    def decoded(self) -> str:
        """By what its turns are decoded, in a word for logs: the dialect's name, `upstream`, `learnt` or `none`."""
        if self.dialect.name or not self.info.writes:
            return self.dialect.name or "none"
        return "upstream" if talks(self.engine) else "learnt"

    def check_writes(self) -> None:
        """Refuse what only a model that writes can do.

        Raises:
            RequestError: it makes vectors, and nothing else (400).
        """
        if not self.info.writes:
            problem = f"the model {self.name!r} makes embeddings and writes no text; ask another one"
            raise RequestError(problem, param="model", code="model_not_capable")


class Roster:
    """Engines and their models.

    Args:
        engines: what runs models.
        dialect: the dialect of all of them, instead of what each says of itself.
        strict: a single model, too, answers to its own name only.
        queue: how many requests may wait for a place in an engine.
        aliases: further names and patterns of names -> the name of a model.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        dialect: str = "",
        strict: bool = False,
        queue: int = 0,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.engines, self.strict, self.queue = engines, strict, queue
        self.aliases = aliases or {}
        self._gates: dict[tuple[int, ...], Gate] = {}
        self._watches: list[asyncio.Task[None]] = []
        self._dialect = api.get(dialect) if dialect else None
        self._served: dict[str, Served] = {}
        self._guests: OrderedDict[str, None] = OrderedDict()
        self._labels: set[str] = set()
        self.ready = self.complete = False
        self.failure: Exception | None = None
        self._waited: EngineError | None = None

    async def start(self) -> None:
        """Start the engines, and learn what they serve.

        An upstream that is not there yet is waited for in the background; the others serve meanwhile.

        Raises:
            EngineError: one did not start; `failure` keeps it.
        """
        try:
            for engine in self.engines:
                await self._start(engine)
            self.complete = True
        except Exception as error:
            self.failure = error
            raise

    async def _start(self, engine: Engine) -> None:
        watch = getattr(engine, "watch", None)
        try:
            await engine.start()
            await self._learn(engine)
        except (EngineError, UsageError) as error:
            waits = isinstance(error, Unreachable) or len(self.engines) > 1
            if watch is None or not waits:
                raise
            self._waited = Unreachable(str(error))
            _log.warning("%s; it is waited for", error)
        if watch is not None:
            self._watches.append(asyncio.create_task(watch(self._relearn)))

    async def _learn(self, engine: Engine) -> None:
        if isinstance(engine, Upstream):
            self._relearn(engine)
            return
        gate = Gate(getattr(engine, "places", None), self.queue)
        for info in await engine.models():
            self._add(engine, info, gate)
        self.ready = True

    def _relearn(self, upstream: Upstream) -> None:
        """An upstream has told its models, for the first time or anew; those it no longer has are gone."""
        self._forget(upstream, {voice.info.name for voice in upstream.voices})
        for voice in upstream.voices:
            self._join(voice)
        self.ready = self.ready or bool(upstream.voices)

    def _forget(self, upstream: Upstream, names: set[str]) -> None:
        """All models of an upstream but these."""
        for name, served in list(self._served.items()):
            engine = served.engine
            has = isinstance(engine, Fleet) and name not in names and upstream in engine.homes
            if has and not cast("Fleet", engine).leave(upstream):
                del self._served[name]

    def _join(self, voice: Voice) -> Served:
        """Serve a model of an upstream; one that others serve too is served by all of them."""
        known = self._served.get(voice.info.name)
        others = known is not None and isinstance(known.engine, Fleet) and known.engine.homes != [voice.home]
        if known is None or not isinstance(known.engine, Fleet) or not others:
            fleet = Fleet(voice)
            return self._add(fleet, voice.info, self._gate(fleet))
        if not known.engine.join(voice):
            _log.warning("%s of %s is left out: it is spoken to in another way", voice.info.name, voice.info.source)
        known.gate = self._gate(known.engine)
        return known

    def _gate(self, fleet: Fleet) -> Gate:
        """All models of an upstream share its places."""
        key = tuple(sorted(map(id, fleet.homes)))
        gate = self._gates.setdefault(key, Gate(fleet.places, self.queue))
        gate.places = fleet.places
        return gate

    @property
    def problem(self) -> EngineError:
        """Why it is not ready."""
        if self.failure is None and self._waited is not None:
            return self._waited
        if self.failure is None:
            return Unreachable("the model is loading", hint="try again in a moment")
        return Unreachable(f"the model could not be loaded: {self.failure}")

    async def stop(self) -> None:
        """Stop the engines."""
        self.ready = False
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)
        for engine in self.engines:
            await engine.stop()

    def __iter__(self) -> Iterator[Served]:
        return iter(self._served.values())

    def pick(self, model: str) -> Served:
        """The model of this name.  Where only one that writes is served, it answers to every name, unless `strict`.

        Raises:
            RequestError: there is none (404); the message lists those there are.
            EngineError: the engines are not ready (503).
        """
        if not self.ready:
            raise self.problem
        writers = [served for served in self if served.info.writes]
        return self._known(model) or self._only(writers or list(self)) or self.named(model)

    def embedder(self, model: str) -> Served:
        """The model of this name, which makes vectors.  Where only one does, it answers to every name, unless `strict`.

        Raises:
            RequestError: there is none (404), it makes none (400), or none does (501).
            EngineError: the engines are not ready (503).
        """
        if not self.ready:
            raise self.problem
        able = [served for served in self if embedder(served.engine)]
        known = [served for served in able if served.info.embeds]
        found = self._known(model) or self._only(known or able)
        if found in able:
            return found
        if not self.complete:
            raise self.problem
        raise _no_vectors(found, [served.name for served in known or able])

    def _only(self, candidates: Sequence[Served]) -> Served | None:
        """The only one there is, unless `strict`."""
        return candidates[0] if len(candidates) == 1 and not self.strict else None

    def named(self, model: str) -> Served:
        """The model of exactly this name."""
        if served := self._known(model):
            return served
        near = difflib.get_close_matches(model, self._served, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"offered: {', '.join(map(repr, self._served))}"
        raise RequestError(
            f"there is no model {model!r} here; {hint}", param="model", code="model_not_found", status=404
        )

    def _known(self, model: str) -> Served | None:
        """The model of a name or an alias; `:latest` is what Ollama's clients put behind a name without a tag."""
        names = (model, model.removesuffix(":latest"), f"{model}:latest")
        if found := next((self._served[name] for name in names if name in self._served), None):
            return found
        meant = self.aliases.get(model) or next(
            (self.aliases[alias] for alias in self.aliases if fnmatchcase(model, alias)), ""
        )
        return self._served.get(meant) or self._opened(meant or model)

    def _opened(self, model: str) -> Served | None:
        """A model that no upstream lists, but one of them takes by a pattern."""
        if not model:
            return None
        found = (engine.open_for(model) for engine in self.engines if isinstance(engine, Upstream))
        voice = next(filter(None, found), None)
        return self._welcome(self._join(voice)) if voice is not None else None

    def _welcome(self, guest: Served) -> Served:
        """Remember a model that a client named, and forget the one that was named first where they become too many."""
        self._guests[guest.name] = None
        if len(self._guests) > _GUESTS:
            self._served.pop(self._guests.popitem(last=False)[0], None)
        if len(self._labels) < _GUESTS:
            self._labels.add(guest.name)
        guest.label = guest.name if guest.name in self._labels else "other"
        return guest

    def _add(self, engine: Engine, info: ModelInfo, gate: Gate) -> Served:
        dialect, why = self._speaks(engine, info) if info.writes else (_SILENT, "it writes nothing")
        self._served[info.name] = served = Served(engine, info, dialect, gate=gate, why=why)
        _log.info("model %s: %s; dialect %s (%s)", info.name, told(info), dialect.name or "unknown", why)
        return served

    def _speaks(self, engine: Engine, info: ModelInfo) -> tuple[Dialect, str]:
        """The dialect of a model, and why it is that one."""
        if self._dialect is not None or info.dialect:
            return self._dialect or api.get(info.dialect), "as set"
        if found := _recognised(info):
            return found
        if name := _by_turns(info):
            return api.get(name), "its turns begin like this"
        if talks(engine):
            return _UNKNOWN, "the engine decodes by itself"
        raise UsageError(
            f"cannot tell which dialect {info.name!r} writes; name it with --dialect (`dragoman dialects` lists them)"
        )


def _recognised(info: ModelInfo) -> tuple[Dialect, str] | None:
    """The dialect of a template or a vocabulary; a template that nobody has seen is learnt."""
    best = next(iter(api.detections(info.template or info.hint or None, info.specials or None, model=info.name)), None)
    known = Metadata(info.name, info.template, info.specials, info.bos, info.eos)
    dialect, why = fitting(known, api.get(best[0]), best[1]) if best else fitting(known, None, "")
    return (dialect, why) if dialect else None


def told(info: ModelInfo) -> str:
    """What was found of a model, in a few words."""
    template = "a template" if info.template else "no template"
    context = f", {info.context} tokens of context" if info.context else ""
    source = f"{info.source}, " if info.source else ""
    return f"{source}{template}, {len(info.specials)} special tokens{context}"


def _no_vectors(found: Served | None, able: Sequence[str]) -> RequestError:
    """Why nothing is embedded."""
    if not able:
        problem = "no model here makes embeddings; --embedding-model serves one"
        return UnsupportedFeature(problem, code="no_embeddings", status=501)
    names = ", ".join(map(repr, able))
    if found is None:
        problem = f"there is no such model here; embeddings are made by {names}"
        return RequestError(problem, param="model", code="model_not_found", status=404)
    problem = f"the model {found.name!r} writes text and makes no embeddings; {names} does"
    return RequestError(problem, param="model", code="model_not_capable")


def _by_turns(info: ModelInfo) -> str:
    """A model that was never taught to call tools writes as those do whose turns begin like its own."""
    begins = ((name, api.get(name).begins.split("\n")[0]) for name in api.names())
    spelled = (info.template, *info.specials)
    return next((name for name, begin in begins if begin and any(_opens(begin, text) for text in spelled)), "")


def _opens(begin: str, text: str) -> bool:
    """Whether a template has this beginning of a turn, or a special token is its mark (`<|im_start|>` of ChatML)."""
    return begin in text or (len(text) > 1 and begin.startswith(text))
