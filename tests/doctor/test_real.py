"""With a real model: the faults of a real server are found, and ours has none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.doctor.examine import examine
from dragoman.doctor.results import Fault, Result, faults
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find

from ..server.conftest import running

pytestmark = pytest.mark.engine

PROTOCOLS = ("chat", "responses", "messages")
SHORT = ("streamed", "same", "limit", "stop", "forced", "swapped", "schema", "leave")


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("llama.py")), str(find("smollm2"))]
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.terminate()


def rules(results: list[Result], protocol: str) -> set[str]:
    return {fault.rule.id for fault in faults(results) if fault.protocol == protocol}


async def test_the_faults_of_llama_cpp_are_found(llama: str) -> None:
    only = ("streamed", "limit", "stop", "bad-request", "bad-json", "followed")
    results = await examine(llama, protocols=PROTOCOLS, only=only, timeout=300)
    assert rules(results, "chat") >= {"C3", "C21"}  # null content, and an error without param and with a number as code
    # No output_index, no numbers, a stub as the first response, no details of usage, a cut answer that is completed.
    assert rules(results, "responses") >= {"R1", "R2", "R4", "R14", "R15", "C27", "R25"}
    # A stop string that ended the answer is not the stop_reason; a wrong request is answered.
    assert rules(results, "messages") >= {"M2", "M10", "M13", "S1"}
    for fault in faults(results):
        assert fault.rule.breaks, fault


async def test_our_own_has_none() -> None:
    engine = Embedded(find("smollm2"), slots=2, context=2048, threads=1)
    with running(engine, first_token=300.0, stall=300.0) as server:
        found: list[Fault] = faults(await examine(server.url, only=SHORT, timeout=300))
    assert not found, [(fault.protocol, fault.rule.id, fault.message, fault.scenarios) for fault in found]
