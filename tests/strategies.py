"""Hypothesis strategies: legal sequences of events, and requests; with the fold that they are compared by."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable

from hypothesis import strategies as st

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Text, Turn
from dragoman.messages import Reasoning as Thought

# Surrogates on purpose: models write them, and pieces meet at them.
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=()), st.sampled_from('a\n "\\{}<>\u2028é😀\ud83d\ude00')),
    min_size=1,
    max_size=12,
)
NAMES = st.sampled_from(["get_weather", "ping", "a.b-c", "größe"])
IDS = st.sampled_from(["", "call_a", "call_a", "abc123XYZ", "functions.f:0", "x" * 41, "é", "has blank"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 999)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3).map(json.dumps)
BROKEN = st.sampled_from(["cd /tmp", "{'a': 1}", "[1]", '{"a" 1}', "null"])


@st.composite
def pieces(draw, text: str) -> list[str]:
    """A text, cut anywhere."""
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=4)))
    bounds = [0, *(cut for cut in cuts if cut < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(bounds) if a < b]


@st.composite
def blocks(draw, part: int) -> list[Event]:
    """A block of text."""
    kind = draw(st.sampled_from([Content, Content, Reasoning]))
    return [kind(piece, part=part) for piece in draw(pieces(draw(TEXTS)))]


@st.composite
def calls(draw, index: int, part: int, *, broken: bool) -> list[Event]:
    """A whole call; `broken`: its arguments may be no JSON object."""
    valid = not broken or draw(st.booleans())
    arguments = draw(OBJECTS if valid else BROKEN)
    args = [CallArgs(index, piece) for piece in draw(pieces(arguments))]
    if arguments == "{}" and draw(st.booleans()):
        args = []
    return [CallStart(index, draw(IDS), draw(NAMES), part), *args, CallEnd(index, complete=True, valid=valid)]


@st.composite
def cut_calls(draw, index: int, part: int) -> list[Event]:
    """A call that the limit cut, somewhere before its end."""
    whole = draw(OBJECTS)
    written = whole[: draw(st.integers(0, len(whole) - 1))]
    args = [CallArgs(index, piece) for piece in draw(pieces(written))] if written else []
    end = CallEnd(index, complete=False, valid=False, missing=whole[len(written) :])
    return [CallStart(index, draw(IDS), draw(NAMES), part), *args, end]


@st.composite
def turns(draw, *, broken: bool = False) -> list[Event]:
    """All events of a turn; `broken`: with calls whose arguments are no JSON objects."""
    events: list[Event] = []
    index = 0
    count = draw(st.integers(0, 5))
    for part in range(count):
        if draw(st.booleans()):
            events += draw(blocks(part))
        else:
            events += draw(calls(index, part, broken=broken))
            index += 1
        if draw(st.integers(0, 9)) == 0:
            events.append(Notice("stray-mark", raw="</x>"))
    reason = draw(st.sampled_from(["stop", "stop", "length", "filter"]))
    if reason == "length" and draw(st.booleans()):
        events += draw(cut_calls(index, count))
    if reason == "stop" and index:
        reason = "tool_calls"
    counts = [draw(st.none() | st.integers(0, 99)) for _ in range(4)]
    return [*events, Usage(*counts), Finish(reason)]


def fold(events: Iterable[Event]) -> Turn:
    """The turn that some events add up to."""
    parts: dict[tuple[str, int], list] = {}
    turn = Turn()
    for event in events:
        if isinstance(event, Content | Reasoning):
            parts.setdefault((type(event).__name__, event.part), [event]).append(event.text)
        elif isinstance(event, CallStart):
            parts["call", event.index] = [event]
        elif isinstance(event, CallArgs):
            parts["call", event.index].append(event.json)
        elif isinstance(event, CallEnd):
            parts["call", event.index].append(event)
        elif isinstance(event, Usage):
            turn.usage = event
        elif isinstance(event, Finish):
            turn.finish, turn.stop, turn.error = event.reason, event.stop, event.error
    turn.parts = tuple(map(_part, parts.values()))
    return turn


def _part(items: list) -> Thought | Text | Call:
    first, *rest = items
    if isinstance(first, CallStart):
        *args, end = rest
        return Call(first.name, "".join(args), first.id, end.complete, end.valid, end.missing)
    return Thought("".join(rest)) if isinstance(first, Reasoning) else Text("".join(rest), first.phase)
