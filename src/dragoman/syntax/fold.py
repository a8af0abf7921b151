"""Fold: the events of a turn as one value.  A whole answer is nothing but this."""

from __future__ import annotations

from collections.abc import Iterable

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Call, Text, Turn
from ..messages import Reasoning as Thought

__all__ = ["fold"]


def fold(events: Iterable[Event]) -> Turn:
    """The turn that these events tell; pieces of one part are joined."""
    one = _Fold()
    for event in events:
        getattr(one, type(event).__name__.lower())(event)
    return one.close()


class _Fold:
    """The turn so far; `pieces` are those of its last part.  One method for each kind of event."""

    def __init__(self) -> None:
        self.turn = Turn()
        self.parts: list[Thought | Text | Call] = []
        self.notices: list[Notice] = []
        self.pieces: list[str] = []
        self.number = -1

    def open(self, part: Thought | Text | Call, number: int) -> None:
        self.settle()
        self.parts.append(part)
        self.number = number

    def settle(self) -> None:
        """The last part is whole."""
        if self.pieces:
            part, text = self.parts[-1], "".join(self.pieces)
            if isinstance(part, Call):
                part.arguments = text
            else:
                part.text = text
            self.pieces.clear()

    def goes_on(self, kind: type, number: int) -> bool:
        return number == self.number and bool(self.parts) and isinstance(self.parts[-1], kind)

    def content(self, event: Content) -> None:
        if not self.goes_on(Text, event.part):
            self.open(Text("", event.phase), event.part)
        self.pieces.append(event.text)

    def reasoning(self, event: Reasoning) -> None:
        if not self.goes_on(Thought, event.part):
            self.open(Thought(""), event.part)
        self.pieces.append(event.text)

    def callstart(self, event: CallStart) -> None:
        self.open(Call(event.name, "", event.id, complete=False, valid=False), event.part)

    def callargs(self, event: CallArgs) -> None:
        self.pieces.append(event.json)

    def callend(self, event: CallEnd) -> None:
        self.settle()
        call = self.parts[-1]
        if isinstance(call, Call):
            call.complete, call.valid, call.missing = event.complete, event.valid, event.missing

    def notice(self, event: Notice) -> None:
        self.notices.append(event)

    def usage(self, event: Usage) -> None:
        self.turn.usage = event

    def finish(self, event: Finish) -> None:
        self.turn.finish, self.turn.stop, self.turn.error = event.reason, event.stop, event.error

    def close(self) -> Turn:
        self.settle()
        self.turn.parts, self.turn.notices = tuple(self.parts), tuple(self.notices)
        return self.turn
