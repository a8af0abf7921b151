from __future__ import annotations

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.protocols.seal import seal, unseal


@examples()
@given(st.text())
def test_r10_what_was_sealed_opens_again(text):
    assert unseal(seal(text)) == text


def test_r10_halves_of_characters_survive():
    assert unseal(seal("a\ud83d")) == "a\ud83d"


@pytest.mark.parametrize("sealed", ["", "gAAAAABo", "dragoman1.", "dragoman1.é", "dragoman1.AAAA", seal("text")[:-6]])
def test_r10_what_is_not_ours_is_nothing(sealed):
    assert unseal(sealed) == ""


def test_r10_a_text_that_would_open_to_too_much_stays_closed():
    bomb = base64.urlsafe_b64encode(zlib.compress(b"a" * (5 << 20))).decode()
    assert unseal("dragoman1." + bomb) == ""
