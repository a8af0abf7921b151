"""The log: one line a turn."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from dragoman.server.observe import one_line

from .conftest import USER, Running, ask

Serving = Callable[..., Running]


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "dragoman.turns"]


async def test_a_turn_is_one_line(serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = serving({"output": "one two"})
    answer = await ask(server)
    await server.idle()
    ((level, line),) = lines(caplog)
    assert level == "INFO"
    assert line.startswith(f"{answer.json['id']} outcome=stop model=demo dialect=hermes-json prompt=")
    assert " completion=2 first=" in line


async def test_a_failure_is_a_warning_with_its_reason(serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = serving({"output": "x", "after": 0, "error": "it burns"})
    await ask(server, {"messages": USER, "n": 2})
    await server.idle()
    ((level, line),) = lines(caplog)
    assert (level, "outcome=error" in line, line.endswith("it burns")) == ("WARNING", True, True)


async def test_what_was_repaired_is_logged_when_debugging(serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await ask(serving({"output": "Hi</tool_call>"}), {"messages": USER, "tools": [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}},
    ]})  # fmt: skip
    assert any("notice=" in line for _, line in lines(caplog))


def test_an_error_stays_on_its_line() -> None:
    assert one_line("caught\rfire\n2026-01-01 INFO ok \x1b[31m") == r"caught\rfire\n2026-01-01 INFO ok \x1b[31m"
