"""Hypothesis strategies: legal sequences of events."""

from __future__ import annotations

import itertools

from hypothesis import settings
from hypothesis import strategies as st

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage

# Surrogates on purpose: models write them, and pieces meet at them.
TEXTS = st.text('ab \n\r\t"\\/{}[]<>:\x00\x7f\u2028é\uffff😀\ud83d\ude00', min_size=1, max_size=12)
NAMES = st.sampled_from(["get_weather", "ping", "a.b-c", "größe"])
IDS = st.sampled_from(["", "call_a", "call_a", "abc123XYZ", "functions.f:0", "x" * 41, "é", "has blank"])
OBJECTS = st.sampled_from(
    [
        "{}",
        "{ }",
        '{"a": 1}',
        '\n{"a":"b"}',
        '{"":""}',
        '{"city": "Oslo", "days": [1, 2.5e3, -1], "deep": {"x": [[], {}, null, true]}}',
        '{"path": "C:\\\\temp\\\\", "quote": "\\"}{\\"", "mark": "</tool_call>"}',
        '{"text": "\\ud83d\\ude00 \\u00e9 \\n", "raw": "é😀", "half": "\ud83d"}',
    ],
)
COUNTS = st.sampled_from([None, 0, 3, 99])
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS)
BROKEN = st.sampled_from(["cd /tmp", "{'a': 1}", "[1]", '{"a" 1}', "null"])


def examples(share: int = 1) -> settings:
    """2,000 examples, ten times as many in the long mode; `share`: a heavy test runs only a part of them."""
    return settings(max_examples=(20_000 if settings().max_examples >= 2000 else 2000) // share)


@st.composite
def pieces(draw, text: str) -> list[str]:
    """A text, cut anywhere."""
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=3))
    bounds = sorted([0, *cuts, len(text)])
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
    numbered = draw(st.booleans())  # an engine that does not number its blocks is legal too
    for part in range(count) if numbered else [0] * count:
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
    return [*events, draw(USAGES), Finish(reason)]
