"""Which schemas are alike."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.syntax.alike import text_of


def test_what_is_only_said_of_a_schema_makes_no_difference() -> None:
    assert text_of({"type": "string", "description": "a"}) == text_of({"type": "string", "title": "b"})


@pytest.mark.parametrize("other", [{"type": "integer"}, {"type": "string", "minLength": 1}, {"enum": ["string"]}])
def test_what_differs_is_not_alike(other: Any) -> None:
    assert text_of(other) != text_of({"type": "string"})


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"items": {"$ref": "#/a"}}, {"enum": ["x" * 2000]}, {"a": {1}}])
def test_what_leads_elsewhere_or_is_no_json_is_not_remembered(schema: Any) -> None:
    assert text_of(schema) == ""


def test_the_order_of_keys_is_the_order_in_which_they_are_written() -> None:
    first, second = ({"properties": {one: {}, other: {}}} for one, other in ("ab", "ba"))
    assert text_of(first) != text_of(second)
