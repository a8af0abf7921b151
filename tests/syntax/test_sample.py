"""Samples are texts of the grammar."""

from __future__ import annotations

import random

from grammars import accepts, schemas
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.syntax.grammar import NEVER, Rule, alt, literal, repeat, seq, text
from dragoman.syntax.sample import sample
from dragoman.syntax.schema import value


@settings(max_examples=300)
@given(schemas, st.integers(0, 2**32))
def test_a_sample_is_allowed(schema: dict[str, object], seed: int):
    node = value(schema)
    if node != NEVER:
        assert accepts(node, sample(node, random.Random(seed).randrange, size=60))


def test_the_same_chance_gives_the_same_text():
    node = value({"type": "object"})
    assert sample(node, random.Random(5).randrange) == sample(node, random.Random(5).randrange)


@given(st.integers(0, 2**32))
def test_recursion_ends(seed: int):
    rule = Rule("tree")
    rule.node = alt(seq(literal("("), repeat(rule, 2, 3), literal(")")), literal("x"))
    assert len(sample(rule, random.Random(seed).randrange, size=50)) < 2000


@given(st.integers(0, 2**32), st.integers(0, 5))
def test_texts_keep_their_bounds(seed: int, low: int):
    node = text(["</x>"], low, low + 2)
    assert accepts(node, sample(node, random.Random(seed).randrange))
