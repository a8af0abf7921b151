"""The automaton of a text: it reads every text without the forbidden spellings, and no other."""

from __future__ import annotations

import re

import pytest
from grammars import accepts
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.automaton import automaton, endings
from dragoman.syntax.grammar import literal, seq, spelled, text
from dragoman.syntax.reader import spelling

words = st.lists(st.text("ab<>/=", min_size=1, max_size=4), min_size=1, max_size=3)
pieces = st.lists(st.sampled_from(list("ab<>/= \t|")), max_size=14).map("".join)


def holds(written: str, marks: list[str]) -> bool:
    """Whether the reader would find one of the marks."""
    return any(re.search("".join(spelling(mark)), written) for mark in marks)


@settings(max_examples=2000)
@given(words, pieces)
def test_it_accepts_exactly_what_holds_no_forbidden_spelling(marks: list[str], written: str):
    assert accepts(text(marks), written) is not holds(written, marks)


@given(words, pieces)
def test_it_accepts_a_forbidden_word_nowhere(marks: list[str], written: str):
    assert not accepts(text(marks), written + marks[0] + written)


@pytest.mark.parametrize(
    "found", ["</tool_call>", "</ tool_call >", "<\t/tool_call>", "a</</tool_call>", "</tool_call></tool_call>"]
)
def test_every_spelling_of_a_tag_is_kept_out(found: str):
    assert not accepts(text(["</tool_call>"]), found)


@pytest.mark.parametrize(
    "found", ["<", "</", "</tool_cal", "</tool_callx>", "<</tool_", "<tool_call>", "</tool_call", ""]
)
def test_beginnings_and_near_misses_are_allowed(found: str):
    assert accepts(text(["</tool_call>"]), found)


@pytest.mark.parametrize("bar", ["|", "||", "｜", "‖", "|｜"])
def test_bars_are_kept_out_in_every_form(bar: str):
    assert not accepts(text(['<|"|>']), f'a<{bar}"|>')


@settings(max_examples=1000)
@given(st.text("ab", min_size=1, max_size=4), st.lists(st.sampled_from("abc"), max_size=8).map("".join))
def test_the_first_end_mark_is_the_real_one(mark: str, written: str):
    """With marks that overlap themselves, the text may not end so that an earlier end mark comes to be."""
    first = (written + mark).find(mark)
    assert accepts(seq(text([mark], before=mark), literal(mark)), written + mark) is (first == len(written))


def test_a_text_may_not_begin_with_some_characters():
    assert accepts(text(["x"], opens="12"), "a12")
    assert not accepts(text(["x"], opens="12"), "1a")
    assert accepts(text(["x"], opens="12"), "")


def test_the_automaton_is_small():
    machine = automaton(
        text(["</parameter>", "<parameter=", "<tool_call>", "</function>", "</tool_call>", "<function="])
    )
    assert len(machine.edges) < 100


def test_endings_are_beginnings_that_what_follows_would_complete():
    assert endings(text(["aba"], before="baba")) == (spelled("a"),)
    assert endings(text(["</x>"], before="</x>")) == ()


def test_blanks_within_a_mark():
    node = text(["a b"])
    assert not accepts(node, "a b")
    assert not accepts(node, "xa  b")
    assert accepts(node, "ab")
