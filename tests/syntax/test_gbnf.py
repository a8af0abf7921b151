"""GBNF as printed; llguidance's converter reads it as a lint, the real engine in `test_constrained_engine`."""

from __future__ import annotations

import re

import pytest
from grammars import lark_error
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance.gbnf_to_lark import gbnf_to_lark

from dragoman.errors import UsageError
from dragoman.syntax.gbnf import gbnf
from dragoman.syntax.grammar import (
    ANY,
    EMPTY,
    NEVER,
    Literal,
    Mark,
    Node,
    Rule,
    alt,
    chars,
    literal,
    maybe,
    repeat,
    seq,
    text,
)

CHAR = chars("a-z")


def printed(node: Node, **specials: int) -> str:
    return gbnf(node, {f"<{name}>": number for name, number in specials.items()})


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (literal('a"\\\n\t\x01é'), r'"a\"\\\n\t\x01é"'),
        (EMPTY, '""'),
        (seq(alt(literal("a"), literal("b")), literal("c")), '("a" | "b") "c"'),
        (maybe(literal("ab")), '("ab")?'),
        (repeat(CHAR, 2, 5), "[a-z]{2,5}"),
        (repeat(CHAR, 2), "[a-z]{2,}"),
        (repeat(CHAR, 3, 3), "[a-z]{3}"),
        (repeat(CHAR), "[a-z]*"),
        (repeat(CHAR, 1), "[a-z]+"),
        (chars('-"]^\\/', negated=True), r"[^\x2D\x22\x5D\x5E\x5C\x2F]"),
        (chars("\u2028\U000e0001"), r"[\u2028\U000E0001]"),
        (chars("x"), '"x"'),
        (ANY, "[^\\x00]"),
        (seq(Mark("<t>"), literal("x")), '"<t>x"'),
    ],
)
def test_each_node(node: Node, expected: str):
    assert printed(node) == f"root ::= {expected}\n"


def test_a_mark_that_is_a_special_token_is_a_reference():
    assert printed(seq(Mark("<t>"), literal("x<t>"), Mark("<u>")), t=7) == 'root ::= <[7]> "x<t><u>"\n'


def test_rules_have_readable_names_and_none_twice():
    one, two = Rule("my_tool.x", CHAR), Rule("my tool x", repeat(CHAR))
    assert printed(seq(one, two, one, Rule("root", CHAR), Rule("日本", CHAR))) == (
        "root ::= my-tool-x my-tool-x-2 my-tool-x root-2 part\n"
        "my-tool-x ::= [a-z]\nmy-tool-x-2 ::= [a-z]*\nroot-2 ::= [a-z]\npart ::= [a-z]\n"
    )


def test_what_no_text_satisfies_is_an_error():
    with pytest.raises(UsageError, match="admits no value"):
        printed(NEVER)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1000), (0, 4000), (1500, None), (1200, 2600), (250, 1001), (0, 1001), (3000, 3000)]
)
def test_a_large_bound_is_cut_into_blocks_and_stays_exact(low: int, high: int | None):
    grammar = gbnf(seq(literal("x"), repeat(CHAR, low, high), literal(".")))
    assert len(grammar) < 200
    assert lark_error(gbnf_to_lark(grammar)) == ""
    counts = {0}
    for name, least, most in re.findall(r"(block|\[a-z\])\{(\d+)(?:,(\d+))?\}(?!\n)", grammar.partition("\n")[0] + " "):
        size = 250 if name == "block" else 1
        counts = {count + size * n for count in counts for n in range(int(least), int(most or least) + 1)}
    assert counts == ({low} if high is None else set(range(low, high + 1)))
    assert ("[a-z]*" in grammar) is (high is None)


nodes = st.recursive(
    st.sampled_from([Literal("a"), Literal('"\\'), CHAR, ANY, Mark("<t>"), chars("^]-"), text(["</x>"]), EMPTY]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: seq(*parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: alt(*parts)),
        st.tuples(inner, st.integers(0, 2), st.none() | st.integers(2, 3)).map(lambda x: repeat(*x)),
        inner.map(lambda node: Rule("part", node)),
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(nodes)
def test_whatever_is_printed_can_be_read(node: Node):
    assert lark_error(gbnf_to_lark(gbnf(node))) == ""
