"""Lark as printed, checked by llguidance itself: it lets pass what the tree allows, and nothing else."""

from __future__ import annotations

import random

import pytest
from grammars import accepts, ids, lark_accepts, lark_error, schemas
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import UsageError
from dragoman.syntax.grammar import NEVER, Mark, Rule, alt, chars, literal, maybe, repeat, seq, text
from dragoman.syntax.lark import lark
from dragoman.syntax.sample import sample
from dragoman.syntax.schema import value

MARKS = ("<a>", "</a>")
IDS = ids(MARKS)


def test_it_says_for_whom_it_is():
    assert lark(literal("x")) == '%llguidance {}\nstart: "x"\n'


def test_special_tokens_part_terminals():
    inner = text(["</a>"], name="inside")
    assert lark(seq(Mark("<a>"), inner, Mark("</a>"), Mark("<b>")), IDS) == (
        '%llguidance {}\nstart: <[257]> INSIDE <[258]> "<b>"\n'
        r"INSIDE: /(?s:.*)/ & ~/(?s:.*)(<[\x{20}\x{9}]{0,2}\x{2F}[\x{20}\x{9}]{0,2}a[\x{20}\x{9}]{0,2}>)(?s:.*)/"
        "\n"
    )


def test_what_no_text_satisfies_is_an_error():
    with pytest.raises(UsageError, match="admits no value"):
        lark(NEVER)


marks = st.lists(st.text("ab<>/", min_size=1, max_size=4), min_size=1, max_size=2)


@settings(max_examples=300)
@given(marks, st.integers(0, 3), st.integers(0, 6), st.text("ab<>/", max_size=9), st.sampled_from(["", "a<"]))
def test_a_text_is_exact(found: list[str], low: int, more: int, written: str, opens: str):
    node = seq(text(found, low, low + more, before=found[0], opens=opens), literal(found[0]))
    assert lark_accepts(lark(node), list((written + found[0]).encode())) is accepts(node, written + found[0])


def test_a_group_that_may_be_left_out_does_not_hide_what_follows():
    """Terminals are greedy: joined into one with what stands before them, the first group would shut out the second."""
    deep = Rule("deep")
    deep.node = alt(literal("x"), seq(literal("("), deep, literal(")")))
    node = seq(literal("{"), chars("0-9"), maybe(literal(", ab")), maybe(seq(literal(", ac"), deep)), literal("}"))
    grammar = lark(node)
    for written in ("{1}", "{1, ab}", "{1, ac(x)}", "{1, ab, acx}"):
        assert lark_accepts(grammar, list(written.encode())), written


@settings(max_examples=200)
@given(schemas, st.integers(0, 2**32))
def test_what_the_tree_writes_passes(schema: dict[str, object], seed: int):
    node = value(schema)
    if node == NEVER:
        return
    written = sample(node, random.Random(seed).randrange, size=80)
    assert lark_accepts(lark(node), list(written.encode())), written


@pytest.mark.parametrize("high", [None, 3])
def test_special_tokens_are_not_their_letters(high: int | None):
    grammar = lark(seq(Mark("<a>"), text(MARKS, 0, high), Mark("</a>")), IDS)
    assert lark_error(grammar, MARKS) == ""
    assert lark_accepts(grammar, [257, *b"x<a", 258], MARKS)
    assert not lark_accepts(grammar, [257, *b"x</a>"], MARKS)
    assert not lark_accepts(grammar, [*b"<a>x", 258], MARKS)


def test_names():
    rule = Rule("1-b.C", seq(literal("x"), repeat(chars("a-z"))))
    loop = Rule("Loop")
    loop.node = alt(literal("y"), seq(literal("("), loop, rule, rule))
    assert lark(seq(loop, rule)) == (
        '%llguidance {}\nstart: loop PART_1_B_C\nloop: "y" | "(" loop TEXT\nPART_1_B_C: "x" (/[a-z]/*)\nTEXT: PART_1_B_C PART_1_B_C\n'
    )
