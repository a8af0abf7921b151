"""The OpenAPI document is valid and complete, and nothing that fits it makes the server fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import validate
from starlette.routing import Route

from dragoman.engines.script import Script
from dragoman.server.app import create_app
from dragoman.server.config import Config
from dragoman.server.openapi import document
from dragoman.server.operations import OPERATIONS

from .conftest import Running, call, running

Serving = Callable[..., Running]

TURNS = [{"output": "<think>Hm.</think>Hello there, all of you."}]
ENDLESS = ("/dragoman/live",)
ROUTES = [
    route
    for route in create_app(Config(state="memory"), engines=[Script({"turn": TURNS})]).routes
    if isinstance(route, Route)
]
DOCUMENT = document(ROUTES)
OPERATIONS_OF = sorted(
    (path, method) for path, told in DOCUMENT["paths"].items() for method in told if method != "parameters"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    script = Script({"model": "demo", "dialect": "hermes-json", "context": 4096, "turn": TURNS})
    with running(script, keep_alive=5.0) as found:
        yield found


async def test_it_is_served(serving: Serving) -> None:
    answer = await call(serving(*TURNS), "GET", "/openapi.json")
    assert answer.json["openapi"] == "3.1.0"
    assert answer.json["paths"].keys() == DOCUMENT["paths"].keys()


def test_it_is_valid() -> None:
    validate(DOCUMENT)


def test_it_is_complete() -> None:
    paths = {re.sub(r":path}", "}", route.path) for route in ROUTES}
    assert paths == DOCUMENT["paths"].keys()
    known = {route.path.removeprefix("/v1") for route in ROUTES} | {"/"}
    assert OPERATIONS.keys() <= known


@pytest.mark.parametrize(("path", "method"), OPERATIONS_OF)
def test_every_operation_tells_its_errors(path: str, method: str) -> None:
    told = DOCUMENT["paths"][path][method]
    assert {"400", "401", "404", "500"} <= told["responses"].keys()
    assert told["summary"]
    if method == "post" and path.endswith(("/chat/completions", "/messages", "/responses", "/api/chat")):
        assert "$ref" in told["requestBody"]["content"]["application/json"]["schema"]


@pytest.mark.parametrize(("path", "method"), [one for one in OPERATIONS_OF if one[0] not in ENDLESS])
def test_nothing_that_fits_it_makes_the_server_fail(server: Running, path: str, method: str) -> None:
    """A bounded number of requests each; 501 to 504 are honest words of an engine, 500 is a fault."""
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    operation = schema[path][method.upper()]
    examples = 12 if path.startswith(("/v1", "/api", "/dragoman")) else 3

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy())
    def asked(case: Any) -> None:
        try:
            answer = case.call(base_url=server.url, timeout=60)
        except requests.exceptions.InvalidURL:
            return
        assert answer.status_code != 500, answer.text
        assert answer.status_code < 500 or answer.status_code in (501, 503), answer.text

    asked()
