"""What templates can do is found by trying."""

from __future__ import annotations

import chat_templates
import pytest

from dragoman.engines.ability import Abilities, abilities
from dragoman.errors import EngineError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CHATML", Abilities(results=True, system=True, late_system=True, repeats=True)),
        (
            "TOOLS",
            Abilities(tools=True, arguments="object", results=True, system=True, late_system=True, repeats=True),
        ),
        ("STRICT", Abilities()),
        (
            "SHORT",
            Abilities(
                tools=True,
                arguments="text",
                results=True,
                system=True,
                late_system=True,
                repeats=True,
                short_ids=True,
            ),
        ),
        ("TYPED", Abilities(results=True, system=True, late_system=True, repeats=True, typed=True)),
    ],
)
def test_abilities(name: str, expected: Abilities) -> None:
    assert abilities(getattr(chat_templates, name)) == expected


def test_a_broken_template_is_told() -> None:
    with pytest.raises(EngineError, match="does not parse"):
        abilities("{% for %}")
