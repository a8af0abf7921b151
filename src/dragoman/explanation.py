"""Explanation: a case decoded piece by piece, with what became of every character and when it was known.

The same parser runs as in a live turn, on the same pieces, so what is explained is what happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .cases.case import Case, Moment
from .events import Event, Finish, Notice
from .generation import Generation
from .messages import Request, Turn
from .notices import NOTICES
from .pieces import End, Piece
from .syntax.decode import Parser, Policy, fold
from .syntax.dialect import Dialect

__all__ = ["Explanation", "Step", "Tile", "add_tile", "as_data", "explain"]


@dataclass(slots=True)
class Tile:
    """What a stretch of the raw text became: content, reasoning, arguments or markup."""

    start: int
    end: int
    role: str


@dataclass(slots=True)
class Step:
    """One piece: where it begins, the events that came of it, and up to where the text was understood behind it.

    The last step has no text: it is the end of the turn.
    """

    text: str
    special: bool
    at: int
    events: list[Event]
    known: int
    moment: Moment | None = None

    @property
    def held(self) -> int:
        """Characters that were read, and not yet given out."""
        return self.at + len(self.text) - self.known


@dataclass(slots=True)
class Explanation:
    """A whole turn, explained.  `tiles` cover the raw text without gap or overlap."""

    dialect: str
    raw: str
    steps: list[Step] = field(default_factory=list)
    tiles: list[Tile] = field(default_factory=list)

    @property
    def events(self) -> Iterator[Event]:
        """All events in order."""
        return (event for step in self.steps for event in step.events)

    @property
    def notices(self) -> list[Notice]:
        """Those among them."""
        return [event for event in self.events if type(event) is Notice]

    @property
    def turn(self) -> Turn:
        """The fold of the events."""
        return fold(self.events)

    def trace(self, start: int, end: int, role: str) -> None:
        """One more tile (see `add_tile`)."""
        add_tile(self.tiles, start, end, role)

    @property
    def known(self) -> int:
        """Up to where the text is understood."""
        return self.tiles[-1].end if self.tiles else 0


def add_tile(tiles: list[Tile], start: int, end: int, role: str) -> None:
    """One more tile behind the others; it grows the last one if that has the same role."""
    last = tiles[-1] if tiles else None
    if last and (last.end, last.role) == (start, role):
        last.end = end
    else:
        tiles.append(Tile(start, end, role))


def explain(case: Case, dialect: Dialect) -> Explanation:
    """Decode a case by a dialect (its own, or another)."""
    found = Explanation(dialect.name, case.raw)
    turn = _Turn(case, dialect, found)
    at = 0
    for text, special, moment in case.timed():
        events = list(turn.feed(text, special, moment.ids if moment else ()))
        found.steps.append(Step(text, special, at, events, found.known, moment))
        at += len(text)
    found.steps.append(Step("", special=False, at=at, events=list(turn.close(case.finish)), known=at))
    if found.known < at:  # the turn was ended by a stop string, or after its one call
        found.trace(found.known, at, "unread")
    return found


def as_data(case: Case, found: Explanation) -> dict[str, Any]:
    """An explanation as plain data, for JSON."""
    return {
        "dialect": found.dialect,
        "raw": found.raw,
        "tiles": [asdict(tile) for tile in found.tiles],
        "steps": [_plain_step(step) for step in found.steps],
        "notices": [{**asdict(one), "explained": NOTICES.get(one.code, ("", ""))} for one in found.notices],
        "finish": found.turn.finish,
        "facts": list(case.facts),
    }


def _plain_step(step: Step) -> dict[str, Any]:
    moment = {"seconds": step.moment.seconds, "ids": list(step.moment.ids)} if step.moment else {}
    return {
        "text": step.text, "special": step.special, "at": step.at, "held": step.held, **moment,
        "events": [_plain_event(event) for event in step.events],
    }  # fmt: skip


def _plain_event(event: Event) -> dict[str, Any]:
    error = {"error": str(event.error)} if isinstance(event, Finish) and event.error else {}
    return {"event": type(event).__name__, **asdict(event), **error}


class _Turn:
    """A parser, or a generation where the request asked for more than decoding."""

    def __init__(self, case: Case, dialect: Dialect, found: Explanation) -> None:
        policy = Policy(**case.policy)
        self._generation: Generation | None = None
        if case.stop or not case.parallel:
            request = Request(tools=tuple(case.tools or ()), stop=case.stop, parallel=case.parallel)
            self._generation = Generation(
                dialect, request, case.prompt, case.specials, policy=policy, trace=found.trace, ids=lambda: "call"
            )
        else:
            self._parser = Parser(
                dialect, case.tools, prompt=case.prompt, specials=case.specials, policy=policy, trace=found.trace
            )

    def feed(self, text: str, special: bool, ids: Sequence[int]) -> Iterable[Event]:
        if self._generation:
            return self._generation.feed(Piece(text, ids, special))
        return self._parser.feed(text, special)

    def close(self, finish: str) -> Iterable[Event]:
        if self._generation:
            return self._generation.close(End(finish))
        return self._parser.close(finish)
