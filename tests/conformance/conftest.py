"""Servers for the client programs: one for each dialect, on loopback, for the whole run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from dragoman.engines.script import Script

from ..server.conftest import Running, running
from .plays import script

# The official clients read two dialects, what is built on them reads one each.
DIALECTS = {
    "test_openai_agents": ("qwen3-coder-xml",),
    "test_pydantic_ai": ("glm47",),
    "test_langchain": ("kimi-k2",),
    "test_litellm": ("gemma4",),
    "test_instructor": ("deepseek-v31",),
    "test_node": ("minimax-m2",),
}

# Set before a client is imported: none of them may look for news, prices or a place to report to.
os.environ |= {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DO_NOT_TRACK": "1",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server" in metafunc.fixturenames:
        name = metafunc.module.__name__.rpartition(".")[2]
        metafunc.parametrize("server", DIALECTS.get(name, ("harmony", "hermes-json")), indirect=True, scope="package")


@pytest.fixture(scope="package")
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
