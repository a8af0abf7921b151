"""An upstream's Chat Completions stream, read into events.

Nothing of it is passed through: what is wrong with it (see `chat_blocks`) is put right or becomes an error.
A stream that breaks off ends with a `Finish` that carries the error; it never looks like an answer.
One that was ended properly (`[DONE]`) but never said why says what was seen: calls, or a stop.  Facts that we have no event for (timings) are kept in `extra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Broken, EngineError, Refused
from ..events import Event, Finish, Usage
from . import sse, wire
from .chat_blocks import Blocks
from .chat_error import read_error

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


@dataclass(slots=True)
class TokenLogprob:
    """A token with its log probability, as `Writer.write` takes it."""

    token: str
    logprob: float
    bytes: tuple[int, ...] = ()
    top: tuple[TokenLogprob, ...] = ()


class Reader:
    """Bytes of an upstream's stream in, events of one of its choices out.

    A whole answer (not streamed) may be fed too: by `read`, as the one object it is.
    """

    def __init__(self, choice: int = 0, engine: str = "") -> None:
        self._choice, self._engine = choice, engine
        self._bytes = sse.Reader()
        self._blocks = Blocks()
        self._usage: Usage | None = None
        self._reason = ""
        self._stop = ""
        self._spoke = False
        self.ended = False
        self.extra: dict[str, Any] = {}
        self.logprobs: list[TokenLogprob] = []

    @property
    def finished(self) -> bool:
        """Why it ends is known; what may still come is the usage."""
        return self.ended or bool(self._reason)

    def feed(self, data: bytes) -> list[Event]:
        """Read on.  After the end nothing more comes."""
        try:
            messages = self._bytes.feed(data)
        except EngineError as error:
            return self._fail(error)
        return [event for message in messages for event in self._message(message)]

    def close(self) -> list[Event]:
        """The upstream has closed the connection: the end, if it did not come before."""
        events = [event for message in self._bytes.close() for event in self._message(message)]
        return [*events, *self._end()]

    def read(self, data: Any) -> list[Event]:
        """One chunk, or one whole answer, that is JSON already."""
        if self.ended:
            return []
        if not isinstance(data, Mapping):
            return self._fail(Broken("the engine sent JSON that is no object", engine=self._engine))
        if data.get("error") or data.get("object") == "error":
            return self._fail(read_error(data, engine=self._engine))
        self.extra.update((key, value) for key, value in data.items() if key not in _KNOWN)
        self._usage = _usage(data.get("usage")) or self._usage
        events: list[Event] = []
        for choice in data.get("choices") or ():
            if isinstance(choice, Mapping) and (choice.get("index") or 0) == self._choice:
                self._spoke = True
                events += self._read_choice(choice)
        return events

    def _message(self, message: sse.Message) -> list[Event]:
        if self.ended or not message.data.strip():
            return []
        if message.data.strip() == "[DONE]":
            self._reason = self._reason or ("stop" if self._spoke else "")
            return self._end()
        try:
            data = wire.load(message.data)
        except ValueError:
            return self._fail(Broken(f"the engine sent what is not JSON: {message.data!r:.100}", engine=self._engine))
        if message.event == "error" and isinstance(data, Mapping):
            data = {"error": data, **data}
        return self.read(data)

    def _read_choice(self, choice: Mapping[str, Any]) -> list[Event]:
        delta = choice.get("delta") or choice.get("message")
        events: list[Event] = []
        if isinstance(delta, Mapping):
            events += [event for kind, text in _texts(delta) for event in self._blocks.text(kind, text)]
            events += [event for call in _calls(delta) for event in self._blocks.call(call)]
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, Mapping):
            self.logprobs += map(_token, logprobs.get("content") or ())
        stop = choice.get("stop_reason") or choice.get("matched_stop")
        self._stop = stop if isinstance(stop, str) else self._stop
        reason = choice.get("finish_reason")
        return [*events, *self._finished(reason)] if isinstance(reason, str) and reason else events

    def _finished(self, reason: str) -> list[Event]:
        if reason not in _REASONS:
            return self._fail(Refused(f"the engine gave up: {reason!r:.100}", engine=self._engine))
        self._reason = self._reason or _REASONS[reason]
        return []

    def _end(self) -> list[Event]:
        if self.ended:
            return []
        if not self._reason:
            hint = "its connection or its process broke off"
            return self._fail(Broken("the engine's stream ended in the middle", engine=self._engine, hint=hint))
        events = self._blocks.end(cut=self._reason != "stop")
        called = self._reason == "stop" and self._blocks.called
        return self._over(events, Finish("tool_calls" if called else self._reason, self._stop))

    def _fail(self, error: Exception) -> list[Event]:
        if self.ended:
            return []
        return self._over(self._blocks.end(cut=True), Finish("error", error=error))

    def _over(self, events: list[Event], finish: Finish) -> list[Event]:
        self.ended = True
        return [*events, *([self._usage] if self._usage else []), finish]


def _texts(delta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of a delta in the order of an answer; reasoning that comes under two names is taken once."""
    content = delta.get("content")
    parts = content if isinstance(content, list) else ()
    reasoning = next((text for key in _REASONING if (text := _string(delta.get(key)))), "")
    yield "reasoning", reasoning or "".join(_thoughts(parts))
    yield "content", _string(content) or "".join(_string(part.get("text")) for part in parts if _is(part, "text"))
    yield "refusal", _string(delta.get("refusal"))


def _thoughts(parts: Iterable[Any]) -> Iterator[str]:
    """Thinking as parts of the content, which one vendor sends."""
    for part in parts:
        if _is(part, "thinking"):
            thought = part.get("thinking")
            inner = thought if isinstance(thought, list) else ()
            yield _string(thought) or "".join(_string(item.get("text")) for item in inner if _is(item, "text"))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, Mapping) and part.get("type") == kind


def _calls(delta: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    calls = delta.get("tool_calls") or ()
    for call in [calls] if isinstance(calls, Mapping) else calls:
        if isinstance(call, Mapping):
            yield call
    if isinstance(delta.get("function_call"), Mapping):
        yield {"index": 0, "function": delta["function_call"]}


def _usage(data: Any) -> Usage | None:
    if not isinstance(data, Mapping):
        return None
    counts = (
        _count(data, "prompt_tokens"),
        _count(data, "completion_tokens"),
        _count(data.get("completion_tokens_details"), "reasoning_tokens"),
        _count(data.get("prompt_tokens_details"), "cached_tokens"),
    )
    return Usage(*counts) if any(count is not None for count in counts) else None


def _count(data: Any, key: str) -> int | None:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, int) else None


def _token(data: Any) -> TokenLogprob:
    data = data if isinstance(data, Mapping) else {}
    logprob = data.get("logprob")
    return TokenLogprob(
        _string(data.get("token")),
        logprob if isinstance(logprob, int | float) else 0.0,
        tuple(data.get("bytes") or ()),
        tuple(map(_token, data.get("top_logprobs") or ())),
    )


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
