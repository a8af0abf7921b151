"""Exchange: one request and its answer, as those see it who watch, log or cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Cancelled
from ..events import Finish, Usage
from ..messages import Request
from .caller import Caller
from .keys import Key
from .roster import Served

__all__ = ["Exchange"]


@dataclass(slots=True, eq=False)
class Exchange:
    """One request being answered.

    `id`: of the answer, as the client sees it.  `began`, `now`: by the event loop's clock, when it began and when the
    engine was last read.  `caller`: who asked.
    `first` and `seconds`: until the first piece, and until the end; None while they are not known.
    `usage` and `finishes`: per choice, once it has ended.  `failure`: why it failed, None if it did not.
    `left`: the client closed the connection.  `held`: it counts among what its key has running.
    `ending`: its end is being written; nothing from outside may break into that.
    `path`, `protocol`, `body`: where the request came, in whose words, and its JSON.
    `embeds`: vectors are asked for, no text.
    `task`: the work, once it has begun.
    """

    id: str
    served: Served
    request: Request
    streamed: bool
    began: float
    caller: Caller = field(default_factory=lambda: Caller(Key(), 0.0))
    first: float | None = None
    seconds: float | None = None
    usage: dict[int, Usage] = field(default_factory=dict)
    finishes: dict[int, Finish] = field(default_factory=dict)
    failure: Exception | None = None
    left: bool = False
    held: bool = False
    ending: bool = False
    task: asyncio.Task[None] | None = None
    now: float = 0.0
    path: str = ""
    protocol: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    embeds: bool = False

    @property
    def operation(self) -> str:
        """What is done, by OpenTelemetry's names."""
        if self.embeds:
            return "embeddings"
        return "text_completion" if self.request.prompts else "chat"

    def hold(self) -> None:
        """It counts among what its key has running."""
        if not self.held:
            self.held = True
            self.caller.key.running += 1

    def let_go(self) -> None:
        """It counts no more; this comes before the client hears of the end, because then it may ask again."""
        if self.held:
            self.held = False
            self.caller.key.running -= 1

    @property
    def outcome(self) -> str:
        """How it ended, in a word a choice."""
        if self.left or isinstance(self.failure, Cancelled):
            return "cancelled"
        if self.failure is not None:
            return "error"
        return ",".join(self.finishes[index].reason for index in sorted(self.finishes)) or "open"

    def fail(self, error: Exception) -> None:
        """End it from outside: the client gets this error, the engine is stopped.

        Work that has not begun is not cancelled, because a task that never ran cannot end its answer: it looks here first.
        """
        if self.failure is None and not self.ending and (self.task is None or not self.task.done()):
            self.failure = error
            if self.task is not None:
                self.task.cancel()
