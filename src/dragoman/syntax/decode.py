"""Decode: a model's raw text to events, piece by piece.

A `Parser` is a generator (`Machine`, or `Frames` for dialects whose messages have headers) over a `Reader`, whose
events a `Sink` collects.  All of them are plain Python: nothing here waits, and nothing raises on what a model wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import UsageError
from ..events import Event, Finish
from ..messages import Tool, Turn
from .calls import PATIENCE, Policy, Tools
from .dialect import Dialect
from .fold import fold
from .frames import Frames
from .machine import Machine
from .plan import plan
from .reader import Reader
from .sink import Sink
from .suffix import suffixed

__all__ = ["Parser", "Policy", "decode", "fold"]

Trace = Callable[[int, int, str], None]
REASONS = ("stop", "tool_calls", "length", "filter", "cancelled", "error")
CUTS = ("length", "filter", "cancelled", "error")


class Parser:
    """Decodes one turn.

    Args:
        dialect: what the model writes.
        tools: the tools on offer (`Tool`, or OpenAI's or Anthropic's shape); None if unknown, empty for no calls at all.
        prompt: the rendered prompt; its assistant part decides where the turn begins (reasoning may be open already).
        specials: mark -> token id for this tokenizer; such a mark counts where it is fed as `special`.
        policy: how lenient to be.
        trace: called with (start, end, role) for stretches of the raw text, in order and without gaps; the roles are
            content, reasoning, arguments and markup.

    Raises:
        UsageError: an argument is wrong.  Nothing that a model wrote raises.
    """

    def __init__(
        self,
        dialect: Dialect,
        tools: Tools | Iterable[Tool | Mapping[str, Any]] | None = None,
        *,
        prompt: str = "",
        specials: Mapping[str, int] | None = None,
        policy: Policy = Policy(),
        trace: Trace | None = None,
    ) -> None:
        if not isinstance(dialect, Dialect):
            raise UsageError(f"a Parser needs a Dialect, not {type(dialect).__name__}; dragoman.get(name) finds one")
        dialect = suffixed(dialect, specials, prompt)
        self._reader = Reader(frozenset(specials) if specials is not None else None)
        self._sink = Sink(trace is not None, watch=True)
        make = Frames if dialect.frame is not None else Machine
        offered = tools if isinstance(tools, Tools) else Tools(tools)
        self._machine = make(dialect, offered, policy, self._reader, self._sink)
        self._trace = trace
        self._traced = 0
        self._late = ""
        self._extra = 0
        self._closed = False
        self._start(plan(dialect).state(prompt))

    def _start(self, start: tuple[str, str]) -> None:
        """Run the assistant's part of the prompt through the machine, muted."""
        state, text = start
        self._work = self._machine.run(state)
        if text:
            reader = self._reader
            reader.specials, specials = None, reader.specials
            reader.feed(text)
            reader.base = self._sink.floor = -len(text)
            next(self._work, None)
            reader.specials = specials
            self._sink.mute()
            self._machine.completed = False

    @property
    def ended(self) -> bool:
        """Whether the model ended its turn."""
        return self._machine.ended

    def feed(self, text: str, special: bool = False) -> list[Event]:
        """The events of the next piece of text; `special` if it is one special token.

        Text after the turn's end is never content: one `Notice` tells of it.
        """
        machine, sink = self._machine, self._sink
        if machine.ended or self._closed:
            return self._after(text)
        if special and text in machine.plan.closes and machine.abandon():
            self._work = machine.run("inside")
            next(self._work, None)
        if special or not self._reader.passes(text):
            self._reader.feed(text, special)
            next(self._work, None)
        if machine.waiting is not None:
            machine.patience()
        if self._trace is not None:
            self._report()
        if sink.saved is not None or sink.pieces or not sink.out:
            return sink.take()
        events, sink.out = sink.out, []
        return events

    def _after(self, text: str) -> list[Event]:
        self._extra += len(text)
        self._late = (self._late + text)[:PATIENCE]
        return []

    def close(self, reason: str = "stop") -> list[Event]:
        """The end of the text: the closers of what is open, and the one `Finish`.

        `reason`: why the engine ended: stop, length, filter, cancelled or error.

        Raises:
            UsageError: an unknown reason.
        """
        if reason not in REASONS:
            raise UsageError(f"finish reason {reason!r}: use one of {', '.join(REASONS)}")
        if self._closed:
            return []
        self._closed = True
        machine, sink = self._machine, self._sink
        if not machine.ended:
            self._reader.closed, self._reader.cut = True, reason in CUTS
            next(self._work, None)
        machine.promote()
        self._finish()
        events = sink.take()
        completed = reason in ("stop", "tool_calls") and machine.completed
        events.append(Finish("tool_calls" if completed else "stop" if reason == "tool_calls" else reason))
        return events

    def _finish(self) -> None:
        reader, sink = self._reader, self._sink
        sink.flush()
        sink.finish()
        if reader.dropped:
            sink.notice("cut", reader.at - len(reader.dropped), reader.dropped)
        late = (reader.buf[reader.pos :] + self._late)[:PATIENCE]
        if late.strip():
            sink.notice("after-end", reader.at, late)
        if self._trace is not None:
            self._report()
            self._fill(reader.base + len(reader.buf) + self._extra)

    def _report(self) -> None:
        for start, end, role in self._sink.take_spans():
            start = max(start, self._traced)
            if end > start and self._trace is not None:
                self._fill(start)
                self._trace(start, end, role)
                self._traced = end

    def _fill(self, end: int) -> None:
        if self._trace is not None and end > self._traced:
            self._trace(self._traced, end, "markup")
            self._traced = end


def decode(
    dialect: Dialect,
    text: str,
    tools: Tools | Iterable[Tool | Mapping[str, Any]] | None = None,
    *,
    prompt: str = "",
    specials: Mapping[str, int] | None = None,
    finish: str = "stop",
    policy: Policy = Policy(),
    trace: Trace | None = None,
) -> Turn:
    """A whole turn at once: the fold of its events (arguments as for `Parser`; `finish`: why the engine ended)."""
    one = Parser(dialect, tools, prompt=prompt, specials=specials, policy=policy, trace=trace)
    return fold([*one.feed(text), *one.close(finish)])
