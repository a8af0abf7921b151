"""Service: the life of a server: its engines are started and stopped, its open exchanges are known and brought to an end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from ..engines.base import Engine
from ..errors import EngineError, UsageError
from .config import Config
from .engine import build
from .exchange import Exchange
from .observe import Log, Observer, Observers
from .roster import Roster
from .serve import stopping
from .shelf import Shelf, build_store

__all__ = ["Service"]

_log = logging.getLogger(__name__)


class Service:
    """A server's life; `async with` it.

    Loading happens in the background, so that requests and health checks are answered (with 503) from the start.
    """

    def __init__(
        self, config: Config, engines: Sequence[Engine] | None = None, observers: Sequence[Observer] = ()
    ) -> None:
        self.config = config
        engines = [build(config)] if engines is None else engines
        self.roster = Roster(engines, dialect=config.dialect, strict=config.strict_model)
        self.observers = Observers((Log(), *observers))
        self.shelf = Shelf(build_store(config))
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

    @contextmanager
    def watching(self, exchange: Exchange) -> Iterator[None]:
        """It is open."""
        self.open.add(exchange)
        try:
            yield
        finally:
            self.open.discard(exchange)

    def drain(self) -> None:
        """Take no new requests, and end the open ones after the time that the settings give them."""
        if not self.draining:
            self.draining = True
            self._end = asyncio.get_running_loop().call_later(self.config.shutdown, self._give_up)

    def _give_up(self) -> None:
        for exchange in list(self.open):
            exchange.fail(stopping())

    async def _load(self) -> None:
        try:
            await self.roster.start()
        except (EngineError, UsageError) as error:
            _log.error("the model could not be loaded: %s", error)
        except Exception:  # noqa: BLE001 (it is told, and every request is refused with it)
            _log.exception("the model could not be loaded")
