from __future__ import annotations

import re

from dragoman.checks import CURES, RULES


def test_rules_are_numbered_and_say_what_must_hold():
    for key, rule in RULES.items():
        assert key == rule.id
        assert re.fullmatch(r"[SCRMOL]\d+", key)
        assert 20 < len(rule.text) < 120
        assert rule.breaks


def test_every_rule_has_a_cure():
    assert CURES.keys() == RULES.keys()
    assert all(cure.endswith(".") and 20 < len(cure) < 140 for cure in CURES.values())
