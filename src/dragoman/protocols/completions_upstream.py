"""An upstream's Completions stream, read into events (see `upstream`): text, and the ids of its tokens where they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..events import Content, Event
from .upstream import Reading, TokenLogprob, counted, inner, listed, string

__all__ = ["Reader"]

_KNOWN = {"id", "object", "created", "model", "choices", "usage", "error", "system_fingerprint", "kv_transfer_params"}
_REASONS = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
}


class Reader(Reading):
    """Bytes of an upstream's stream in, events of one of its choices out.

    `tokens`: of each `Content` that came, the ids and the log probabilities, as far as they are told.
    """

    def __init__(self, choice: int = 0, engine: str = "") -> None:
        super().__init__(engine)
        self._choice = choice
        self.tokens: list[tuple[Sequence[int], Sequence[TokenLogprob]]] = []

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
        events: list[Event] = []
        if text := string(choice.get("text")):
            events.append(Content(text))
            ids = [token for token in listed(choice.get("token_ids")) if isinstance(token, int)]
            self.tokens.append((ids, _logprobs(inner(choice, "logprobs"))))
        stop = choice.get("stop_reason") or choice.get("matched_stop")
        self._stop = stop if isinstance(stop, str) else self._stop
        reason = choice.get("finish_reason")
        return [*events, *self._because(reason, _REASONS)] if isinstance(reason, str) and reason else events


def _logprobs(lists: Mapping[str, Any]) -> list[TokenLogprob]:
    """Log probabilities in their older form: lists side by side."""
    values, beside = listed(lists.get("token_logprobs")), listed(lists.get("top_logprobs"))
    found = []
    for place, text in enumerate(listed(lists.get("tokens"))):
        top = beside[place] if place < len(beside) and isinstance(beside[place], Mapping) else {}
        others = tuple(_token(name, value) for name, value in top.items())
        found.append(_token(text, values[place] if place < len(values) else None, others))
    return found


def _token(text: Any, logprob: Any, top: tuple[TokenLogprob, ...] = ()) -> TokenLogprob:
    value = float(logprob) if isinstance(logprob, int | float) else 0.0
    return TokenLogprob(string(text), value, tuple(string(text).encode("utf-8", "replace")), top)
