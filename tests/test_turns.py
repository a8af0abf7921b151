"""The promises P6 to P9: what a turn says, however far it got, and that it can be written again."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import corpus
import pytest
from corpus import plain
from garble import OFFERS, PLACES, TOOLS, cut_up, prompts, soup, turns
from hypothesis import given
from scenes import FINISHES, OFFERED, examples, for_each, in_order, raw_of, scenes, tiles
from streams import Setting, play, turn_of

from dragoman import api
from dragoman.errors import UsageError
from dragoman.events import Notice
from dragoman.messages import Call, Text, Turn
from dragoman.syntax.decode import Policy, fold

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
        told = any(
            isinstance(event, Notice) and event.code in TELLS and event.at <= raw.index(WORD) for event in events
        )
        assert told or WORD in "\n".join(fields) or any(WORD in call.arguments for call in calls), (raw, events)

    check()


WORD = "Qzx7"
TELLS = ("cut", "after-end")  # from there on: what a cut withholds, and what is too long to repeat


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
    assert tally["refused"] <= 4 + tally["written"] // 4, tally  # of twenty turns a few may be unlucky ones


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
