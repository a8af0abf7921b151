"""Repair: an upstream's answer that was decoded already, decoded again where it leaked; no I/O.

Servers split reasoning and calls from text by their own rules, and what they miss stays in the text as markup.
So text goes through the model's dialect once more; what the server did split off is an event, and stays as it is.
Each stretch of text between two such events is read by a parser of its own.

The text says nothing of special tokens.  A mark that ends turns is markup only if nothing follows it:
a server stops at the real one, so one in the middle was spelled by the model.  Until that is known, it waits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from .events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from .syntax.decode import Parser
from .syntax.dialect import Dialect

__all__ = ["Repair"]

_NONE = re.compile("(?!)")


class Repair:
    """Text and events of an upstream in, events of one turn out; the parts and the calls are numbered anew.

    Args:
        dialect: what the model writes.
        tools: as in `Parser`.
        prompt: what the first stretch of text goes on from, if it begins in reasoning that nobody split off.
        settings: the other arguments of `Parser`.
    """

    ended = False  # the upstream says when

    def __init__(self, dialect: Dialect, tools: Any = None, *, prompt: str = "", **settings: Any) -> None:
        endless, self._first, self._tail = _endless(dialect)
        self._make = partial(Parser, endless, tools, **settings)
        self._begun = prompt
        self._parser: Parser | None = None
        self._held = ""
        self._open: tuple[bool, int] | None = None
        self._part = -1
        self._calls = -1

    def feed(self, text: str, special: bool = False) -> list[Event]:
        """A piece of text."""
        parser = self._parser
        if parser is not None and not self._held and self._first.search(text) is None and not parser.ended and text:
            return self._numbered(parser.feed(text, special), own=True)
        text = self._held + text
        end = self._tail.search(text)
        at = end.start() if end else len(text)
        self._held = text[at:]
        return self._read(text[:at], special)

    def take(self, events: Iterable[Event]) -> list[Event]:
        """What the upstream has split off."""
        taken: list[Event] = []
        for event in events:
            if type(event) is not Notice:
                self._begun = ""
                taken += self._leave("stop", last=False)
            taken += self._numbered([event], own=False)
        return taken

    def close(self, reason: str = "stop") -> list[Event]:
        """The end of the turn."""
        return [*self._leave(reason, last=True), Finish(reason)]

    def _read(self, text: str, special: bool = False) -> list[Event]:
        if not text:
            return []
        if self._parser is None or self._parser.ended:
            self._parser, self._open = self._make(prompt=self._begun), None
            self._begun = ""
        return self._numbered(self._parser.feed(text, special), own=True)

    def _leave(self, reason: str, *, last: bool) -> list[Event]:
        """The end of a stretch of text, and of the marks that waited."""
        held, self._held = self._held, ""
        marks = self._tail.match(held) if held else None
        rest = held[marks.end("marks") :] if marks and marks["marks"] else held
        events = self._read(rest)
        parser, self._parser = self._parser, None
        if parser is not None:
            closing = parser.close(reason if last else "stop")
            events += self._numbered([event for event in closing if type(event) is not Finish], own=True)
        return events

    def _numbered(self, events: list[Event], *, own: bool) -> list[Event]:
        if len(events) == 1 and type(event := events[0]) is Content:  # nearly always
            part = own, event.part
            event.part = self._part if part == self._open else self._placed(part)
            return events
        for event in events:
            if isinstance(event, Content | Reasoning):
                event.part = self._placed((own, event.part))
            elif isinstance(event, CallStart):
                self._calls += 1
                event.index, event.part = self._calls, self._placed((own, event.part))
            elif isinstance(event, CallArgs | CallEnd):
                event.index = self._calls
        return [event for event in events if not isinstance(event, Usage)]

    def _placed(self, part: tuple[bool, int]) -> int:
        """The number of a part; parts never overlap, so another one is the next one."""
        if part != self._open:
            self._open = part
            self._part += 1
        return self._part


@lru_cache(64)
def _endless(dialect: Dialect) -> tuple[Dialect, re.Pattern[str], re.Pattern[str]]:
    """The dialect without marks that end turns, what such marks begin with, and the pattern of them at the end of a text.

    The marks of framed messages stay: they part messages, and are never a model's own words.
    Where a turn cannot begin without a frame, what a server took out of it cannot be read as one: it is plain text.
    """
    if dialect.frame is not None and not _reads_text(dialect):
        return Dialect(""), _NONE, _NONE
    if dialect.frame is not None or not dialect.ends:
        return dialect, _NONE, _NONE
    first = re.compile(f"[{re.escape(''.join(mark[0] for mark in dialect.ends))}]")
    return replace(dialect, ends=()), first, _at_end(dialect.ends)


def _reads_text(dialect: Dialect) -> bool:
    parser = Parser(dialect)
    return any(isinstance(event, Content) for event in (*parser.feed("Yes."), *parser.close()))


def _at_end(ends: Sequence[str]) -> re.Pattern[str]:
    """Marks that nothing but blanks follows, or the beginning of one."""
    whole = "|".join(map(re.escape, ends))
    begun = "|".join(_beginnings(mark) for mark in ends)
    return re.compile(rf"(?P<marks>(?:(?:{whole})\s*)+)(?:{begun})?\Z|(?:{begun})\Z")


def _beginnings(mark: str) -> str:
    """The beginnings of a mark, the longest first."""
    first, *rest = map(re.escape, mark[:-1] or mark)
    return first + "".join(f"(?:{letter}" for letter in rest) + ")?" * len(rest)
