from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.messages_api import recall, sign, verify

KEY = b"key"


@given(st.text(), st.booleans())
def test_m06_a_signature_proves_its_thought_and_no_other(text, carry):
    signature = sign(text, KEY, carry=carry)
    assert signature
    assert signature.isascii()
    assert verify(text, signature, KEY)
    assert not verify(text + "x", signature, KEY)
    assert not verify(text, signature, b"other")
    assert recall(signature, KEY) == (text if carry else "")
    assert recall(signature, b"other") == ""


@pytest.mark.parametrize("foreign", ["", "EqQBCgIYAhIM", "dragoman.", "dragoman.???", "dragoman.é", "x" * 99])
def test_m06_foreign_signatures_prove_nothing_and_fail_nothing(foreign):
    assert not verify("text", foreign, KEY)
    assert recall(foreign, KEY) == ""


def test_m06_what_is_carried_is_opened_only_if_it_is_ours():
    raw = base64.b64decode(sign("thought", KEY, carry=True).removeprefix("dragoman."))
    forged = "dragoman." + base64.b64encode(raw[:16] + b"not packed at all").decode()
    assert recall(forged, KEY) == ""
    assert not verify("thought", forged, KEY)


def test_m06_a_signature_of_a_text_is_none_of_what_is_carried():
    text = "x" * 40
    seal = base64.b64decode(sign(text, KEY).removeprefix("dragoman."))
    assert recall("dragoman." + base64.b64encode(seal + text.encode()).decode(), KEY) == ""
