"""Limits of the parts of a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Request, Tool
from dragoman.server.config import Config
from dragoman.server.limits import DEPTH, check_depth, check_request

from .conftest import USER, WEATHER, Running, ask

Serving = Callable[..., Running]


def nested(levels: int) -> Any:
    value: Any = 1
    for number in range(levels):
        value = [value] if number % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [1, DEPTH - 1, DEPTH])
def test_ordinary_nesting(levels: int) -> None:
    check_depth(nested(levels))


def test_too_deep() -> None:
    with pytest.raises(RequestError, match="nested more than"):
        check_depth(nested(DEPTH + 1))


@pytest.mark.parametrize("grammar", ['root ::= "a"{2000}', 'root ::= "a"', 'root ::= ("a" ("b"))' + "\n" * 60_000])
def test_ordinary_grammars(grammar: str) -> None:
    check_request(Request(sampling={"grammar": grammar}), Config())


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        (Request(sampling={"grammar": "x" * 100_000}), "grammar"),
        (Request(sampling={"grammar": 'root ::= "a"{2001}'}), "grammar"),
        (Request(sampling={"grammar": 'root ::= "a"{1, 99999999999999999999}'}), "grammar"),
        (Request(sampling={"grammar": "root ::= " + "(" * 300}), "grammar"),
        (Request(tools=tuple(Tool(f"t{number}") for number in range(513))), "tools"),
        (Request(tools=(Tool("t", parameters={"description": "x" * 300_000}),)), "tools"),
        (Request(schema={"enum": ["x" * 300_000]}), "response_format"),
    ],
)
def test_what_is_too_large(request_: Request, param: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_request(request_, Config())
    assert (caught.value.param, caught.value.code, caught.value.status) == (param, "limit_exceeded", 400)


async def test_clients_are_told(serving: Serving) -> None:
    server = serving({"output": "Hi"}, tools_limit=1, schema_limit=500)
    other = json.loads(json.dumps(WEATHER).replace("get_weather", "other"))
    for body in ({"tools": [WEATHER, other]}, {"metadata": nested(200)}):
        assert (await ask(server, {"messages": USER, **body})).status == 400
    assert (await ask(server, {"messages": USER, "tools": [WEATHER]})).status == 200


async def test_large_grammars_are_made_beside_the_loop(serving: Serving) -> None:
    server = serving({"output": '{"p1": "x"}'})
    properties = {f"p{number}": {"type": "string", "maxLength": 5} for number in range(600)}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": properties}}}
    assert (await ask(server, {"messages": USER, "response_format": form})).status == 200
    assert server.engine.asked[-1][1].grammar
