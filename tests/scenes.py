"""What the tests of the promises share: scenes to play, and what must hold of any turn."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from garble import OFFERS, marks_of, prompts, texts
from hypothesis import settings
from hypothesis import strategies as st
from streams import Piece, Setting, merge, numbered, singly, tokens

from dragoman import api
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Reasoning
from dragoman.syntax.decode import Policy

NAMES = api.names()
REASONS = ("stop", "length", "filter", "cancelled", "error", "tool_calls")

for_each = pytest.mark.parametrize("name", NAMES)


LONG = settings().max_examples >= 2000


def examples(share: int = 1) -> settings:
    """2,000 examples over all dialects, or for each of them; `share`: a heavy test runs only a part of them."""
    return settings(max_examples=max(2000 // (1 if LONG else len(NAMES)) // share, 20))


POLICIES = st.builds(
    Policy,
    recover=st.sampled_from(("turn-start", "turn-start", "strict", "anywhere")),
    unknown=st.sampled_from(("deliver", "deliver", "text", "refuse")),
    repair=st.sampled_from((True, True, False)),
)
OFFERED = st.sampled_from(("some", "some", "some", "unknown", "none"))
SPECIAL = st.none() | st.integers(0, 2**16 - 1)
FINISHES = st.sampled_from(("stop", "length"))

Scene = tuple[Setting, list[Piece], str]


@cache
def scenes(name: str) -> st.SearchStrategy[Scene]:
    """A parser's setting, what a model writes, and how it ends."""
    dialect = api.get(name)
    parts = (OFFERED, prompts(dialect), POLICIES, texts(dialect), SPECIAL, FINISHES)
    return st.tuples(st.just(name), *parts).map(_scene)


def _scene(drawn: tuple[Any, ...]) -> Scene:
    name, offered, prompt, policy, raw, special, finish = drawn
    dialect, tools = api.get(name), OFFERS[offered]
    vocabulary = dialect.special or marks_of(dialect)
    if special is None:
        return Setting(dialect, tools, prompt, None, policy), [(raw, False)], finish
    pieces = enumerate(tokens(raw, vocabulary))  # some marks arrive as tokens, some are spelled in letters
    some = [(text, is_mark and bool(special >> (i % 16) & 1)) for i, (text, is_mark) in pieces]
    return Setting(dialect, tools, prompt, numbered(vocabulary), policy), some, finish


def raw_of(pieces: list[Piece]) -> str:
    return "".join(text for text, _ in pieces)


# --- what must hold


def said_after_each_character(made: Setting, pieces: list[Piece]) -> dict[int, list[Event]]:
    parser, events, at = made.parser(), [], 0
    said: dict[int, list[Event]] = {0: []}
    for text, special in singly(pieces):
        events += parser.feed(text, special)
        at += len(text)
        said[at] = merge(events)
    return said


def in_order(events: list[Event], reason: str) -> None:
    """Calls do not overlap, indices count up, and one Finish stands at the end."""
    open_call, calls, complete = None, 0, False
    for event in events:
        if isinstance(event, CallStart):
            assert open_call is None
            assert event.index == calls
            assert event.name
            open_call, calls = event.index, calls + 1
        elif isinstance(event, CallArgs):
            assert open_call == event.index
            assert event.json
        elif isinstance(event, CallEnd):
            assert open_call == event.index
            open_call, complete = None, complete or event.complete
        elif isinstance(event, Content | Reasoning):
            assert open_call is None
            assert event.text
    assert open_call is None
    assert [i for i, event in enumerate(events) if isinstance(event, Finish)] == [len(events) - 1]
    wanted = "tool_calls" if complete and reason == "stop" else reason
    assert events[-1].reason == wanted or reason == "tool_calls"


def tiles(raw: str, spans: list[tuple[int, int, str]], events: list[Event]) -> None:
    assert {role for *_, role in spans} <= {"content", "reasoning", "arguments", "markup"}
    starts = [start for start, *_ in spans]
    ends = [end for _, end, _ in spans]
    assert [*starts, len(raw)] == [0, *ends] or (not raw and not spans), spans
    said = {"content": "", "reasoning": ""}
    for event in events:
        if isinstance(event, Content | Reasoning):
            said["content" if isinstance(event, Content) else "reasoning"] += event.text
    for kind, text in said.items():
        assert "".join(raw[start:end] for start, end, role in spans if role == kind) == text
