"""An upstream's Messages stream, read into events (see `upstream`).

A block belongs to its index, else to the latest block.  Input that came as a whole counts if no pieces of it came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..events import Event, Usage
from . import wire
from .chat_error import read_error
from .upstream import Reading, count, inner, listed, string

__all__ = ["Reader"]

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "pause_turn": "stop",
    "stop": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filter",
}
_KNOWN = {
    "type",
    "index",
    "delta",
    "usage",
    "message",
    "id",
    "role",
    "model",
    "content",
    "stop_reason",
    "stop_sequence",
}


class _Block:
    """A block: its number, its kind, and the input that its start told."""

    def __init__(self, number: int, data: Mapping[str, Any]) -> None:
        self.number, self.kind = number, string(data.get("type"))
        self.given = data.get("input")
        self.came = False


class Reader(Reading):
    """Bytes of an upstream's stream in, events out."""

    def __init__(self, engine: str = "") -> None:
        super().__init__(engine)
        self._open: dict[Any, _Block] = {}
        self._latest: _Block | None = None
        self._made = 0
        self._counts: dict[str, int] = {}

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        name = string(data.get("type"))
        if name in _EVENTS:
            self._spoke = True
            return _EVENTS[name](self, data)
        return []  # pings

    def start(self, data: Mapping[str, Any]) -> list[Event]:
        self._count(inner(data, "message").get("usage"))
        return []

    def block(self, data: Mapping[str, Any]) -> list[Event]:
        told = inner(data, "content_block")
        block = _Block(self._made, told)
        self._made += 1
        self._open[data.get("index") if isinstance(data.get("index"), int) else None] = self._latest = block
        return self._begin(block, told)

    def _begin(self, block: _Block, told: Mapping[str, Any]) -> list[Event]:
        if block.kind.endswith("tool_use"):
            names = {"id": told.get("id"), "function": {"name": told.get("name"), "arguments": ""}}
            return self._blocks.call({"index": block.number, **names})
        text = string(told.get("thinking")) or string(told.get("text"))
        return self._text(block, text) if text else []

    def delta(self, data: Mapping[str, Any]) -> list[Event]:
        index = data.get("index") if isinstance(data.get("index"), int) else None
        block = self._open.get(index) or self._latest
        delta = inner(data, "delta")
        if block is None:
            block = self._latest = self._open[index] = _Block(self._made, {})
            self._made += 1
        if "partial_json" in delta:
            return self._arguments(block, string(delta["partial_json"]))
        block.kind = block.kind or ("thinking" if "thinking" in delta else "text")
        return self._text(block, string(delta.get("thinking")) or string(delta.get("text")))

    def _text(self, block: _Block, text: str) -> list[Event]:
        kind = "reasoning" if block.kind == "thinking" else "content"
        return self._blocks.text(kind, text, str(block.number))

    def _arguments(self, block: _Block, text: str) -> list[Event]:
        block.came = block.came or bool(text)
        return self._blocks.call({"index": block.number, "function": {"arguments": text}}) if text else []

    def stopped(self, data: Mapping[str, Any]) -> list[Event]:
        index = data.get("index") if isinstance(data.get("index"), int) else None
        block = self._open.pop(index, None)
        return [] if block is None else self._whole_input(block)

    def _whole_input(self, block: _Block) -> list[Event]:
        if block.came or not block.given or not block.kind.endswith("tool_use"):
            return []
        given = block.given
        return self._arguments(block, given if isinstance(given, str) else wire.dump(given).decode())

    def changed(self, data: Mapping[str, Any]) -> list[Event]:
        self._count(data.get("usage"))
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        return self._why(inner(data, "delta"))

    def _why(self, told: Mapping[str, Any]) -> list[Event]:
        reason = told.get("stop_reason")
        if not isinstance(reason, str) or not reason:
            return []
        self._stop = string(told.get("stop_sequence")) if reason == "stop_sequence" else ""
        return self._because(reason, _REASONS)

    def over_now(self, _: Mapping[str, Any]) -> list[Event]:
        return self._done()

    def message_whole(self, data: Mapping[str, Any]) -> list[Event]:
        """A whole answer."""
        events: list[Event] = []
        for index, told in enumerate(listed(data.get("content"))):
            if isinstance(told, Mapping):
                events += self.block({"index": index, "content_block": told})
                events += self.stopped({"index": index})
        self._count(data.get("usage"))
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        return [*events, *self._why(data)]

    def failed(self, data: Mapping[str, Any]) -> list[Event]:
        return self._fail(read_error(data, engine=self._engine))

    def _count(self, usage: Any) -> None:
        """The three kinds of input add up to the prompt; what a later event does not tell stays."""
        keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        told = {key: number for key in keys if (number := count(usage, key)) is not None}
        if not told:
            return
        self._counts |= told
        prompt = [self._counts[key] for key in keys[:3] if key in self._counts]
        thinking = count(usage.get("output_tokens_details"), "thinking_tokens")
        self._usage = Usage(
            sum(prompt) if prompt else None, self._counts.get("output_tokens"), thinking, self._counts.get(keys[1])
        )


_Take = Callable[[Reader, Mapping[str, Any]], list[Event]]
_EVENTS: Mapping[str, _Take] = {
    "message_start": Reader.start,
    "content_block_start": Reader.block,
    "content_block_delta": Reader.delta,
    "content_block_stop": Reader.stopped,
    "message_delta": Reader.changed,
    "message_stop": Reader.over_now,
    "message": Reader.message_whole,
    "error": Reader.failed,
}
