"""An upstream's Chat Completions stream, read into events (see `upstream`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..events import Event
from .upstream import Reading, TokenLogprob, counted, listed, string, token

__all__ = ["Reader", "TokenLogprob"]

_KNOWN = {"id", "object", "created", "model", "choices", "usage", "error", "system_fingerprint", "service_tier"}
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")
_REASONS = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
    "tool_calls": "stop",
    "function_call": "stop",
    "tool_use": "stop",
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "done": "stop",
    "complete": "stop",
}


class Reader(Reading):
    """Bytes of an upstream's stream in, events of one of its choices out."""

    def __init__(self, choice: int = 0, engine: str = "") -> None:
        super().__init__(engine)
        self._choice = choice

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        self._usage = counted(data.get("usage"), "prompt_tokens", "completion_tokens") or self._usage
        events: list[Event] = []
        for choice in listed(data.get("choices")):
            if isinstance(choice, Mapping) and (choice.get("index") or 0) == self._choice:
                self._spoke = True
                events += self._read_choice(choice)
        return events

    def _read_choice(self, choice: Mapping[str, Any]) -> list[Event]:
        delta = choice.get("delta") or choice.get("message")
        events: list[Event] = []
        if isinstance(delta, Mapping):
            events += [event for kind, text in _texts(delta) for event in self._blocks.text(kind, text)]
            events += [event for call in _calls(delta) for event in self._blocks.call(call)]
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, Mapping):
            self.logprobs += map(token, listed(logprobs.get("content")))
        stop = choice.get("stop_reason") or choice.get("matched_stop")
        self._stop = stop if isinstance(stop, str) else self._stop
        reason = choice.get("finish_reason")
        return [*events, *self._because(reason, _REASONS)] if isinstance(reason, str) and reason else events


def _texts(delta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a delta in the order of an answer; reasoning that comes under two names is taken once."""
    content = delta.get("content")
    parts = content if isinstance(content, list) else ()
    reasoning = next((text for key in _REASONING if (text := string(delta.get(key)))), "")
    yield "reasoning", reasoning or "".join(_thoughts(parts))
    yield "content", string(content) or "".join(string(part.get("text")) for part in parts if _is(part, "text"))
    yield "refusal", string(delta.get("refusal"))


def _thoughts(parts: Iterable[Any]) -> Iterator[str]:
    """Thinking as parts of the content, which one vendor sends."""
    for part in parts:
        if _is(part, "thinking"):
            thought = part.get("thinking")
            inner = thought if isinstance(thought, list) else ()
            yield string(thought) or "".join(string(item.get("text")) for item in inner if _is(item, "text"))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, Mapping) and part.get("type") == kind


def _calls(delta: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    calls = delta.get("tool_calls") or ()
    for call in [calls] if isinstance(calls, Mapping) else listed(calls):
        if isinstance(call, Mapping):
            yield call
    if isinstance(delta.get("function_call"), Mapping):
        yield {"index": 0, "function": delta["function_call"]}
