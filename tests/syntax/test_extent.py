"""Schemas from clients have a bounded cost: too large, too deep, or small ones that grow."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Tool
from dragoman.syntax.extent import STEPS, Steps, check_extent, check_length, steps, together
from dragoman.syntax.schema import loosened, value

DIALECTS = ("hermes-json", "qwen35-xml", "gemma4", "pythonic-list")
TEXT = {"type": "string"}


def tool(schema: Any, number: int = 0) -> Tool:
    return Tool(f"tool_{number}", parameters={"type": "object", "properties": {"x": schema}})


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = TEXT
    for _ in range(levels):
        found = {"items": found}
    return found


def doubling(levels: int) -> dict[str, Any]:
    """Each definition holds the next one twice, and not as a plain reference, which would be one rule."""
    every: dict[str, Any] = {
        f"d{i}": {
            "type": "object",
            "properties": {key: {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}], "description": key} for key in "lr"},
        }
        for i in range(levels)
    }
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {**every, f"d{levels}": TEXT}}


LOOP: dict[str, Any] = {"type": "object"}
LOOP["properties"] = {"loop": LOOP}


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([tool(nested(300))], "tool_0' is nested more than 200 levels deep"),
        ([tool({"properties": {f"p{i}": TEXT for i in range(30_000)}})], "too large at the schema of the tool 'tool_0'"),
        ([tool({"enum": ["x" * 2_500_000]})], "too large at"),
        ([tool({"properties": {"k" * 2_500_000: TEXT}})], "too large at"),
        ([tool({"enum": list(range(600))}, i) for i in range(100)], "too large at"),
        ([Tool("round", parameters=LOOP)], "nested more than|too large"),
        ([Tool("grow", parameters=doubling(30))], "more than 10000 places"),
        ([Tool(f"grow_{i}", parameters=doubling(7)) for i in range(300)], "more than 10000 places"),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_is_too_large_is_refused(name: str, tools: list[Tool], message: str):
    with pytest.raises(UsageError, match=message):
        api.constrain(name, tools, "required")


def test_an_answer_is_bounded_too():
    with pytest.raises(UsageError, match="schema of the answer is nested"):
        api.constrain("hermes", [], "none", schema=nested(300))


def test_a_grammar_that_no_engine_could_read_is_refused():
    assert check_length("x" * 10) == "x" * 10
    with pytest.raises(UsageError, match="takes 2000001 characters"):
        check_length("x" * 2_000_001)


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "prefixItems": [TEXT] * 3000},
        {"type": "array", "prefixItems": [TEXT] * 3000, "minItems": 3000},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "items": TEXT, "minItems": 10**6, "maxItems": 10**7},
        {"type": "string", "pattern": "(" * 900 + "a" + ")" * 900},
        {"type": "string", "pattern": "^(([a-z]{1,900}){1,900}){1,900}$"},
        {"allOf": [{"enum": list(range(3000))}, {"enum": list(range(1000, 4000))}]},
        {"oneOf": [{"const": i} for i in range(1000)]},
        {"type": ["string", *["odd"] * 3000]},
        {"type": "integer", "minimum": float("nan"), "maximum": float("inf")},
        {"type": "number", "minimum": -(10**300), "maximum": 10**300},
        {"properties": {f"p{i}": TEXT for i in range(1000)}},
        {"required": [f"p{i}" for i in range(3000)], "additionalProperties": TEXT},
    ],
    ids=range(13),
)
def test_what_is_large_and_honest_is_made(name: str, schema: Any):
    """Each takes well below a second; a cost that grew with the square would take minutes."""
    for form in ("gbnf", "lark", "structural_tag"):
        assert api.constrain(name, [tool(schema)], "required", form=form)


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"anyOf": [{"$ref": "#"}, TEXT]}])
def test_references_that_lead_to_themselves_come_to_an_end(schema: Any):
    assert value(schema)
    assert isinstance(loosened(schema), tuple)


def test_walks_share_their_steps_only_where_they_are_told_to():
    assert steps() is not steps()
    with together():
        assert steps() is steps()
        steps().left = 0
        with pytest.raises(UsageError, match=f"more than {STEPS} places .* at #/a"):
            steps().take("#/a")
    assert steps().left == STEPS
    with pytest.raises(UsageError, match=r"at #/a/a.*\.\.:"):
        for _ in range(STEPS + 1):
            ended.take("#" + "/a" * 100)


ended = Steps()


def test_a_schema_of_scalars_is_counted():
    check_extent([("it", None), ("it", True), ("it", (1, 2.5, None))])
