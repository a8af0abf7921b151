"""The items of a Responses output, while they are written.

Every kind has the same methods: what opens it, the frame of a delta, what closes it, and the item as it stands.
Openings and closings are pairs of an event's name and its members; the stream numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from . import wire
from .chat_shape import Token, logprobs_shape
from .free_text import FreeText
from .seal import seal

__all__ = ["CustomCall", "FunctionCall", "Item", "Message", "Thought", "delta_head"]

Pairs = Iterator[tuple[str, dict[str, Any]]]


class Item(Protocol):
    """An item that is open."""

    head: bytes

    def opening(self) -> Pairs:
        """The events before its first delta."""

    def closing(self, status: str) -> Pairs:
        """The events after its last delta."""

    def item(self, status: str) -> dict[str, Any]:
        """The item as it stands."""


def delta_head(name: str, members: dict[str, Any]) -> bytes:
    """The frame of a delta up to its sequence number; text and end follow."""
    return b'event: %b\ndata: {"type":"%b",%b,"sequence_number":' % (
        name.encode(),
        name.encode(),
        wire.dump(members)[1:-1],
    )


def _joined(pieces: Sequence[str]) -> str:
    """Deltas as the text that a client has: halves of characters were replaced in each, so they are here."""
    return wire.clean("".join(pieces))


class Message:
    """Text or a refusal; it has one part."""

    def __init__(self, item_id: str, index: int, part: int, phase: str) -> None:
        self.part, self.refusal = part, phase == "refusal"
        self.pieces: list[str] = []
        self.logprobs: list[dict[str, Any]] = []
        self._phase = {"commentary": "commentary", "final": "final_answer"}.get(phase)
        self._id, self._at = item_id, {"item_id": item_id, "output_index": index, "content_index": 0}
        self._name = "response.refusal" if self.refusal else "response.output_text"
        more: dict[str, Any] = {} if self.refusal else {"logprobs": []}
        self.head = delta_head(f"{self._name}.delta", {**self._at, **more})

    def opening(self) -> Pairs:
        yield "response.output_item.added", {"item": self._item("in_progress", [])}
        yield "response.content_part.added", {**self._at, "part": self._shape("", [])}

    def delta(self, text: str, tokens: Iterable[Token]) -> tuple[str, dict[str, Any]]:
        """A delta with log probabilities."""
        shown = logprobs_shape(tokens)["content"]
        self.logprobs += shown
        self.pieces.append(text)
        return f"{self._name}.delta", {**self._at, "delta": text, "logprobs": shown}

    def closing(self, status: str) -> Pairs:
        text = _joined(self.pieces)
        members = {"refusal": text} if self.refusal else {"text": text, "logprobs": self.logprobs}
        yield f"{self._name}.done", {**self._at, **members}
        yield "response.content_part.done", {**self._at, "part": self._shape(text, self.logprobs)}
        yield "response.output_item.done", {"item": self.item(status)}

    def item(self, status: str) -> dict[str, Any]:
        return self._item(status, [self._shape(_joined(self.pieces), self.logprobs)])

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        phase = {"phase": self._phase} if self._phase else {}
        return {"id": self._id, "type": "message", "status": status, "role": "assistant", **phase, "content": content}

    def _shape(self, text: str, logprobs: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if self.refusal:
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


class Thought:
    """Reasoning: its text, and the same as a summary where one is wanted.

    `shown`: its text is shown.  `name`: what its events begin with.
    """

    def __init__(
        self, item_id: str, index: int, part: int, *, shown: bool, summary: bool, sealed: bool, name: str
    ) -> None:
        self.part, self.summary, self._shown, self._sealed = part, summary, shown, sealed
        self.pieces: list[str] = []
        self._id = item_id
        self._name = name
        place = {"item_id": item_id, "output_index": index}
        self._at, self._summary_at = {**place, "content_index": 0}, {**place, "summary_index": 0}
        self.head = delta_head(f"{name}.delta", self._at) if shown else b""
        self.summary_head = delta_head("response.reasoning_summary_text.delta", self._summary_at) if summary else b""

    def opening(self) -> Pairs:
        empty = {"id": self._id, "type": "reasoning", "status": "in_progress", "summary": [], "content": []}
        yield "response.output_item.added", {"item": {**empty, "encrypted_content": None}}
        if self._shown:
            yield "response.content_part.added", {**self._at, "part": _reasoning("")}
        if self.summary:
            yield "response.reasoning_summary_part.added", {**self._summary_at, "part": _summary("")}

    def closing(self, status: str) -> Pairs:
        text = _joined(self.pieces)
        if self._shown:
            yield f"{self._name}.done", {**self._at, "text": text}
            yield "response.content_part.done", {**self._at, "part": _reasoning(text)}
        if self.summary:
            yield "response.reasoning_summary_text.done", {**self._summary_at, "text": text}
            yield "response.reasoning_summary_part.done", {**self._summary_at, "part": _summary(text)}
        yield "response.output_item.done", {"item": self.item(status)}

    def item(self, status: str) -> dict[str, Any]:
        text = _joined(self.pieces)
        return {
            "id": self._id,
            "type": "reasoning",
            "status": status,
            "summary": [_summary(text)] if self.summary else [],
            "content": [_reasoning(text)] if self._shown else [],
            "encrypted_content": seal(text) if self._sealed else None,
        }


def _reasoning(text: str) -> dict[str, str]:
    return {"type": "reasoning_text", "text": text}


def _summary(text: str) -> dict[str, str]:
    return {"type": "summary_text", "text": text}


class _Call:
    """A call of a tool: its arguments are one text."""

    def __init__(self, kind: str, key: str, item_id: str, index: int, call_id: str, space: str, name: str) -> None:
        self.pieces: list[str] = []
        self._kind, self._key = kind, key
        self._id, self._call_id, self._at = item_id, call_id, {"item_id": item_id, "output_index": index}
        self._named = {"name": name, **({"namespace": space} if space else {})}
        self._event = f"response.{kind}_{key}"
        self.head = delta_head(f"{self._event}.delta", self._at)

    def opening(self) -> Pairs:
        yield "response.output_item.added", {"item": self._item("in_progress", "")}

    def closing(self, status: str) -> Pairs:
        yield f"{self._event}.done", {**self._at, self._key: _joined(self.pieces), "name": self._named["name"]}
        yield "response.output_item.done", {"item": self.item(status)}

    def item(self, status: str) -> dict[str, Any]:
        return self._item(status, _joined(self.pieces))

    def _item(self, status: str, text: str) -> dict[str, Any]:
        names = {"id": self._id, "type": self._kind, "status": status, "call_id": self._call_id}
        return {**names, **self._named, self._key: text}


class FunctionCall(_Call):
    """A call of a function: its arguments are JSON, as they are written."""

    def __init__(self, item_id: str, index: int, call_id: str, space: str, name: str) -> None:
        super().__init__("function_call", "arguments", item_id, index, call_id, space, name)

    def take(self, text: str) -> str:
        """A piece of JSON as a delta."""
        self.pieces.append(text)
        return text

    def rest(self) -> str:
        """The last delta of a whole call; no arguments at all are an empty object."""
        return "" if any(self.pieces) else self.take("{}")


class CustomCall(_Call):
    """A call of a tool that takes free text."""

    def __init__(self, item_id: str, index: int, call_id: str, space: str, name: str) -> None:
        super().__init__("custom_tool_call", "input", item_id, index, call_id, space, name)
        self._free = FreeText()

    def take(self, text: str) -> str:
        """A piece of JSON as a delta."""
        piece = self._free.feed(text)
        self.pieces.append(piece)
        return piece

    def rest(self) -> str:
        """The last delta."""
        piece = self._free.close()
        self.pieces.append(piece)
        return piece
