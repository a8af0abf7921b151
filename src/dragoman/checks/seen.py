"""What was seen in a Chat Completions stream, in a form that rules can ask: chunks, choices, deltas, calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .frames import Frame

__all__ = ["CallSeen", "ChoiceSeen", "StreamSeen", "delta_of", "items_of", "mapping", "mappings", "number", "text"]


def text(value: Any) -> str:
    """A string, "" for all else."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> int:
    """An integer, 0 for all else."""
    return value if isinstance(value, int) else 0


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, {} for all else."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of an array, [] for all else."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


@dataclass(slots=True)
class CallSeen:
    """A call as a client would put it together."""

    frame: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ChoiceSeen:
    """One choice: its frames, and what they add up to."""

    index: int
    chunks: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    calls: dict[int, CallSeen] = field(default_factory=dict)
    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish: str = ""

    def add(self, frame: int, choice: Mapping[str, Any]) -> None:
        """One more chunk."""
        self.chunks.append((frame, choice))
        self.finish = self.finish or text(choice.get("finish_reason"))
        delta = delta_of(choice)
        self.content += text(delta.get("content"))
        self.reasoning += text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
        self.refusal += text(delta.get("refusal"))
        for item in items_of(delta):
            self._call(frame, item)

    def _call(self, frame: int, item: Mapping[str, Any]) -> None:
        index = item.get("index")
        key = index if isinstance(index, int) else len(self.calls)
        call = self.calls.setdefault(key, CallSeen(frame))
        function = mapping(item.get("function"))
        call.id += text(item.get("id"))
        call.name += text(function.get("name"))
        call.arguments += text(function.get("arguments"))

    @property
    def deltas(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The deltas with the numbers of their frames."""
        return ((frame, delta_of(choice)) for frame, choice in self.chunks)

    @property
    def items(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The deltas of calls with the numbers of their frames."""
        return ((frame, item) for frame, delta in self.deltas for item in items_of(delta))


def delta_of(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The delta of a choice, {} if it has none."""
    return mapping(choice.get("delta"))


def items_of(delta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The deltas of calls in a delta."""
    return mappings(delta.get("tool_calls"))


class StreamSeen:
    """A whole stream."""

    def __init__(self, frames: Sequence[Frame], request: Mapping[str, Any], marks: Sequence[str]) -> None:
        self.frames, self.request, self.marks = frames, request, marks
        self.errors = [(f.number, f.json) for f in frames if isinstance(f.json, dict) and "error" in f.json]
        self.chunks = [(f.number, f.json) for f in frames if isinstance(f.json, dict) and "error" not in f.json]
        self.done = [frame.number for frame in frames if frame.is_done]
        self.choices: dict[int, ChoiceSeen] = {}
        for frame, chunk in self.chunks:
            for choice in mappings(chunk.get("choices")):
                index = number(choice.get("index"))
                self.choices.setdefault(index, ChoiceSeen(index)).add(frame, choice)

    @property
    def wants_usage(self) -> bool:
        """The request asked for a usage chunk."""
        return bool(mapping(self.request.get("stream_options")).get("include_usage"))
