"""What the streams of Chat and of the older Completions have in common: chunks of choices, an end, an error.

The finish of the last choice waits for `close`, because what is known only then (timings) rides on the last chunk.
An error ends the stream at once: no finish, no `[DONE]`, so that nobody takes what was sent for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..errors import Broken
from ..events import Event, Finish, Usage
from . import sse, wire
from .chat_error import error
from .chat_shape import Token, extras, failure, usage_shape

__all__ = ["Choice", "Stream", "Table"]

_TAKEN = ("id", "object", "created", "model", "choices", "usage", "error")

Table = Mapping[type[Event], Callable[[Any, Any], bytes]]


class Choice(Protocol):
    """One choice of a stream: how it writes each event, and where it stands."""

    write: Table
    tokens: list[Token]
    usage: Usage | None
    finish: Finish | None

    def begin(self) -> bytes:
        """Its first chunk."""

    def end(self, more: Mapping[str, Any]) -> bytes:
        """The chunk with the finish; `more` rides on it."""


class Stream:
    """Events of several choices in, bytes of server-sent events out.

    `head` and `tail` stand around the one choice of a chunk.

    Args:
        names: what every chunk carries.
        usage: one more chunk tells it at the end.
    """

    headers = sse.HEADERS
    counts = False

    def __init__(self, names: Mapping[str, Any], *, usage: bool) -> None:
        self.head = b"data: " + wire.dump(names)[:-1] + b',"choices":['
        self.tail = b"]%b}\n\n" % (b',"usage":null' if usage else b"")
        self._usage = usage
        self._choices: Sequence[Choice] = ()
        self._last: Choice | None = None
        self._opened = False
        self.ended = False

    def open(self) -> bytes:
        """The first chunk of every choice.  `write` opens by itself if this was not called."""
        if self._opened:
            return b""
        self._opened = True
        return b"".join(choice.begin() for choice in self._choices)

    def write(self, events: Iterable[Event], choice: int = 0, logprobs: Iterable[Token] = ()) -> bytes:
        """The frames of some events of a choice.

        `logprobs` are those of the content's tokens.  They ride on the next frame with content;
        a block of reasoning, a call or the end drops what still waits, since it was markup.
        """
        writing = self._choices[choice]
        if self.ended or writing.finish is not None:
            return b""
        frames = [] if self._opened else [self.open()]
        writing.tokens.extend(logprobs)
        write = writing.write
        frames += [write[type(event)](writing, event) for event in events]
        if writing.finish is not None:
            frames.append(self._finished(writing, writing.finish))
        return b"".join(frames)

    def close(self, extra: Mapping[str, Any] | None = None) -> bytes:
        """The end: the last finish, the usage if asked for, and `[DONE]`; `extra` rides on the last chunk."""
        if self.ended:
            return b""
        if self._last is None:
            return self.error(Broken("the answer ended before it was finished"))
        self.ended = True
        more = extras(extra, _TAKEN)
        if not self._usage:
            return self._last.end(more) + sse.DONE
        usage = self.count([choice.usage for choice in self._choices])
        return b"%b%b],%b\n\n%b" % (self._last.end({}), self.head, wire.dump({"usage": usage, **more})[1:], sse.DONE)

    def error(self, exc: BaseException) -> bytes:
        """The end of a stream that failed; nothing follows it."""
        if self.ended:
            return b""
        self.ended = True
        return sse.frame(wire.dump(error(exc)[1]))

    def ping(self, text: str = "") -> bytes:
        """A comment that keeps the connection alive."""
        return b"" if self.ended else sse.comment(text)

    def count(self, usages: Sequence[Usage | None]) -> dict[str, Any]:
        """The usage of all choices together."""
        return usage_shape(usages)

    def _finished(self, choice: Choice, finish: Finish) -> bytes:
        if finish.reason in ("error", "cancelled"):
            return self.error(finish.error or failure(finish.reason))
        if any(other.finish is None for other in self._choices):
            return choice.end({})
        self._last = choice
        return b""
