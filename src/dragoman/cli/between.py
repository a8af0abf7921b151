"""Between: a server in front of another one that shows, as it streams, what its model writes and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ..events import Event
from ..explanation import Step, explain
from ..server.app import create_app
from ..server.config import Config
from ..server.exchange import Exchange
from ..server.observe import Observer
from ..server.prepare import Choice
from ..server.run import listen, run
from ..server.service import Service
from .case import named
from .paint import Painter, paint_event, paint_step

__all__ = ["stand_between"]


def stand_between(url: str, port: int, dialect: str, *, step: bool, pieces: bool) -> int:
    """Serve in front of `url` until Ctrl-C, and explain every turn."""
    config = Config(upstream=url, port=port, dialect=dialect, state="off", turn_log="all")
    console = Console(highlight=False)
    app = create_app(config, observers=[])
    service: Service = app.state.service
    service.observers.add(_Watch(console, service, step=step, pieces=pieces))
    listener = listen(config)
    host, number = listener.getsockname()[:2]

    def ready(_: Service) -> None:
        console.print(f"Send your client to http://{host}:{number}/v1 instead of {url}.  Ctrl-C ends it.", style="bold")

    run(app, config, listener, ready)
    return 0


class _Watch(Observer):
    """Prints what comes; behind the turn, the whole of it explained."""

    def __init__(self, console: Console, service: Service, *, step: bool, pieces: bool) -> None:
        self._console, self._service, self._step, self._pieces = console, service, step, pieces
        self._at: dict[tuple[Exchange, int], int] = {}

    def prepared(self, exchange: Exchange, choices: Sequence[Choice]) -> None:
        """As in `Observer`."""
        self._console.print(Text(f"\n{exchange.id}  {exchange.protocol}  {exchange.served.name}", style="bold"))

    def pieces(self, exchange: Exchange, index: int, batch: Sequence[Any]) -> None:
        """As in `Observer`."""
        for item in batch if self._step else ():
            if text := getattr(item, "text", ""):
                at = self._at.get((exchange, index), 0)
                self._at[exchange, index] = at + len(text)
                self._console.print(paint_step(Step(text, getattr(item, "special", False), at, [], at + len(text))))

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """As in `Observer`."""
        for event in events if self._step else ():
            self._console.print(paint_event(event), soft_wrap=True)

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        records = [one for one in self._service.log or () if one.id.startswith(exchange.id)]
        for record in reversed(records):
            case = record.case()
            Painter(self._console, case, explain(case, named(case.dialect))).whole(pieces=self._pieces)
        for key in [key for key in self._at if key[0] is exchange]:
            del self._at[key]
        if exchange.failure is not None:
            self._console.print(Text(f"failed: {exchange.failure}", style="red"))
