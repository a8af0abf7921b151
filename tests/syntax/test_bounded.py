"""Texts as rules: the same language where it is counted exactly, a part of it where it is not, and always small."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from grammars import accepts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.bounded import rules
from dragoman.syntax.gbnf import gbnf
from dragoman.syntax.grammar import NEVER, Node, Text, text
from dragoman.syntax.sample import sample

CLOSE = "</parameter>"
bounds = st.tuples(st.integers(0, 6), st.integers(0, 10)).map(lambda b: (b[0], b[0] + b[1]))


def free(low: int, high: int | None, *marks: str, opens: str = "") -> Text:
    found = text(marks or (CLOSE,), low, high, opens=opens)
    assert isinstance(found, Text)
    return found


@settings(max_examples=1000)
@given(
    st.text("ab<>/", min_size=1, max_size=4), bounds, st.text("ab<>/", max_size=12), st.sampled_from(["", "a", "<b"])
)
def test_small_bounds_are_exact(mark: str, low_high: tuple[int, int], written: str, opens: str):
    node = free(*low_high, mark, opens=opens)
    assert accepts(rules(node), written) == accepts(node, written)


@settings(max_examples=300)
@given(st.sampled_from([40, 100, 300, 1000, 4000]), st.integers(0, 2**32), st.sampled_from([0, 1, 30]))
def test_large_bounds_keep_what_they_promise(high: int, seed: int, low: int):
    node = free(low, high)
    written = sample(rules(node), random.Random(seed).randrange, size=5000)
    assert low <= len(written) <= high
    assert accepts(node, written)


@pytest.mark.parametrize("high", [60, 250, 1000, 4000])
def test_large_bounds_give_up_little(high: int):
    """Plain text reaches seven eighths of the bound, also with many stray tags in the first half."""
    node = rules(free(0, high))
    assert accepts(node, "x" * (high * 7 // 8))
    assert accepts(node, ("<b>x</b> a < b << c\n" * high)[: high // 2])
    assert accepts(node, "x" * (high // 2) + "</param")
    assert not accepts(node, "x" * (high + 1))


@settings(max_examples=500)
@given(st.integers(0, 60), st.integers(0, 40), st.integers(0, 2**32), st.sampled_from(["", "1<", "x"]), st.booleans())
def test_many_marks_in_small_bounds(low: int, more: int, seed: int, opens: str, ends: bool):
    node = free(
        low, low + more if ends else None, "</tool_call>", "<tool_call>", "<function=", "</function>", opens=opens
    )
    written = sample(rules(node), random.Random(seed).randrange, size=150)
    assert accepts(node, written)


@settings(max_examples=300)
@given(st.integers(0, 500), st.lists(st.sampled_from("aba"), max_size=10).map("".join))
def test_marks_that_overlap_what_follows(high: int, written: str):
    node = replace(free(0, high, "aba"), before="aba")
    assert not accepts(rules(node), written) or accepts(node, written)
    assert high > 90 or accepts(rules(node), written) == accepts(node, written)


def test_a_text_that_is_too_short_for_a_spelling_needs_no_automaton():
    assert gbnf(free(0, 10)) == "root ::= [^\\x00]{0,10}\n"


def test_no_text_at_all():
    assert rules(free(1, 1, "x", opens="")) != NEVER
    assert text(["x"], 3, 2) == NEVER


@pytest.mark.parametrize(
    ("high", "most"), [(None, 1_500), (10, 1_500), (20, 9_000), (100, 16_000), (4000, 40_000), (100_000, 40_000)]
)
def test_the_printed_text_stays_small(high: int | None, most: int):
    assert len(gbnf(free(0, high))) < most


def test_texts_of_one_kind_share_their_rules():
    def size(*bounds: int) -> int:
        from dragoman.syntax.grammar import seq

        parts: list[Node] = [free(0, high) for high in bounds]
        return len(gbnf(seq(*parts)))

    assert size(100, 100, 90, 80) < size(100) * 1.1
