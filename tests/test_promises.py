"""The promises P1 to P9, for every dialect, on turns and on nonsense made of its own marks.

`make test` runs 2,000 examples of each promise, spread over the dialects; `pytest --long` runs 2,000 for each dialect.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import corpus
import pytest
from corpus import plain
from garble import OFFERS, PLACES, TOOLS, cut_up, marks_of, prompts, soup, texts, turns
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import Piece, Setting, merge, numbered, play, singly, tokens, turn_of

from dragoman import api
from dragoman.errors import UsageError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning
from dragoman.messages import Call, Text, Turn
from dragoman.syntax.decode import Policy, fold

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


# --- P1


@for_each
def test_p1_decoding_never_raises(name: str):
    @examples()
    @given(scenes(name), PLACES, st.sampled_from(REASONS))
    def check(scene, places, reason):
        made, pieces, _ = scene
        parser = made.parser()
        for text, special in cut_up(pieces, places):
            assert isinstance(parser.feed(text, special), list)
        parser.close(reason)

    check()


@for_each
def test_p1_any_piece_may_be_called_special(name: str):
    @examples(4)
    @given(st.lists(st.tuples(texts(api.get(name)), st.booleans()), max_size=4), OFFERED)
    def check(pieces, tools):
        play(Setting(api.get(name), OFFERS[tools], "", numbered(marks_of(api.get(name)))), pieces)

    check()


# --- P2


@for_each
def test_p2_what_was_said_depends_on_the_text_alone(name: str):
    @examples()
    @given(scenes(name), PLACES)
    def check(scene, places):
        made, pieces, finish = scene
        said = said_after_each_character(made, pieces)
        parser, events, at = made.parser(), [], 0
        for text, special in cut_up(pieces, places):
            events += parser.feed(text, special)
            at += len(text)
            assert merge(events) == said[at], raw_of(pieces)[:at]
        events += parser.close(finish)
        assert merge(events) == merge(play(made, singly(pieces), finish))

    check()


def said_after_each_character(made: Setting, pieces: list[Piece]) -> dict[int, list[Event]]:
    parser, events, at = made.parser(), [], 0
    said: dict[int, list[Event]] = {0: []}
    for text, special in singly(pieces):
        events += parser.feed(text, special)
        at += len(text)
        said[at] = merge(events)
    return said


# --- P4


@for_each
def test_p4_little_is_held_back(name: str):
    """Without tools nothing is structured, so no text may wait longer than a mark and white space."""
    dialect = api.get(name)
    longest = 256 + 2 * max(map(len, marks_of(dialect)))

    @examples(4)
    @given(texts(dialect), st.integers(1, 6), prompts(dialect))
    def check(raw, times, prompt):
        spans: list[tuple[int, int, str]] = []
        made, raw = Setting(dialect, (), prompt), (raw + "\n") * times
        play(made, [(raw, False)], "stop", spans)
        parser, said = made.parser(), 0
        for fed, char in enumerate(raw, 1):
            said += sum(len(event.text) for event in parser.feed(char) if isinstance(event, Content | Reasoning))
            due = sum(max(min(end, fed - longest) - start, 0) for start, end, role in spans if role != "markup")
            assert said >= due, (raw, fed)

    check()


# --- P5


@for_each
def test_p5_one_finish_after_all_closers(name: str):
    @examples()
    @given(scenes(name), st.sampled_from(REASONS), st.integers(0, 30))
    def check(scene, reason, cut):
        made, pieces, _ = scene
        in_order(play(made, pieces[:cut], reason), reason)

    check()


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


@for_each
def test_p5_after_the_end_of_the_turn_nothing_is_content(name: str):
    dialect = api.get(name)

    @examples(4)
    @given(texts(dialect), texts(dialect))
    def check(before, after):
        parser = Setting(dialect, TOOLS).parser()
        parser.feed(before)
        for end in dialect.ends:
            parser.feed(end, True)
        if parser.ended:
            said = [event for text in (after, *after) for event in parser.feed(text)]
            assert all(isinstance(event, Notice) for event in said)
            assert len(said) <= 1

    check()


# --- P6


@for_each
def test_p6_valid_means_that_it_parses(name: str):
    @examples()
    @given(scenes(name))
    def check(scene):
        for call in turn_of(play(*scene)).calls:
            whole = parsed(call.arguments)
            if call.valid:
                assert isinstance(whole, dict)
            if call.complete and isinstance(whole, dict):
                assert call.valid
            if call.missing:
                assert not call.complete
                assert parsed(call.arguments + call.missing) is not None

    check()


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@for_each
def test_p6_nothing_half_read_is_shown_as_whole(name: str):
    """At every cut of a well-formed turn: what a call has so far is a beginning of what it will have."""
    dialect = api.get(name)

    @examples(10)
    @given(turns(dialect))
    def check(turn):
        try:
            raw = api.encode(dialect, turn)
        except UsageError:
            return
        begins_everywhere(Setting(dialect, TOOLS), raw)

    check()


def begins_everywhere(made: Setting, raw: str, finish: str = "length") -> None:
    whole = turn_of(play(made, [(raw, False)])).calls
    for at in range(len(raw)):
        cut = turn_of(play(made, [(raw[:at], False)], finish)).calls
        assert len(cut) <= len(whole)
        for i, (part, full) in enumerate(zip(cut, whole, strict=False)):
            if full.valid:
                begins(part, full, last=i == len(cut) - 1, text=raw[:at])


def begins(part: Call, full: Call, *, last: bool, text: str) -> None:
    assert part.name == full.name, text
    shown = pairs(part.arguments + ("" if part.complete else part.missing))
    if part.complete:
        assert shown == pairs(full.arguments), text
    else:
        assert last, text
        assert is_beginning(shown, pairs(full.arguments)), (text, part.arguments, part.missing)


def pairs(text: str) -> Any:
    """A JSON value whose objects are lists of pairs, so that order and repeated keys show."""
    return plain(json.loads(text, object_pairs_hook=lambda items: ["object", *map(list, items)]))


def is_beginning(part: Any, full: Any) -> bool:
    """Whether `full` can be what `part` becomes: only the last string or container may be unfinished."""
    if isinstance(part, list) and isinstance(full, list) and len(part) <= len(full):
        *done, last = part or [None]
        return not part or (plain(done) == plain(full[: len(done)]) and is_beginning(last, full[len(done)]))
    if isinstance(part, str) and isinstance(full, str):
        return full.startswith(part)
    return bool(part == full)


# --- P7


@for_each
def test_p7_a_turn_is_the_fold_of_its_stream(name: str):
    @examples()
    @given(scenes(name))
    def check(scene):
        made, pieces, finish = scene
        events = play(made, pieces, finish)
        turn = turn_of(events)
        assert fold(events) == turn
        assert turn.content == "\n".join(part.text for part in turn.parts if isinstance(part, Text))
        if made.specials is None:
            assert (
                api.decode(
                    made.dialect, raw_of(pieces), made.tools, prompt=made.prompt, finish=finish, policy=made.policy
                )
                == turn
            )

    check()


# --- P8


@for_each
def test_p8_the_trace_tiles_the_text(name: str):
    @examples()
    @given(scenes(name), PLACES)
    def check(scene, places):
        made, pieces, finish = scene
        spans: list[tuple[int, int, str]] = []
        events = play(made, cut_up(pieces, places), finish, spans)
        tiles(raw_of(pieces), spans, events)

    check()


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


@for_each
def test_p8_no_word_is_lost(name: str):
    """A word that stands anywhere is said, or a notice carries it."""
    dialect = api.get(name)

    @examples(2)
    @given(soup(dialect), soup(dialect), OFFERED, prompts(dialect), FINISHES)
    def check(before, after, tools, prompt, finish):
        raw = f"{before}{WORD}{after}"
        events = play(Setting(dialect, OFFERS[tools], prompt), [(raw, False)], finish)
        fields = [str(getattr(event, key, "")) for event in events for key in ("text", "name", "json", "raw")]
        calls = turn_of(events).calls
        assert WORD in "\n".join(fields) or any(WORD in call.arguments for call in calls), (raw, events)

    check()


WORD = "Qzx7"


# --- P9


@for_each
def test_p9_what_is_encoded_decodes_to_the_same(name: str):
    """Turns whose arguments are full of marks; a dialect may be unable to write only a few of them."""
    tally: Counter[str] = Counter()

    @examples()
    @given(turns(api.get(name)), PLACES)
    def check(turn, places):
        tally[goes_round(name, turn, places)] += 1

    check()
    assert tally["written"] > 9 * tally["refused"], tally


@for_each
def test_p9_text_with_marks_is_refused_or_decodes_to_the_same(name: str):
    @examples(2)
    @given(turns(api.get(name), marked=True), PLACES)
    def check(turn, places):
        goes_round(name, turn, places)

    check()


def goes_round(name: str, turn: Turn, places: list[int]) -> str:
    dialect = api.get(name)
    try:
        raw = api.encode(dialect, turn, prompt=dialect.begins)
    except UsageError:
        return "refused"
    back = turn_of(play(Setting(dialect, TOOLS, dialect.begins), cut_up([(raw, False)], places)))
    assert equal(back, turn), raw
    return "written"


def equal(back: Turn, turn: Turn) -> bool:
    """Equal but for the ids; arguments as JSON values."""
    return (
        back.finish == turn.finish
        and corpus.same_parts(back, turn)
        and [type(p) for p in back.parts] == [type(p) for p in turn.parts]
    )


# --- every cut of every case


@pytest.mark.parametrize("path", corpus.files(), ids=lambda path: path.stem)
def test_p5_p6_p8_a_cut_at_every_place_of_the_corpus(path):
    for case in corpus.load(path):
        made = Setting(api.get(case.dialect), case.tools, case.prompt, None, Policy(**case.policy))
        for at in range(len(case.raw)):
            spans: list[tuple[int, int, str]] = []
            events = play(made, [(case.raw[:at], False)], "length", spans)
            in_order(events, "length")
            tiles(case.raw[:at], spans, events)
