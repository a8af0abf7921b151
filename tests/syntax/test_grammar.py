"""The tree and the functions that keep it small."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from grammars import accepts
from hypothesis import given
from hypothesis import strategies as st

from dragoman.syntax.grammar import (
    ANY,
    EMPTY,
    NEVER,
    Alt,
    Chars,
    Literal,
    Mark,
    Repeat,
    Rule,
    Seq,
    alt,
    chars,
    literal,
    markup,
    maybe,
    repeat,
    seq,
    text,
    tokenized,
)

A, B = Literal("a"), Literal("b")


def test_sequences_are_flat_and_literals_join():
    assert seq(A, seq(B, Mark("<x>")), EMPTY, A) == Seq((Literal("ab"), Mark("<x>"), A))
    assert seq(A) == A
    assert seq() == EMPTY


def test_alternatives_are_flat_and_unlike():
    assert alt(A, alt(B, A)) == Alt((A, B))
    assert alt(A, A) == A


def test_never_swallows_a_sequence_and_leaves_alternatives():
    assert seq(A, NEVER) == NEVER
    assert alt(A, NEVER) == A
    assert alt(NEVER) == NEVER
    assert maybe(NEVER) == EMPTY
    assert repeat(NEVER, 1) == NEVER
    assert repeat(A, 3, 2) == NEVER


def test_repetitions():
    assert repeat(A, 1, 1) == A
    assert repeat(A, 0, 0) == EMPTY
    assert repeat(EMPTY) == EMPTY
    assert maybe(A) == Repeat(A, 0, 1)


def test_a_template_is_cut_into_marks_and_text():
    assert markup("<tool_call>\n") == Mark("<tool_call>\n")
    assert markup("") == EMPTY


def test_a_template_is_parted_where_the_tokenizer_has_tokens():
    ids = {"<a>": 1, "<a><b>": 2, "｜D｜": 3, "\n\n": 4, "word": 5, "[": 6}
    assert tokenized(markup("<a>\n\nword"), ids) == Seq((Mark("<a>"), Literal("\n\nword")))
    assert tokenized(markup("<a><b>"), ids) == Mark("<a><b>")
    assert tokenized(markup("<｜D｜ call>["), ids) == Seq((Literal("<"), Mark("｜D｜"), Literal(" call>[")))
    assert tokenized(literal("<a>"), ids) == Literal("<a>")  # text of a value is no mark
    loop = Rule("loop")
    loop.node = alt(markup("x<a>"), seq(markup("("), loop))
    found = tokenized(loop, ids)
    assert found.node == alt(seq(literal("x"), Mark("<a>")), seq(literal("("), found))


def test_classes():
    assert chars("a-c_") == Chars((("a", "c"), ("_", "_")))
    assert "b" in chars("a-c_")
    assert "d" not in chars("a-c_")
    assert "\n" in ANY
    assert "-" in chars("+-")


@given(st.text("abcdefg", max_size=3), st.booleans())
def test_a_class_without_some_characters(excluded: str, negated: bool):
    one = chars("b-dx", negated=negated)
    assert all((c in one.less(excluded)) is (c in one and c not in excluded) for c in "abcdefgx")


def test_a_text_that_keeps_nothing_out_is_a_repetition():
    assert text([], 1, 3) == Repeat(ANY, 1, 3)
    assert text([""]) == Repeat(ANY, 0, None)


def test_a_rule_can_lead_back_to_itself():
    rule = Rule("list")
    rule.node = alt(A, seq(literal("("), rule, literal(")")))
    assert accepts(rule, "((a))")
    assert not accepts(rule, "((a)")
    assert repr(rule) == "Rule(name='list')"


def test_nodes_are_values():
    assert Literal("a") == A
    assert len({A, Literal("a"), text(["x"]), text(["x"], name="other")}) == 2
    with pytest.raises(FrozenInstanceError):
        A.text = "b"  # type: ignore[misc]
