from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, pieces

from dragoman.protocols.free_text import FreeText


def read(parts):
    text = FreeText()
    return "".join([*map(text.feed, parts), text.close()])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"input": "ls -l"}', "ls -l"),
        (' {\n "input" :"a\\nb\\u00e9\\"\\\\"} ', 'a\nbé"\\'),
        ('{"input": ""}', ""),
        ('{"input": "\\ud83d\\ude00!"}', "😀!"),
        ('{"input": "\\ud83d!"}', "\ud83d!"),
        ('{"input": "\\ud83d"}', "\ud83d"),
        ('{"input": "\\q\\u12"}', "\\q\\u12"),
        ('{"input": "raw\nline"}', "raw\nline"),
        ('{"input": "cut', "cut"),
        ('{"input": "cut\\u00', "cut"),
        ("ls -l", "ls -l"),
        ('{"code": "x"}', '{"code": "x"}'),
        ('{"input": 1}', '{"input": 1}'),
        ('{"inp', '{"inp'),
        ("", ""),
    ],
)
def test_r09_the_input_is_read_whatever_the_cut(arguments, text):
    assert read([arguments]) == text
    assert read(list(arguments)) == text
    for at in range(len(arguments)):
        assert read([arguments[:at], arguments[at:]]) == text


@examples(4)
@given(st.text().flatmap(lambda text: st.tuples(st.just(text), pieces(json.dumps({"input": text})))))
def test_r09_any_text_comes_out_as_it_went_in(case):
    text, parts = case
    assert read(parts) == json.loads(json.dumps(text))


def test_p2_what_is_known_leaves_at_once():
    text = FreeText()
    assert [text.feed(piece) for piece in ('{"input": "a', "b\\", "nc", '"', "}")] == ["a", "b", "\nc", "", ""]
