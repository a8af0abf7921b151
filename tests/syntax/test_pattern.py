"""Simple patterns as grammar, checked against Python's `re`."""

from __future__ import annotations

import random
import re

import pytest
from grammars import accepts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.grammar import Node
from dragoman.syntax.pattern import pattern, span
from dragoman.syntax.sample import sample

READ = [
    "^[a-z]+$", "^(foo|bar)baz$", "^\\d{4}-\\d{2}-\\d{2}$", "[A-Z]", "^a|b$", "^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$", "^$", "a.b",
    "^(?:x(?<name>y)?)*$", "^[\\w.-]{1,3}$", "^\\u0041\\x42$", "^a{2}b{1,}c{0,2}?$", "^[]$|x".replace("[]", "[\\]]"), "^-?[1-9]\\d*$", "^[\\b\\-x]$",
]  # fmt: skip
UNREAD = [
    "(?=x)",
    "(?!x)y",
    "(a)\\1",
    "\\bword\\b",
    "a^b",
    "a$b",
    "[",
    "(",
    "*a",
    "a**",
    "\\p{L}",
    "a{3,5000}",
    "(?i)x",
    "[]",
]


def read(regex: str) -> Node:
    found = pattern(regex)
    assert found is not None
    return found


@settings(max_examples=1500)
@given(st.sampled_from(READ), st.text("abcxyzfo0219-@.AB ]\n", max_size=8))
def test_it_matches_what_python_matches(regex: str, text: str):
    theirs = re.search(regex.replace("(?<name>", "(?P<name>").replace("$", r"\Z"), text, re.ASCII) is not None
    assert accepts(read(regex), text) is theirs


@given(st.sampled_from(READ), st.integers(0, 2**32))
def test_what_it_writes_matches(regex: str, seed: int):
    assert re.search(regex.replace("(?<name>", "(?P<name>"), sample(read(regex), random.Random(seed).randrange))


@pytest.mark.parametrize("regex", UNREAD)
def test_what_is_not_simple_is_not_read(regex: str):
    assert pattern(regex) is None


@given(st.text("ab[](){}^$|*+?\\.,-0d<=!", max_size=12))
def test_reading_never_fails(regex: str):
    pattern(regex)


@pytest.mark.parametrize(
    ("regex", "expected"), [("^ab{2,4}$", (3, 5)), ("^(a|bcd)?$", (0, 3)), ("^a*$", (0, None)), ("a", (1, None))]
)
def test_span(regex: str, expected: tuple[int, int | None]):
    assert span(read(regex)) == expected


def test_groups_inside_groups_have_a_limit():
    assert pattern("(" * 40 + "a" + ")" * 40) is not None
    assert pattern("(" * 5000 + "a" + ")" * 5000) is None
    assert pattern("(a)" * 500) is not None


@pytest.mark.parametrize(
    "regex",
    [
        "a" * 2001,
        "^((((a{1,999}){1,999}){1,999}){1,999})$",
        "^" + "(a|b){0,1000}" * 20 + "$",
        "^(a{1000}){5}$",
    ],
)
def test_what_would_cost_an_engine_much_is_not_read(regex: str):
    assert pattern(regex) is None
