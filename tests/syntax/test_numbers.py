"""Integers and numbers between bounds, checked against Python's own."""

from __future__ import annotations

import json
import random

from grammars import accepts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.grammar import NEVER
from dragoman.syntax.numbers import INTEGER, NUMBER, integers, numbers
from dragoman.syntax.sample import sample

bound = st.none() | st.integers(-1500, 1500) | st.sampled_from([10**9, -(10**12), 99, 100, 101, 1000, -99, -100])
number = st.integers(-1600, 1600) | st.integers(-(10**13), 10**13)


@settings(max_examples=2000)
@given(bound, bound, number)
def test_integers_are_exact(low: int | None, high: int | None, one: int):
    inside = (low is None or low <= one) and (high is None or one <= high)
    assert accepts(integers(low, high), str(one)) is inside


@given(bound, bound)
def test_integers_write_no_zeros_in_front(low: int | None, high: int | None):
    assert not any(accepts(integers(low, high), text) for text in ("007", "+1", "", "-", "1.0", "1e3"))


@settings(max_examples=1000)
@given(
    st.none() | st.floats(-500, 500),
    st.none() | st.floats(-500, 500),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_numbers_are_within(low: float | None, high: float | None, above: bool, below: bool, seed: int):
    node = numbers(low, high, above=above, below=below)
    if node == NEVER:
        assert low is not None
        assert high is not None
        assert high - low < 1
        return
    one = json.loads(sample(node, random.Random(seed).randrange))
    assert low is None or (one > low if above else one >= low)
    assert high is None or (one < high if below else one <= high)


@given(st.integers(0, 2**32))
def test_every_number_is_finite_json(seed: int):
    pick = random.Random(seed).randrange
    assert abs(json.loads(sample(NUMBER, pick))) < 1e120
    assert isinstance(json.loads(sample(INTEGER, pick)), int)


def test_a_probability():
    node = numbers(0, 1)
    assert all(accepts(node, text) for text in ("0", "1", "0.5", "0.0001"))
    assert not any(accepts(node, text) for text in ("1.5", "-0.5", "2", "1.0000001"))
