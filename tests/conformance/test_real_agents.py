"""The agents of the command line with a real model: one turn each in the model's own words.

The model is small and so is its context, so each agent gets a short system prompt by its own settings.
A grammar keeps the answer to one sentence: without it, a model of this size may go on until its context is full.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines.base import Item, Options, Prompt
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find
from dragoman.pieces import Piece

from ..server.conftest import Running, running
from . import test_agents as agents

pytestmark = [*agents.pytestmark, pytest.mark.engine]

SHORT = "You are a friendly assistant. Answer in one short sentence."
TASK = "Say hello to the world."
SENTENCE = 'root ::= "Hello" [a-z, ]{3,40} "."'


class Brief(Embedded):
    """The real engine, held to one sentence."""

    said = ""

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        self.said = ""
        held = replace(options, grammar=SENTENCE, form="gbnf")
        async for items in super().stream(prompt, held, request):
            self.said += "".join(item.text for item in items if isinstance(item, Piece) and not item.special)
            yield items


@pytest.fixture(scope="module")
def real() -> Iterator[Running]:
    engine = Brief(find("smollm2"), slots=1, context=8192, threads=2)
    with running(engine, first_token=900.0, stall=300.0) as found:
        assert found.service.roster.ready, found.service.roster.failure
        yield found


@pytest.fixture
def desk(real: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> agents.Desk:
    monkeypatch.setattr(agents, "PATIENCE", 1200)  # seconds: thousands of tokens of tools are read first
    for folder in ("work", "home"):
        (tmp_path / folder).mkdir()
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    return agents.Desk(real, tmp_path / "work", tmp_path / "home")


def assert_said(desk: agents.Desk, done: subprocess.CompletedProcess[str]) -> None:
    """The agent ended well, and shows what the model said last."""
    assert done.returncode == 0, done.stdout + done.stderr
    said = desk.server.engine.said
    assert said.startswith("Hello")
    assert json.dumps(said)[1:-1] in done.stdout


def test_codex(desk: agents.Desk) -> None:
    (desk.home / "short.md").write_text(SHORT)
    assert_said(
        desk, agents.codex(desk, TASK, before=f"model_instructions_file = {json.dumps(str(desk.home / 'short.md'))}")
    )


def test_claude_code(desk: agents.Desk) -> None:
    assert_said(desk, agents.claude(desk, TASK, "--system-prompt", SHORT, "--tools", "Read"))


def test_opencode(desk: agents.Desk) -> None:
    agent = {"build": {"prompt": SHORT, "tools": {"*": False, "read": True}}}
    assert_said(desk, agents.opencode(desk, TASK, agent=agent))
