from __future__ import annotations

import itertools
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocols.call_ids import own_id, wire_id
from dragoman.protocols.chat_shape import CallIds


@pytest.mark.must("C10")
@pytest.mark.parametrize(
    ("own", "wire"),
    [
        ("call_1", "call_1"),
        ("0a1B2c3D4", "0a1B2c3D4"),
        ("functions.get_weather:0", "dg_functions_2eget__weather_3a0"),
        ("a b", "dg_a_20b"),
        ("dg_x", "dg_dg__x"),  # or it would be read back as another
        ("", ""),
        ("é", ""),
        ("x" * 41, ""),
        (":" * 20, ""),
    ],
)
def test_c10_an_id_on_the_wire(own: str, wire: str) -> None:
    assert wire_id(own) == wire
    assert own_id(wire) == (own if wire else "")


@given(st.text(st.sampled_from(string.printable), max_size=30))
def test_c10_what_went_out_comes_back(own: str) -> None:
    wire = wire_id(own)
    assert re.fullmatch(r"[A-Za-z0-9_-]{0,40}", wire)
    assert own_id(wire) == (own if wire else "")


@pytest.mark.parametrize("given_id", ["dg_", "dg_a_", "dg_a_zz", "dg_call_1", "dg_a.b", "dg_A_2E", "x_2e"])
def test_ids_of_others_stay(given_id: str) -> None:
    assert own_id(given_id) == given_id


def test_c10_an_id_is_given_once() -> None:
    numbers = itertools.count()
    ids = CallIds({"dg_f_3a0"}, lambda: f"made_{next(numbers)}")
    assert [ids.give(own) for own in ("f:0", "f:1", "f:1", "a", "a", "")] == [
        "made_0",
        "dg_f_3a1",
        "made_1",
        "a",
        "made_2",
        "made_3",
    ]
