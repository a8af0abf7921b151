"""Every numbered MUST has a test that carries its number."""

from __future__ import annotations

import musts

WANTED, HELD = musts.wanted(), musts.held()


def test_every_must_has_a_test() -> None:
    assert not sorted(WANTED.keys() - HELD.keys())


def test_tests_carry_numbers_that_there_are() -> None:
    assert not {number: HELD[number] for number in HELD.keys() - WANTED.keys()}
