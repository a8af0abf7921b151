"""Drives generators over a `Reader`, and parsers, in every kind of pieces: the result may not depend on the cutting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from streams import Piece, Setting, halves, merge, play, singly

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning
from dragoman.syntax.calls import CallSink, Policy, Tools
from dragoman.syntax.decode import Parser
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.plan import Scope
from dragoman.syntax.reader import Reader
from dragoman.syntax.sink import Sink

WAITS = object()


def cuttings(text: str) -> Iterator[list[str]]:
    """The text whole, one character at a time, and in two at every place."""
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def drive(
    make: Callable[[Reader], Any],
    pieces: Iterable[str],
    *,
    close: bool = True,
    cut: bool = False,
    r: Reader | None = None,
) -> Any:
    """What the generator `make(reader)` answers behind these pieces; WAITS if it wants more."""
    r = r or Reader()
    work = make(r)
    try:
        next(work)
        for text in pieces:
            r.feed(text)
            next(work)
        if close:
            r.closed, r.cut = True, cut
            next(work)
    except StopIteration as done:
        return done.value
    assert not close, "it waits although the text has ended"
    return WAITS


def same(run: Callable[[list[str]], Any], text: str) -> Any:
    """What `run` answers for the text, in whatever pieces it comes."""
    whole = run([text])
    for pieces in cuttings(text):
        assert run(pieces) == whole, pieces
    return whole


# --- payloads of a codec


class Payload:
    """A call that a codec reads: what it put, what it told, how it went."""

    def __init__(
        self, tools: Any = None, *, name: str = "f", policy: Policy = Policy(), scope: Scope | None = None,
        recovered: bool = False, begun: bool = True,
    ) -> None:  # fmt: skip
        self.tools, self.name, self.policy, self.scope = Tools(tools), name, policy, scope
        self.recovered, self.begun = recovered, begun

    def read(self, codec: Any, text: str, *, cut: bool = False) -> tuple[str, list[str]]:
        """How it went and what was emitted, in whatever pieces the text came; see `shown`."""
        return same(lambda pieces: self._read(codec, pieces, cut=cut), text)

    def _read(self, codec: Any, pieces: Sequence[str], *, cut: bool) -> tuple[str, list[str]]:
        sink = Sink()
        reader = Reader()

        def make(r: Reader) -> Any:
            call = CallSink(
                sink, self.tools, self.policy, 0, lambda name: not self.tools.known, lambda: None, lambda: r.cut
            )
            call.recovered = self.recovered
            call.scope = self.scope or Scope(("</call>",), ("<call>",), ("<end>",))
            if self.begun:
                call.begin(self.name)
                sink.out.clear()
            return self._told(codec, r, call)

        state, missing, flawed = drive(make, pieces, cut=cut, r=reader)
        sink.flush()
        rest = "".join(pieces)[reader.at :]
        told = shown(merge(sink.out))
        return state, [
            *told,
            *([f"flawed {flawed}"] if flawed else []),
            *([f"missing {missing}"] if state == "cut" else []),
            *([f"rest {rest}"] if rest else []),
        ]

    def _told(self, codec: Any, r: Reader, call: CallSink) -> Any:
        state = yield from codec.decode(r, call)
        return state, call.missing, call.flawed


def shown(events: Iterable[Event]) -> list[str]:
    """Events as short lines: what they are, without where they are from."""
    return [line for event in events for line in _shown(event)]


def _shown(event: Event) -> Iterator[str]:
    if isinstance(event, CallStart):
        yield f"call {event.name}" + f" id={event.id}" * bool(event.id)
    elif isinstance(event, CallArgs):
        yield f"args {event.json}"
    elif isinstance(event, CallEnd):
        words = ("end", "" if event.complete else "cut", "" if event.valid else "bad", event.missing)
        yield " ".join(filter(None, words))
    elif isinstance(event, Notice):
        yield f"notice {event.code}" + f" {event.raw!r}" * bool(event.raw)
    elif isinstance(event, Finish):
        yield f"finish {event.reason}"
    elif isinstance(event, Content | Reasoning):
        kind = type(event).__name__.lower()
        phase = f":{event.phase}" if isinstance(event, Content) and event.phase else ""
        yield f"{kind}{phase} {event.text!r}"
    else:
        yield repr(event)


# --- whole turns


def told(dialect: Dialect, raw: str | list[Piece], tools: Any = (), *, finish: str = "stop", **more: Any) -> list[str]:
    """The events of a turn as lines, in whatever pieces it came; without the usual `finish`."""
    pieces = [(raw, False)] if isinstance(raw, str) else raw
    setting = Setting(dialect, tools, **more)
    whole = merge(play(setting, pieces, finish))
    for cutting in (singly(pieces), *halves(pieces)):
        assert merge(play(setting, cutting, finish)) == whole, cutting
    return [line for line in shown(whole) if line not in ("finish stop", "finish tool_calls")]


def traced(dialect: Dialect, raw: str, tools: Any = (), *, finish: str = "stop", **more: Any) -> list[tuple[str, str]]:
    """The raw text in stretches with their roles, neighbours of one role joined."""
    found: list[tuple[str, str]] = []

    def trace(start: int, end: int, role: str) -> None:
        assert start == sum(len(text) for _, text in found), "a gap or an overlap"
        if found and found[-1][0] == role:
            found[-1] = role, found[-1][1] + raw[start:end]
        else:
            found.append((role, raw[start:end]))

    parser = Parser(dialect, tools, trace=trace, **more)
    for char in raw:
        parser.feed(char)
    parser.close(finish)
    assert "".join(text for _, text in found) == raw
    return found
