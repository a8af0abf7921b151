"""Deadlines of single models."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.errors import UsageError
from dragoman.server.config import Config
from dragoman.server.deadlines import for_model

from .conftest import Running, ask

Serving = Callable[..., Running]


def test_the_first_pattern_that_fits() -> None:
    config = Config(deadlines="big-*: first-token=1800 stall=300; org/tiny:1b: total=2.5; *: stall=1", stall=9.0)
    assert (for_model(config, "big-7b").first_token, for_model(config, "big-7b").stall) == (1800.0, 300.0)
    assert (for_model(config, "org/tiny:1b").total, for_model(config, "org/tiny:1b").stall) == (2.5, 9.0)
    assert for_model(config, "other").stall == 1.0
    assert for_model(Config(), "other") == Config()


@pytest.mark.parametrize("text", ["big", "big: ", "big: soon=1", "big: stall=soon", ": stall=1", "big: stall=-1"])
def test_what_cannot_be(text: str) -> None:
    with pytest.raises(UsageError):
        for_model(Config(deadlines=text), "big")


async def test_a_models_own_deadline_counts(serving: Serving) -> None:
    server = serving({"output": "x", "after": 0, "stall": True}, deadlines="demo: first-token=0.05")
    answer = await ask(server)
    assert (answer.status, answer.json["error"]["code"]) == (504, "engine_timeout")
