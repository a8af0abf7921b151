from __future__ import annotations

import importlib
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols import wire


@pytest.fixture(params=["msgspec", "stdlib"])
def module(request, monkeypatch):
    """The module as it is, and as it is without msgspec."""
    if request.param == "stdlib":
        monkeypatch.setitem(sys.modules, "msgspec", None)
    yield importlib.reload(wire)
    monkeypatch.undo()
    importlib.reload(wire)


def test_the_fallback_is_really_another(module, request):
    stdlib = "stdlib" in request.node.name
    assert hasattr(module, "_stdlib_quote") or not stdlib


@pytest.mark.parametrize(
    "text", ["", "plain", 'a "quote" \\ and\nline\ttab\x00', "é 😀 \u2028\u2029 \x7f", "</script>"]
)
def test_quote_reads_back_and_is_one_line_of_utf8(module, text):
    quoted = module.quote(text)
    assert json.loads(quoted) == text
    assert b"\n" not in quoted
    assert b"\r" not in quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\ud83d", "a\ufffd"), ("\ude00b", "\ufffdb"), ("\ud83d\ude00", "\ufffd\ufffd"), ("😀\ud83d", "😀\ufffd")],
)
def test_s02_half_characters_are_replaced_one_by_one(module, text, shown):
    assert json.loads(module.quote(text)) == shown
    assert json.loads(module.dump({text: [text, (text, 1)]})) == {shown: [shown, [shown, 1]]}
    assert module.clean(text) == shown


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=4))
def test_s02_pieces_show_the_same_as_their_whole(texts):
    assert "".join(json.loads(wire.quote(text)) for text in texts) == json.loads(wire.quote("".join(texts)))


def test_dump_is_compact_and_leaves_letters_as_they_are(module):
    assert module.dump({"a": [1, None, True, "é"]}) == '{"a":[1,null,true,"é"]}'.encode()


def test_load_calls_deep_nesting_a_value_error():
    with pytest.raises(ValueError, match="deeply"):
        wire.load("[" * 200_000)
    with pytest.raises(ValueError):
        wire.load("{")
