"""Forced calls for an engine whose only constraint is a JSON schema: what it gets, and that the whole of it is a call."""

from __future__ import annotations

import json

import jsonschema
import pytest
from upstreams import Answer, threaded, told

from dragoman import api
from dragoman.engines.upstream import Settings, Upstream
from dragoman.messages import Request, Tool
from dragoman.server.written import by_schema

from .conftest import USER, WEATHER, ask, running

TOOLS = (
    Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
    Tool("other", "", {"type": "object"}),
)
FORCED = Request(tools=TOOLS, choice="required")
EXPRESSED = [name for name in api.names() if by_schema(FORCED, api.get(name), "")[0]]


def test_the_most_used_dialect_is_among_them() -> None:
    assert "hermes-json" in EXPRESSED
    assert len(EXPRESSED) > 5


@pytest.mark.parametrize("name", EXPRESSED)
def test_what_is_written_under_it_is_a_call(name: str) -> None:
    dialect = api.get(name)
    text, (before, behind) = by_schema(Request(tools=TOOLS, choice="name:get_weather"), dialect, "")
    schema = json.loads(text)
    keys = schema.get("items", schema)["required"]
    call = dict(zip(keys, ("get_weather", {"city": "Oslo"}), strict=True))
    written = [call] if schema["type"] == "array" else call
    jsonschema.validate(written, schema)
    turn = api.decode(dialect, before + json.dumps(written) + behind, list(TOOLS))
    assert [(one.name, json.loads(one.arguments)) for one in turn.calls] == [("get_weather", {"city": "Oslo"})]
    assert not turn.notices


@pytest.mark.parametrize(
    ("request_", "name", "prompt"),
    [
        (Request(tools=TOOLS), "hermes-json", ""),
        (Request(tools=TOOLS, choice="none"), "hermes-json", ""),
        (FORCED, "hermes-json", "<|im_start|>assistant\n<think>\n"),
        (FORCED, "qwen3-coder-xml", ""),
        (FORCED, "harmony", ""),
    ],
)
def test_the_others_are_left_alone(request_: Request, name: str, prompt: str) -> None:
    assert by_schema(request_, api.get(name), prompt) == ("", ("", ""))


async def test_a_server_in_front_of_ollama_forces_a_call() -> None:
    """What comes is the bare JSON; the client gets a call."""
    said = [
        {"response": '{"name": "get_weather", ', "done": False},
        {"response": '"arguments": {"city": "Oslo"}}', "done": False},
    ]
    end = {"response": "", "done": True, "done_reason": "stop"}
    answer = Answer([json.dumps(one).encode() + b"\n" for one in (*said, end)], kind="application/x-ndjson")
    paths = {"/v1/models": told({"data": [{"id": "m"}]}), "/api/generate": answer}
    template = "{% for m in messages %}{{ m.content }}{% endfor %}<|im_start|>assistant\n"
    with threaded(paths=paths) as fake:
        settings = Settings(url=fake.url, way="generate", dialect="hermes-json", template=template)
        with running(Upstream(settings)) as server:
            body = {"messages": USER, "tools": [WEATHER], "tool_choice": "required"}
            (call,) = (await ask(server, body)).json["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo"}
    (asked,) = fake.bodies("/api/generate")
    assert asked["prompt"].endswith("<|im_start|>assistant<tool_call>\n")
    assert asked["format"]["properties"]["name"] == {"const": "get_weather"}
