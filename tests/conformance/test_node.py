"""The clients for Node: each plays all scenes in one process (`node/*.mjs`), and tells what it made of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..server.conftest import Running
from .conftest import wait_until_idle
from .plays import ANSWER, FIRE, FORECAST, GREETING, LONG, OSLO, PARIS, PERSON, STEPS, THOUGHT

FOLDER = Path(__file__).parent / "node"
NODE = shutil.which("node")
CLIENTS = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "ai compatible",
    "ai chat",
    "ai responses",
    "ai messages",
]
CUT = {"length", "max_tokens", "max_output_tokens"}
ENDED = {"stop", "end_turn", "completed", None}

pytestmark = pytest.mark.skipif(
    not NODE or not (FOLDER / "node_modules").is_dir(),
    reason="the clients for Node are not installed: `make test` does it where npm is",
)

Told = dict[str, dict[str, Any]]


@pytest.fixture(scope="package", params=CLIENTS)
def told(server: Running, request: pytest.FixtureRequest) -> Iterator[Told]:
    """What a client tells of each scene."""
    file, *way = request.param.split()
    command = [NODE, "--no-warnings", f"{file}.mjs", server.url, *way]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=FOLDER, timeout=300)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    yield {line.pop("scene"): line for line in lines}
    wait_until_idle(server)


@pytest.mark.parametrize("scene", ["plain", "streamed", "helped"])
def test_plain(told: Told, scene: str):
    assert told[scene]["text"] == GREETING
    assert told[scene].get("finish") in ENDED


@pytest.mark.parametrize("scene", ["think", "thinkStreamed"])
def test_reasoning(told: Told, scene: str):
    assert told[scene]["text"] == ANSWER
    assert told[scene].get("thought", THOUGHT) == THOUGHT  # over Chat, the AI SDK's own provider has no place for it


def test_two_calls_and_their_results(told: Told):
    assert (told["weather"]["text"], told["weather"]["calls"]) == (FORECAST, [{"city": PARIS}, {"city": OSLO}])


def test_a_long_loop(told: Told):
    assert told["loop"]["text"] == f"All {STEPS} steps are done."
    assert told["loop"]["calls"] == [{"number": number} for number in range(1, STEPS + 1)]


def test_a_structured_answer(told: Told):
    assert json.loads(told["person"]["text"]) == PERSON


@pytest.mark.parametrize("scene", ["cut", "cutStreamed"])
def test_cut_by_the_limit(told: Told, scene: str):
    assert told[scene]["text"]
    assert LONG.startswith(told[scene]["text"])
    assert told[scene]["finish"] in CUT


@pytest.mark.parametrize("scene", ["break", "breakStreamed"])
def test_breaks_in_the_middle(told: Told, scene: str):
    assert FIRE in told[scene]["error"]


def test_cancel(told: Told):
    """That the slot is free again is seen behind the last scene."""
    assert told["cancel"] == {"text": "left"}
