"""Strings of each style: what they hold is what was meant."""

from __future__ import annotations

import json
import random

import pytest
from grammars import accepts
from hypothesis import given
from hypothesis import strategies as st

from dragoman.syntax.grammar import NEVER, Node
from dragoman.syntax.pattern import pattern
from dragoman.syntax.sample import sample
from dragoman.syntax.style import JSON, Strings, dumps, escaped, json_style, less

MARKS = ("</p>", "<p=")


def strings(wanted: Strings, *marks: str) -> Node:
    found = json_style(marks).string(wanted)
    assert found is not None
    return found


@given(st.text(max_size=12))
def test_every_json_string_is_allowed(text: str):
    assert accepts(strings(Strings()), dumps(text))
    assert accepts(strings(Strings()), json.dumps(text))


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_a_json_string_keeps_its_bounds(seed: int, low: int):
    text = json.loads(sample(strings(Strings(low, low + 3)), random.Random(seed).randrange))
    assert low <= len(text) <= low + 3


def test_lone_surrogates_stay_escaped():
    assert dumps("\ud800é") == '"\\ud800é"'
    assert dumps("é").encode() == b'"\xc3\xa9"'


@given(st.integers(0, 2**32), st.sampled_from([(0, None), (0, 9), (2, 30)]))
def test_json_within_marks_holds_none_of_them(seed: int, bounds: tuple[int, int | None]):
    written = sample(strings(Strings(*bounds), *MARKS), random.Random(seed).randrange, pool='ab<>/p="\\\n ')
    assert "</p>" not in written
    assert "<p=" not in written
    assert bounds[0] <= len(json.loads(written)) <= (bounds[1] or 10**9)


def test_json_within_marks_may_hold_everything_else():
    assert accepts(strings(Strings(), *MARKS), '"<b>x</b> \\" \\\\ <\\/p> <p"')
    assert not accepts(strings(Strings(), *MARKS), '"x</p>"')
    assert json_style(MARKS).key("a</p>") == NEVER
    assert json_style(MARKS).fixed(["</p>"], None) == NEVER


@pytest.mark.parametrize("regex", ['^"\\\\$', "^[\\s\\w]+$", '^[^a]"?$', "^[\\n-\\r]$", "^.$"])
def test_a_pattern_is_escaped(regex: str):
    node = pattern(regex)
    assert node is not None
    for seed in range(60):
        text = json.loads('"' + sample(escaped(node), random.Random(seed).randrange) + '"')
        assert accepts(node, text)


def test_a_pattern_without_some_characters():
    node = pattern("^(ab|[a-c<]{2}|<x)$")
    assert node is not None
    assert [accepts(less(node, "<a"), text) for text in ("ab", "bc", "<b", "<x")] == [False, True, False, False]
    assert less(less(node, "<a"), "abc") == NEVER


def test_words():
    assert JSON.words == ("null", "true", "false")
    assert JSON.values is JSON
