from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import OBJECTS

from dragoman.protocols.balance import Balance


def weigh(*pieces):
    balance = Balance()
    for piece in pieces:
        balance.add(piece)
    return balance


@pytest.mark.parametrize(
    ("text", "whole", "missing"),
    [
        ("", False, ""),
        (" \n", False, ""),
        ("{", False, "}"),
        ('{"a": [1, {"b', False, '"}]}'),
        ('{"a": "\\', False, '\\"}'),
        ('{"a": "}]', False, '"}'),
        ("{}", True, ""),
        ('{"a": "\\""}', True, ""),
        ("cd /tmp", True, ""),
        ("}}", True, ""),
    ],
)
def test_what_is_open(text, whole, missing):
    for balance in (weigh(text), weigh(*text)):
        assert (balance.whole, balance.missing) == (whole, missing)


@given(OBJECTS, st.integers(0, 200))
def test_an_object_is_whole_at_its_end_and_not_before(text, cut):
    assert weigh(*text).whole
    cut %= len(text)
    assert not weigh(text[:cut]).whole
    assert weigh(text[:cut], text[cut:]).whole


@given(OBJECTS)
def test_what_is_missing_closes_text_that_was_cut_in_a_string(text):
    cut = text.rfind('"')
    balance = weigh(text[:cut])
    if cut > 0 and text[cut - 1] not in "\\," and balance.missing.startswith('"'):
        tail = balance.missing
        try:
            json.loads(text[:cut] + tail)
        except json.JSONDecodeError:
            json.loads(text[:cut] + '":0' + tail[1:])  # the string was a key
