"""Servers for the client programs: one for each dialect, on loopback, for the whole run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from dragoman.engines.script import Script

from ..server.conftest import Running, running
from .plays import script

DIALECTS = ("harmony", "hermes-json")

# Set before a client is imported: none of them may look for news, prices or a place to report to.
os.environ |= {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DO_NOT_TRACK": "1",
}


@pytest.fixture(scope="package", params=DIALECTS)
def server(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A server whose model plays `plays.py` in one dialect."""
    with running(Script(script(request.param))) as started:
        yield started


@pytest.fixture(autouse=True)
def _slot_is_free(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a client did, the engine works for nobody afterwards; the test's time-out is the limit."""
    yield
    if "server" in request.fixturenames:
        wait_until_idle(request.getfixturevalue("server"))


def wait_until_idle(server: Running) -> None:
    while server.engine.running or server.service.open:
        time.sleep(0.005)
