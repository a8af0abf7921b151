"""An explanation is the live turn again: same events, every character told of, nothing known too early."""

from __future__ import annotations

from dataclasses import replace

import corpus
import pytest
from streams import merge, singly, turn_of

from dragoman import api
from dragoman.cases.case import Case
from dragoman.cases.expect import problems
from dragoman.explanation import explain

CASES = [case for case in corpus.everything() if case.special][::7]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_says_what_the_case_means(case: Case):
    assert not problems(case, explain(case, api.get(case.dialect)).turn)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_tiles_cover_the_text_and_steps_know_no_more_than_was_read(case: Case):
    found = explain(replace(case, pieces=tuple(singly(case.pieces))), api.get(case.dialect))
    edges = [0, *(tile.end for tile in found.tiles)]
    assert [tile.start for tile in found.tiles] == edges[:-1]
    assert edges[-1] == len(case.raw)
    known = [step.known for step in found.steps]
    assert known == sorted(known)
    assert all(step.held >= 0 for step in found.steps)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_shown_after_a_piece_is_what_a_shorter_text_shows(case: Case):
    """The slider of a page and `--step` rest on this: a step's events are those of the text up to there."""
    pieces = tuple(singly(case.pieces))
    found = explain(replace(case, pieces=pieces), api.get(case.dialect))
    middle = len(pieces) // 2
    part = explain(replace(case, pieces=pieces[:middle]), api.get(case.dialect))
    events = [event for step in found.steps[:middle] for event in step.events]
    assert [event for step in part.steps[:-1] for event in step.events] == events


def test_a_stop_string_leaves_the_rest_unread():
    case = Case("hermes-json", "t", (("one two three", False),), stop=("two",))
    found = explain(case, api.get("hermes-json"))
    assert found.turn.content == "one "
    assert merge(list(found.events))
    assert turn_of(list(found.events)).stop == "two"
