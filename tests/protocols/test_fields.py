from __future__ import annotations

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.protocols.fields import Fields, invalid, kind, missing, unsupported


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "a boolean"),
        ("", "a string"),
        (1, "an integer"),
        (1.5, "a number"),
        ({}, "an object"),
        ([], "an array"),
    ],
)
def test_kinds_in_words(value, words):
    assert kind(value) == words


def test_paths_lead_to_the_field():
    fields = Fields({"a": {"b": [{"c": 1}, {"c": {}}]}})
    inner = [*fields.inner("a").each("b")]
    assert inner[1].inner("c").param("d") == "a.b[1].c.d"
    assert fields.param("a") == "a"


def test_null_is_absent():
    fields = Fields({"a": None})
    assert "a" not in fields
    assert fields.flag("a", default=True) is True
    assert fields.text("a", "x") == "x"
    assert fields.integer("a", 3, 0) == 3
    assert fields.number("a", 0, 1) is None
    assert fields.mapping("a") == {}
    assert fields.items("a") == ()


def test_whole_numbers_may_be_written_with_a_point():
    assert Fields({"a": 3.0}).integer("a", None, 0) == 3
    with pytest.raises(RequestError):
        Fields({"a": float("inf")}).integer("a", None, 0)


def test_first_is_the_first_that_is_given():
    assert Fields({"b": 1, "a": None}).first("a", "b") == "b"
    assert Fields({}).first("a", "b") == "a"


@pytest.mark.parametrize(
    ("refuse", "cls", "code"),
    [
        (lambda: missing("a.b", "a thing"), RequestError, "missing_required_parameter"),
        (lambda: invalid("a.b", "is wrong"), RequestError, "invalid_value"),
        (lambda: unsupported("a.b", "is not offered"), UnsupportedFeature, "unsupported_value"),
    ],
)
def test_refusals_carry_their_field(refuse, cls, code):
    with pytest.raises(cls, match=r"a\.b") as caught:
        refuse()
    assert (caught.value.param, caught.value.code) == ("a.b", code)


def test_long_values_are_not_repeated_whole():
    with pytest.raises(RequestError) as caught:
        Fields({"a": "x" * 10_000}).word("a", ("b",), "b")
    assert len(caught.value.message) < 200
