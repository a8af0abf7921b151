from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.syntax.grammar import EMPTY, NEVER, Rule, alt, literal, maybe, repeat, seq
from dragoman.syntax.recursion import check_recursion, productive, straightened

A, B = literal("a"), literal("b")


def test_a_rule_that_begins_with_itself_is_written_from_left_to_right():
    rule = Rule("r")
    rule.node = alt(seq(rule, A), seq(rule, B), B)
    assert straightened(rule) == seq(B, repeat(alt(A, B)))
    rule.node = seq(A, rule)
    assert straightened(rule) == seq(A, rule)
    rule.node = alt(rule, A)
    assert straightened(rule) == A


@pytest.mark.parametrize(
    "first",
    [
        lambda other: other,
        lambda other: seq(maybe(A), other),
        lambda other: seq(repeat(other), A),
        lambda other: alt(A, other),
    ],
)
def test_two_that_begin_with_each_other_are_refused(first):
    one, two = Rule("one"), Rule("two")
    one.node, two.node = alt(seq(two, A), A), first(one)
    with pytest.raises(UsageError, match="begins with itself"):
        check_recursion([one, two])


def test_one_that_never_ends_is_refused():
    one, two = Rule("one"), Rule("two")
    one.node, two.node = seq(A, two), alt(seq(A, one), seq(B, two))
    with pytest.raises(UsageError, match="never ends"):
        check_recursion([one, two])
    two.node = alt(two.node, EMPTY)
    check_recursion([one, two])


def test_what_no_text_satisfies_goes():
    dead, live = Rule("dead"), Rule("live")
    dead.node, live.node = seq(A, dead), alt(seq(A, dead), seq(A, live), B)
    found = productive(seq(live, maybe(dead)))
    assert isinstance(found, Rule)
    assert found.node == alt(seq(A, found), B)
    assert productive(dead) == NEVER
    assert productive(live.node) is not NEVER
    whole = seq(A, maybe(B))
    assert productive(whole) is whole
