"""Service: the life of a server: its engines are started and stopped, its open exchanges are known and brought to an end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

from starlette.types import Scope

from ..engines.base import Engine
from ..errors import EngineError, UsageError
from .caller import Caller
from .config import Config
from .deadlines import for_model
from .engine import build
from .exchange import Exchange
from .gauge import Gauge
from .keys import Key, Keys
from .metrics import Metrics
from .observe import Log, Observer, Observers
from .record import Recorder, build_log
from .roster import Roster, Served
from .serve import stopping
from .shelf import Shelf, build_store
from .spans import spans
from .withdrawn import Withdrawn, end

__all__ = ["Service"]

_log = logging.getLogger(__name__)
_MODELS = 1000  # whose settings are remembered
_key: ContextVar[Key] = ContextVar("key", default=Key())  # noqa: B039 (it has no limits to use up)


class Service:
    """A server's life; `async with` it.

    Loading happens in the background, so that requests and health checks are answered (with 503) from the start.
    """

    def __init__(
        self, config: Config, engines: Sequence[Engine] | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        self.config = config
        engines = build(config) if engines is None else engines
        self.roster = Roster(
            engines, dialect=config.dialect, strict=config.strict_model, queue=config.queue, aliases=config.file.aliases
        )
        self.log = build_log(config)
        recorders = [Recorder(self.log)] if self.log is not None else []
        self.gauge, self.metrics = Gauge(), Metrics()
        self.metrics.watch(self)
        log = Log(json=config.log_format == "json")
        self.observers = Observers((log, self.gauge, self.metrics, *spans(), *recorders, *observers))
        self.shelf = Shelf(build_store(config))
        self.keys = Keys.read(config.keys, config.api_key)
        self.withdrawn = Withdrawn()
        self._settings: dict[str, Config] = {}
        self.open: set[Exchange] = set()
        self.draining = False
        self.loading: asyncio.Task[None] | None = None
        self._end: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        self.loading = asyncio.create_task(self._load())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.drain()
        await self.shelf.finish()
        if self._end:
            self._end.cancel()
        self._give_up()
        if self.loading:
            self.loading.cancel()
            await asyncio.gather(self.loading, return_exceptions=True)
        await self.roster.stop()
        self.shelf.close()
        if self.log is not None:
            self.log.close()

    @contextmanager
    def watching(self, exchange: Exchange) -> Iterator[None]:
        """It is open."""
        self.open.add(exchange)
        exchange.hold()
        try:
            yield
        finally:
            exchange.let_go()
            self.open.discard(exchange)

    def settings(self, exchange: Exchange) -> Config:
        """The settings for one exchange: some models have deadlines of their own."""
        model = exchange.served.name
        if model not in self._settings:
            if len(self._settings) >= _MODELS:
                self._settings.clear()
            self._settings[model] = for_model(self.config, model)
        return self._settings[model]

    def admit(self, scope: Scope, began: float) -> Caller:
        """Who asks for an answer.

        Raises:
            RequestError: the key is missing or wrong (401), or has used up what it may (429).
        """
        key = self.authorize(scope)
        key.take(began)
        return Caller.of(scope, key, began)

    def authorize(self, scope: Scope) -> Key:
        """The key of a request; what it may use is what this request may use.

        Raises:
            RequestError: it is missing or wrong (401).
        """
        key = self.keys.find(scope)
        _key.set(key)
        return key

    @property
    def asking(self) -> str:
        """The name of this request's key, "" on a server without keys."""
        return _key.get().name

    def pick(self, model: str) -> Served:
        """The model of a name, if this request's key may use it; see `Roster.pick`."""
        served = self.roster.pick(model)
        _key.get().check_model(served.name)
        return served

    def writer(self, model: str) -> Served:
        """The model of a name, which must write text; see `Roster.pick`."""
        served = self.pick(model)
        served.check_writes()
        return served

    def embedder(self, model: str) -> Served:
        """The model of a name, which makes vectors, if this request's key may use it; see `Roster.embedder`."""
        served = self.roster.embedder(model)
        _key.get().check_model(served.name)
        return served

    def named(self, model: str) -> Served:
        """The model of exactly this name, as far as this request's key may know of it."""
        self._check_ready()
        served = self.roster.named(model)
        _key.get().check_model(served.name)
        return served

    def offered(self) -> list[Served]:
        """The models that this request's key may use; those that write come first, as many clients take the first one.

        Raises:
            EngineError: the engines are not ready (503).
        """
        self._check_ready()
        key = _key.get()
        known = [served for served in self.roster if key.may_use(served.name)]
        return sorted(known, key=lambda served: not served.info.writes)

    def cancel(self, asked: str) -> list[str]:
        """End the requests of this id that run, or remember it for one that comes; the ids of the ended answers."""
        return self.withdrawn.cancel(asked, _key.get(), asyncio.get_running_loop().time(), self.open)

    def end(self, asked: str) -> bool:
        """End the requests of this id that run; whether there were any."""
        return bool(end(asked, _key.get(), self.open))

    def drain(self) -> None:
        """Take no new requests, and end the open ones after the time that the settings give them."""
        if not self.draining:
            self.draining = True
            self._end = asyncio.get_running_loop().call_later(self.config.shutdown, self._give_up)

    def _give_up(self) -> None:
        for exchange in list(self.open):
            exchange.fail(stopping())

    def _check_ready(self) -> None:
        if not self.roster.ready:
            raise self.roster.problem

    async def _load(self) -> None:
        try:
            await self.roster.start()
        except (EngineError, UsageError) as error:
            _log.error("the model could not be loaded: %s", error)
        except Exception:  # noqa: BLE001 (it is told, and every request is refused with it)
            _log.exception("the model could not be loaded")
