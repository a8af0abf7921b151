"""An upstream's Chat Completions stream, read into events (see `upstream`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..events import Event
from . import sse, wire
from .quick import GAP, Quick
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
        self._quick = Quick()
        self._plain: tuple[str, str] | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Read on.  A chunk that differs from the last one in its text alone is not parsed."""
        events: list[Event] = []
        if not self._bytes.idle:  # the rest of a chunk that was cut; behind it they may be alike again
            head, gap, data = data.partition(GAP)
            events = super().feed(head + gap)
            if not self._bytes.idle:
                return [*events, *super().feed(data)]
        whole = data.rfind(GAP) + len(GAP) if GAP in data else 0
        if (texts := self._quick.texts(data[:whole])) is not None and not self.ended:
            events += self._blocks.more(self._quick.kind, texts)
        else:
            events += [event for chunk in data[:whole].split(GAP)[:-1] for event in self._chunk(chunk)]
        return [*events, *super().feed(data[whole:])] if whole < len(data) else events

    def _chunk(self, chunk: bytes) -> list[Event]:
        if self.ended:
            return []
        texts = self._quick.texts(chunk + GAP)
        return self._read_fully(chunk) if texts is None else self._blocks.more(self._quick.kind, texts)

    def _read_fully(self, chunk: bytes) -> list[Event]:
        self._plain = None
        events = super().feed(chunk + GAP)
        if self._plain is not None:
            self._quick.learn(chunk, *self._plain, self._text_of)
        return events

    def _text_of(self, chunk: bytes) -> tuple[str, str] | None:
        messages = sse.Reader().feed(chunk + GAP)
        try:
            data = wire.load(messages[0].data) if len(messages) == 1 else None
        except ValueError:
            return None
        return self._only_text(data) if isinstance(data, Mapping) else None

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        self._usage = counted(data.get("usage"), "prompt_tokens", "completion_tokens") or self._usage
        self._plain = self._only_text(data)
        events: list[Event] = []
        for choice in listed(data.get("choices")):
            if isinstance(choice, Mapping) and (choice.get("index") or 0) == self._choice:
                self._spoke = True
                events += self._read_choice(choice)
        return events

    def _only_text(self, data: Mapping[str, Any]) -> tuple[str, str] | None:
        """The kind and the text of a chunk that says nothing else."""
        choices = listed(data.get("choices"))
        if len(choices) != 1 or data.get("usage") or not data.keys() <= _KNOWN:
            return None
        choice = choices[0] if isinstance(choices[0], Mapping) else {}
        told = {key for key in choice if choice[key]}
        if told - {"index", "delta"} or (choice.get("index") or 0) != self._choice:
            return None
        delta = choice["delta"] if "delta" in told else {}
        texts = (
            [(key, text) for key, text in delta.items() if text and key != "role"] if isinstance(delta, Mapping) else []
        )
        if len(texts) != 1 or not isinstance(texts[0][1], str):
            return None
        kind = "content" if texts[0][0] == "content" else "reasoning" if texts[0][0] in _REASONING else ""
        return (kind, texts[0][1]) if kind else None

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
