"""Feeds parsers in every kind of pieces, and joins again what they say."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Text, Turn
from dragoman.messages import Reasoning as Thought
from dragoman.syntax.decode import Parser, Policy
from dragoman.syntax.dialect import Dialect

Piece = tuple[str, bool]
Spans = list[tuple[int, int, str]]


@dataclass(frozen=True)
class Setting:
    """All that a parser is made with."""

    dialect: Dialect
    tools: Any = ()
    prompt: str = ""
    specials: Mapping[str, int] | None = None
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        tools = self.tools and [getattr(tool, "name", tool) for tool in self.tools]
        return f"Setting({self.dialect.name}, tools={tools}, prompt={self.prompt!r}, specials={self.specials}, {self.policy})"

    def parser(self, trace: Any = None) -> Parser:
        """A new one."""
        return Parser(
            self.dialect, self.tools, prompt=self.prompt, specials=self.specials, policy=self.policy, trace=trace
        )


def play(setting: Setting, pieces: Iterable[Piece], finish: str = "stop", spans: Spans | None = None) -> list[Event]:
    """All events of one turn."""
    parser = setting.parser(None if spans is None else lambda *span: spans.append(span))
    events = [event for text, special in pieces for event in parser.feed(text, special)]
    return events + parser.close(finish)


def merge(events: Iterable[Event]) -> list[Event]:
    """The same events, neighbours that continue one another joined: what may not depend on the cutting."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if (
            isinstance(event, Content)
            and isinstance(last, Content)
            and (last.part, last.phase) == (event.part, event.phase)
        ) or (isinstance(event, Reasoning) and isinstance(last, Reasoning) and last.part == event.part):
            last.text += event.text
        elif isinstance(event, CallArgs) and isinstance(last, CallArgs) and last.index == event.index:
            last.json += event.json
        else:
            merged.append(copy.copy(event))
    return merged


# --- pieces


def singly(pieces: Iterable[Piece]) -> list[Piece]:
    """One character at a time; special tokens stay whole."""
    return [(part, special) for text, special in pieces for part in ([text] if special else text)]


def halves(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Cut in two at every place: two feeds, special tokens between them whole."""
    units = singly(pieces)
    for at in range(1, len(units)):
        yield [*joined(units[:at]), *joined(units[at:])]


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbouring ordinary pieces as one."""
    found: list[Piece] = []
    for text, special in pieces:
        if found and not special and not found[-1][1]:
            found[-1] = (found[-1][0] + text, False)
        else:
            found.append((text, special))
    return found


def scattered(pieces: Sequence[Piece], chance: random.Random, mean: float = 4.0) -> list[Piece]:
    """Cut at random, an empty piece here and there."""
    found: list[Piece] = []
    group: list[Piece] = []
    for unit in singly(pieces):
        if group and (chance.random() < 1 / mean or unit[1] or group[-1][1]):
            found += joined(group)
            group = []
        if chance.random() < 0.02:
            found.append(("", False))
        group.append(unit)
    return found + joined(group)


def tokens(text: str, vocabulary: Iterable[str]) -> list[Piece]:
    """The text with each mark of the vocabulary as a special token."""
    words = sorted(vocabulary, key=len, reverse=True)
    found: list[Piece] = []
    at = 0
    while at < len(text):
        word = next((word for word in words if text.startswith(word, at)), None)
        found.append((word, True) if word else (text[at], False))
        at += len(found[-1][0])
    return joined(found)


def numbered(vocabulary: Iterable[str]) -> dict[str, int]:
    """Token ids for marks."""
    return {mark: 1000 + i for i, mark in enumerate(vocabulary)}


# --- turns


def turn_of(events: Sequence[Event]) -> Turn:
    """What events add up to, worked out without `fold`: it is here to be compared with."""
    parts: dict[tuple[str, int], Any] = {}
    finish = next(event for event in reversed(events) if isinstance(event, Finish))
    for event in events:
        if isinstance(event, Content):
            parts.setdefault(("text", event.part), Text("", event.phase)).text += event.text
        elif isinstance(event, Reasoning):
            parts.setdefault(("reasoning", event.part), Thought("")).text += event.text
        elif isinstance(event, CallStart):
            parts[("call", event.index)] = Call(event.name, "", event.id)
        elif isinstance(event, CallArgs):
            parts[("call", event.index)].arguments += event.json
        elif isinstance(event, CallEnd):
            call = parts[("call", event.index)]
            call.complete, call.valid, call.missing = event.complete, event.valid, event.missing
    notices = tuple(event for event in events if isinstance(event, Notice))
    usage = next((event for event in reversed(events) if isinstance(event, Usage)), None)
    return Turn(tuple(parts.values()), finish.reason, finish.stop, notices, usage, finish.error)


def bare(turn: Turn) -> Turn:
    """A turn without its notices and the model's ids: what an encoding can keep."""
    parts = tuple(replace(part, id="") if isinstance(part, Call) else part for part in turn.parts)
    return Turn(parts, turn.finish)
