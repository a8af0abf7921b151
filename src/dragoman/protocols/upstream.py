"""What the readers of upstreams' streams have in common, whatever the protocol: pieces in, events out, one proper end.

Nothing of a stream is passed through: what is wrong with it (see `blocks`) is put right or becomes an error.
A stream that breaks off ends with a `Finish` that carries the error; it never looks like an answer.
One that was ended properly but never said why says what was seen: calls, or a stop.
Facts that we have no event for (timings) are kept in `extra`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Broken, EngineError, Refused
from ..events import Event, Finish, Usage
from . import sse, wire
from .chat_blocks import Blocks
from .chat_error import read_error

__all__ = ["Reading", "TokenLogprob", "count", "counted", "inner", "listed", "string", "token"]

_CALLED = ("tool_calls", "function_call", "tool_use")


@dataclass(slots=True)
class TokenLogprob:
    """A token with its log probability, as `Writer.write` takes it."""

    token: str
    logprob: float
    bytes: tuple[int, ...] = ()
    top: tuple[TokenLogprob, ...] = ()


class Reading:
    """Bytes of an upstream's stream in, events out.

    A whole answer (not streamed) may be fed too: by `read`, as the one object it is.
    `finished`: why it ends is known.  `ended`: nothing more comes.
    """

    def __init__(self, engine: str = "") -> None:
        self._engine = engine
        self._bytes: Any = sse.Reader()
        self._blocks = Blocks()
        self._usage: Usage | None = None
        self._reason = ""
        self._stop = ""
        self._spoke = self._claims = False
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
        return self._take(data)

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        """What a chunk or an answer says that is no error."""
        raise NotImplementedError

    def _message(self, message: sse.Message) -> list[Event]:
        text = message.data.strip()
        if self.ended or not text:
            return []
        if text == "[DONE]":
            return self._done()
        try:
            data = wire.load(text)
        except ValueError:
            return self._fail(Broken(f"the engine sent what is not JSON: {text!r:.100}", engine=self._engine))
        if message.event == "error" and isinstance(data, Mapping):
            data = {"error": data, **data}
        return self.read(data)

    def _done(self) -> list[Event]:
        """The stream was ended by its own mark."""
        self._reason = self._reason or ("stop" if self._spoke else "")
        return self._end()

    def _because(self, word: str, reasons: Mapping[str, str]) -> list[Event]:
        """The upstream says why it ends; the first reason counts."""
        if word not in reasons:
            return self._fail(Refused(f"the engine gave up: {word!r:.100}", engine=self._engine))
        self._claims = self._claims or word in _CALLED
        self._reason = self._reason or reasons[word]
        return []

    def _end(self) -> list[Event]:
        if self.ended:
            return []
        if not self._reason:
            hint = "its connection or its process broke off"
            return self._fail(Broken("the engine's stream ended in the middle", engine=self._engine, hint=hint))
        events = self._blocks.end(cut=self._reason != "stop", called=self._claims)
        called = self._reason == "stop" and self._blocks.called
        return self._over(events, Finish("tool_calls" if called else self._reason, self._stop))

    def _fail(self, error: Exception) -> list[Event]:
        if self.ended:
            return []
        return self._over(self._blocks.end(cut=True), Finish("error", error=error))

    def _over(self, events: list[Event], finish: Finish) -> list[Event]:
        self.ended = True
        return [*events, *([self._usage] if self._usage else []), finish]


def counted(data: Any, prompt: str, completion: str) -> Usage | None:
    """The usage in OpenAI's shapes, None where it has no count."""
    if not isinstance(data, Mapping):
        return None
    counts = (
        count(data, prompt),
        count(data, completion),
        count(data.get(f"{completion}_details"), "reasoning_tokens"),
        count(data.get(f"{prompt}_details"), "cached_tokens"),
    )
    return Usage(*counts) if any(found is not None for found in counts) else None


def count(data: Any, key: str) -> int | None:
    """A count that may be missing or something else."""
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, int) else None


def token(data: Any) -> TokenLogprob:
    """A token with its log probability in OpenAI's shape."""
    data = data if isinstance(data, Mapping) else {}
    logprob = data.get("logprob")
    return TokenLogprob(
        string(data.get("token")),
        logprob if isinstance(logprob, int | float) else 0.0,
        tuple(byte for byte in listed(data.get("bytes")) if isinstance(byte, int)),
        tuple(map(token, listed(data.get("top_logprobs")))),
    )


def string(value: Any) -> str:
    """Text that may be missing or something else."""
    return value if isinstance(value, str) else ""


def listed(value: Any) -> list[Any]:
    """A list that may be missing or something else."""
    return value if isinstance(value, list) else []


def inner(data: Any, key: str) -> Mapping[str, Any]:
    """An object that may be missing or something else."""
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, Mapping) else {}
