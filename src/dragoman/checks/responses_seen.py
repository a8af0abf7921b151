"""What was seen in a Responses stream, in a form that rules can ask: events, items, and the response at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .frames import Frame
from .seen import mapping, mappings, text

__all__ = ["EventSeen", "ItemSeen", "ResponseSeen"]

TERMINAL = ("response.completed", "response.incomplete", "response.failed")
LIFE = ("response.created", "response.queued", "response.in_progress", *TERMINAL)


@dataclass(slots=True)
class EventSeen:
    """One event: its frame, the name on its `event:` line, its type and its members."""

    frame: int
    name: str
    type: str
    data: Mapping[str, Any]


@dataclass(slots=True)
class ItemSeen:
    """One output item: how it was added, how it was done, and the events between."""

    index: Any
    added: EventSeen | None = None
    done: EventSeen | None = None
    events: list[EventSeen] = field(default_factory=list)

    @property
    def first(self) -> Mapping[str, Any]:
        """The item as it was added, {} if it never was."""
        return mapping(self.added.data.get("item")) if self.added else {}

    @property
    def last(self) -> Mapping[str, Any]:
        """The item as it was done, {} if it never was."""
        return mapping(self.done.data.get("item")) if self.done else {}

    @property
    def frame(self) -> int:
        """Where it begins."""
        return next(event.frame for event in (self.added, *self.events, self.done) if event is not None)

    def of(self, ending: str) -> list[EventSeen]:
        """The events whose type ends so."""
        return [event for event in self.events if event.type.endswith(ending)]

    def joined(self, ending: str) -> str:
        """The deltas whose type ends so, joined."""
        return "".join(text(event.data.get("delta")) for event in self.of(ending))


class ResponseSeen:
    """A whole stream."""

    def __init__(self, frames: Sequence[Frame], request: Mapping[str, Any], marks: Sequence[str]) -> None:
        self.frames, self.request, self.marks = frames, request, marks
        self.done = [frame.number for frame in frames if frame.is_done]
        self.events = [_event(frame) for frame in frames if isinstance(frame.json, dict)]
        self.items: dict[Any, ItemSeen] = {}
        for event in self.events:
            self._place(event)

    @property
    def life(self) -> Iterator[EventSeen]:
        """The events that carry the response."""
        return (event for event in self.events if event.type in LIFE)

    @property
    def terminal(self) -> list[EventSeen]:
        """The events that end it; there should be one."""
        return [event for event in self.events if event.type in TERMINAL]

    @property
    def final(self) -> Mapping[str, Any]:
        """The response at its end, {} if there is none."""
        return mapping(self.terminal[0].data.get("response")) if self.terminal else {}

    @property
    def output(self) -> list[Mapping[str, Any]]:
        """The output at the end."""
        return mappings(self.final.get("output"))

    def _place(self, event: EventSeen) -> None:
        if "output_index" not in event.data and not event.type.startswith("response.output_item"):
            return
        index = event.data.get("output_index")
        index = index if isinstance(index, int) else None
        item = self.items.setdefault(index, ItemSeen(index))
        if event.type == "response.output_item.added":
            item.added = item.added or event
        elif event.type == "response.output_item.done":
            item.done = item.done or event
        else:
            item.events.append(event)


def _event(frame: Frame) -> EventSeen:
    return EventSeen(frame.number, dict(frame.fields).get("event", ""), text(frame.json.get("type")), frame.json)
