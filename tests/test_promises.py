"""The promises P1, P2, P4 and P5, for every dialect, on nonsense made of its own marks.

`make test` runs 2,000 examples of each promise, spread over the dialects; `pytest --long` runs 2,000 for each dialect.
P3 is in `test_cost`, P6 to P9 in `test_turns`, P10 in `test_layers`.
"""

from __future__ import annotations

from garble import OFFERS, PLACES, TOOLS, cut_up, marks_of, prompts, texts
from hypothesis import given
from hypothesis import strategies as st
from scenes import (
    OFFERED,
    REASONS,
    examples,
    for_each,
    in_order,
    raw_of,
    said_after_each_character,
    scenes,
)
from streams import Setting, merge, numbered, play, singly

from dragoman import api
from dragoman.events import Finish, Notice

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
        due = [0] * (len(raw) + 1)  # how many characters, white space aside, must be out when so many came in
        for start, end, role in spans:
            for at in range(start, end if role != "markup" else start):
                due[min(at + longest, len(raw))] += not raw[at].isspace()
        for fed, char in enumerate(raw):
            said += sum(len("".join(event.text.split())) for event in parser.feed(char) if hasattr(event, "text"))
            assert said >= sum(due[: fed + 1]), (raw, fed)

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


@for_each
def test_p5_the_end_comes_once(name: str):
    @examples(8)
    @given(scenes(name))
    def check(scene):
        made, pieces, finish = scene
        parser = made.parser()
        for text, special in pieces:
            parser.feed(text, special)
        assert isinstance(parser.close(finish)[-1], Finish)
        assert parser.close(finish) == []
        assert parser.feed("more") == []
        assert parser.close("error") == []

    check()


@for_each
def test_p2_parsers_know_nothing_of_one_another(name: str):
    """Two turns, read in turns, piece by piece."""

    @examples(8)
    @given(scenes(name), scenes(name))
    def check(one, other):
        said = {0: [], 1: []}
        parsers = [made.parser() for made, *_ in (one, other)]
        queues = [singly(pieces) for _, pieces, _ in (one, other)]
        for at in range(max(map(len, queues))):
            for i, queue in enumerate(queues):
                if at < len(queue):
                    said[i] += parsers[i].feed(*queue[at])
        for i, (made, pieces, finish) in enumerate((one, other)):
            assert merge(said[i] + parsers[i].close(finish)) == merge(play(made, singly(pieces), finish))

    check()
