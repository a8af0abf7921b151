from __future__ import annotations

import re

from dragoman.checks import RULES


def test_rules_are_numbered_and_say_what_must_hold():
    for key, rule in RULES.items():
        assert key == rule.id
        assert re.fullmatch(r"[SCRMO]\d+", key)
        assert 20 < len(rule.text) < 120
        assert rule.breaks
