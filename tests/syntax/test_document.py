"""Calls and answers that are one JSON document, as JSON Schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Tool, Turn

DEEP: dict[str, Any] = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/node"}},
    "required": ["next"],
    "$defs": {"node": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}},
}
WALK = Tool("walk", parameters=DEEP)
PING = Tool("ping")
NOTE = Tool("note", kind="custom")
TOOLS = [WALK, PING, NOTE]
CALLS = (
    Call("walk", '{"next": {"n": 1, "next": {"n": 2}}}'),
    Call("ping", "{}"),
    Call("note", '{"input": "so"}'),
)
BARE = [name for name in api.names() if api.get(name).call == "{call}" and "json" in name] + ["xlam"]


def schema(name: str, choice: str = "required", tools: list[Tool] = TOOLS, **more: Any) -> Any:
    found = json.loads(api.constrain(name, tools, choice, form="json_schema", **more))
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("name", BARE)
def test_what_encode_writes_is_such_a_document(name: str):
    for call in CALLS:
        document = json.loads(api.encode(name, Turn((call,))))
        assert schema(name).is_valid(document)
        assert schema(name, f"name:{call.name}").is_valid(document)
        assert schema(name, f"name:{call.name}", [tool for tool in TOOLS if tool.name == call.name]).is_valid(document)


@pytest.mark.parametrize("name", BARE)
def test_anything_else_is_none(name: str):
    for wrong in (Call("nope", "{}"), Call("walk", '{"next": {"n": "one"}}'), Call("walk", "{}"), Call("note", "{}")):
        assert not schema(name).is_valid(json.loads(api.encode(name, Turn((wrong,))))), wrong
    ping = json.loads(api.encode(name, Turn((CALLS[1],))))
    assert not schema(name, "name:walk").is_valid(ping)


def test_a_list_holds_several_unless_told_otherwise():
    several = json.loads(api.encode("xlam", Turn(CALLS)))
    assert schema("xlam").is_valid(several)
    assert not schema("xlam", parallel=False).is_valid(several)
    assert not schema("xlam").is_valid([])


def test_an_answer_is_its_schema():
    wanted = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    assert json.loads(api.constrain("hermes", [], "none", form="json_schema", schema=wanted)) == wanted
    assert json.loads(api.constrain("hermes", [], form="json_schema", schema={})) == {"type": "object"}


@pytest.mark.parametrize(
    ("name", "choice", "wanted", "message"),
    [
        ("hermes", "required", None, "hermes-json writes its calls between marks"),
        ("pythonic-list", "required", None, "writes its calls between marks"),
        ("harmony", "none", {}, "harmony writes its answers between marks"),
        ("xlam", "auto", None, "leaves no text"),
        ("xlam", "none", None, "leaves no text"),
        ("xlam", "auto", {}, "leaves no text"),
    ],
)
def test_what_is_no_document_is_told(name: str, choice: str, wanted: Any, message: str):
    with pytest.raises(UsageError, match=message):
        api.constrain(name, TOOLS, choice, form="json_schema", schema=wanted)
