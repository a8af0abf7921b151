"""A server that plays what the scenarios ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dragoman.engines.script import Script

from ..server.conftest import Running, running


def call(name: str, **arguments: str) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


TURNS: list[dict[str, Any]] = [
    {"when": {"choice": "name:get_time"}, "output": call("get_time", zone="UTC")},
    {
        "when": {"choice": "forced", "user": "each city"},
        "output": call("get_weather", city="Paris") + "\n" + call("get_weather", city="Oslo"),
    },
    {"when": {"choice": "forced"}, "output": call("get_weather", city="Paris")},
    {"when": {"user": "as JSON"}, "output": '{"colour": "red"}'},
    {"when": {"user": "scripts|Repeat"}, "output": "Grüße, Ελλάδα, 日本語, 🦜🇳🇴, e\u0301, שלום."},
    {"when": {"user": "Count"}, "output": ", ".join(map(str, range(1, 120)))},
    {
        "when": {"user": "Use the tool", "tool": True},
        "output": "<think>Paris.</think>" + call("get_weather", city="Paris"),
    },
    {"output": "Hello there, nice to meet you today.<|im_end|>"},
]
SCRIPT = {"model": "demo", "dialect": "hermes-json", "cut": "words", "turn": TURNS}


@contextmanager
def serve(**settings: Any) -> Iterator[Running]:
    with running(Script(SCRIPT), **settings) as server:
        yield server


@pytest.fixture(scope="session")
def good() -> Iterator[Running]:
    with serve() as server:
        yield server
