"""Fold: the events of a turn as one value.  A whole answer is nothing but this."""

from __future__ import annotations

from collections.abc import Iterable

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Call, Text, Turn
from ..messages import Reasoning as Thought

__all__ = ["fold"]


def fold(events: Iterable[Event]) -> Turn:
    """The turn that these events tell; pieces of one part are joined."""
    parts: list[Thought | Text | Call] = []
    pieces: list[str] = []
    turn, last = Turn(), -1
    notices: list[Notice] = []

    def settle() -> None:
        if pieces and parts:
            part = parts[-1]
            if isinstance(part, Call):
                part.arguments = "".join(pieces)
            else:
                part.text = "".join(pieces)
            pieces.clear()

    for event in events:
        match event:
            case Content(text, _, part, phase):
                if part != last or not parts or not isinstance(parts[-1], Text):
                    settle()
                    parts.append(Text("", phase))
                    last = part
                pieces.append(text)
            case Reasoning(text, _, part):
                if part != last or not parts or not isinstance(parts[-1], Thought):
                    settle()
                    parts.append(Thought(""))
                    last = part
                pieces.append(text)
            case CallStart(_, id, name, part):
                settle()
                parts.append(Call(name, "", id, complete=False, valid=False))
                last = part
            case CallArgs(_, json):
                pieces.append(json)
            case CallEnd(_, complete, valid, missing):
                settle()
                _end(parts[-1], complete, valid, missing)
            case Notice():
                notices.append(event)
            case Usage():
                turn.usage = event
            case Finish(reason, stop, error):
                turn.finish, turn.stop, turn.error = reason, stop, error
    settle()
    turn.parts, turn.notices = tuple(parts), tuple(notices)
    return turn


def _end(part: Thought | Text | Call, complete: bool, valid: bool, missing: str) -> None:
    if isinstance(part, Call):
        part.complete, part.valid, part.missing = complete, valid, missing
