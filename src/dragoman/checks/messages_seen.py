"""What was seen in a Messages stream, in a form that rules can ask: events, and blocks as a client would put them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .frames import Frame
from .seen import mapping, mappings, text

__all__ = ["DELTAS", "BlockSeen", "MessageSeen", "used_ids"]

# The deltas that a block takes, and where each has its text.
DELTAS: Mapping[str, Mapping[str, str]] = {
    "text": {"text_delta": "text"},
    "thinking": {"thinking_delta": "thinking", "signature_delta": "signature"},
    "tool_use": {"input_json_delta": "partial_json"},
}

Event = tuple[int, Mapping[str, Any]]


@dataclass(slots=True)
class BlockSeen:
    """One block: where it began, its index, and what its deltas add up to by their types."""

    frame: int
    index: Any
    start: Mapping[str, Any]
    deltas: list[Event] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    stops: list[int] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Text, thinking or tool_use."""
        return text(self.start.get("type"))

    def add(self, frame: int, delta: Mapping[str, Any]) -> None:
        """One more delta."""
        self.deltas.append((frame, delta))
        kind = text(delta.get("type"))
        key = DELTAS.get(self.kind, {}).get(kind, "")
        self.texts[kind] = self.texts.get(kind, "") + text(delta.get(key))


class MessageSeen:
    """A whole stream."""

    def __init__(self, frames: Sequence[Frame], request: Mapping[str, Any], marks: Sequence[str]) -> None:
        self.frames, self.request, self.marks = frames, request, marks
        self.events: list[Event] = [(f.number, f.json) for f in frames if isinstance(f.json, dict)]
        self.strays: list[Event] = []
        self.blocks: list[BlockSeen] = []
        for frame, event in self.events:
            self._add(frame, event)

    def of(self, kind: str) -> list[Event]:
        """The events of a type."""
        return [(frame, event) for frame, event in self.events if event.get("type") == kind]

    @property
    def failed(self) -> bool:
        """It ended with an error."""
        return bool(self.of("error"))

    @property
    def stop_reason(self) -> str:
        """Why it ended, "" if it did not say."""
        return next((text(mapping(event.get("delta")).get("stop_reason")) for _, event in self.of("message_delta")), "")

    def _add(self, frame: int, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "content_block_start":
            self.blocks.append(BlockSeen(frame, event.get("index"), mapping(event.get("content_block"))))
        elif kind in ("content_block_delta", "content_block_stop"):
            block = self._block(event.get("index"))
            if block is None:
                self.strays.append((frame, event))
            elif kind == "content_block_stop":
                block.stops.append(frame)
            else:
                block.add(frame, mapping(event.get("delta")))

    def _block(self, index: Any) -> BlockSeen | None:
        return next((block for block in reversed(self.blocks) if block.index == index), None)


def used_ids(request: Mapping[str, Any]) -> set[str]:
    """The ids of the calls that a request tells of."""
    blocks = (block for message in mappings(request.get("messages")) for block in mappings(message.get("content")))
    return {text(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
