"""An upstream's Ollama stream (/api/chat or /api/generate), read into events (see `upstream`): one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import Event, Usage
from . import sse
from .upstream import Reading, count, inner, listed, string, token

__all__ = ["Lines", "Reader"]

_REASONS = {"stop": "stop", "length": "length", "load": "stop", "unload": "stop", "tool_calls": "stop"}
_KNOWN = {
    "model",
    "created_at",
    "message",
    "response",
    "thinking",
    "done",
    "done_reason",
    "context",
    "logprobs",
    "prompt_eval_count",
    "eval_count",
    "error",
}


class Reader(Reading):
    """Bytes of an upstream's stream in, events out."""

    def __init__(self, engine: str = "") -> None:
        super().__init__(engine)
        self._bytes = Lines()
        self._calls = 0

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        self._spoke = True
        message = inner(data, "message")
        self.logprobs += map(token, listed(data.get("logprobs")))
        events = self._blocks.text("reasoning", string(message.get("thinking")) or string(data.get("thinking")))
        events += self._blocks.text("content", string(message.get("content")) or string(data.get("response")))
        for call in listed(message.get("tool_calls")):
            if isinstance(call, Mapping):
                events += self._call(call)
        return [*events, *self._last(data)] if data.get("done") is True else events

    def _call(self, call: Mapping[str, Any]) -> list[Event]:
        """Calls are whole, so each is a new one whatever its index says."""
        self._calls += 1
        function = dict(inner(call, "function"))
        given = function.get("arguments")
        if isinstance(given, Mapping) and set(given) == {"_raw"} and isinstance(given["_raw"], str):
            function["arguments"] = given["_raw"]  # arguments that are no object, as our own server tells them
        events = self._blocks.call({"index": self._calls, "id": call.get("id"), "function": function})
        self._blocks.told(self._calls, whole=True)
        return events

    def _last(self, data: Mapping[str, Any]) -> list[Event]:
        prompt, completion = count(data, "prompt_eval_count"), count(data, "eval_count")
        if prompt is not None or completion is not None:
            self._usage = Usage(prompt, completion)
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        failed = self._because(string(data.get("done_reason")) or "stop", _REASONS)
        return failed or self._end()


class Lines:
    """Bytes in, lines out, as messages.  A line longer than `limit` bytes raises `Broken`."""

    def __init__(self, limit: int = sse.LIMIT) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[sse.Message]:
        """Read on, and give the lines that are now whole."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest.clear()
            self._size = 0
        self._rest.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            raise sse.too_long(self._limit)
        return [sse.Message(line.decode(errors="replace")) for line in lines]

    def close(self) -> list[sse.Message]:
        """The stream has ended: give the line that its end cut off, if any."""
        line, self._rest = b"".join(self._rest), []
        return [sse.Message(line.decode(errors="replace"))]
