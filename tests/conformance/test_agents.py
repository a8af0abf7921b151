"""The agents of the command line, headless: each is given a task, calls a tool that changes its folder, and ends.

They are hundreds of megabytes each, so `make test-clients` installs and runs them, and no other target does.
Each has a home of its own, and a proxy that is not there: what is not on loopback cannot be reached.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines.script import Script
from dragoman.messages import Reasoning, Result

from ..server.conftest import Running, running
from .conftest import wait_until_idle
from .plays import FIRE, LONG, Scene, call, scene

MODULES = Path(__file__).parent / "agents" / "node_modules"
PATIENCE = 120  # seconds: an agent that needs longer hangs

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(not MODULES.is_dir(), reason="the agents are not installed: `make test-clients` does it"),
]


@dataclass
class Desk:
    """Where an agent works, and whom it asks."""

    server: Running
    work: Path
    home: Path

    def run(self, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run an agent's command to its end."""
        around = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        nowhere = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
        homes = {"HOME": self.home, **{f"XDG_{kind}_HOME": self.home / kind for kind in ("DATA", "CONFIG", "CACHE")}}
        env = {**around, **nowhere, **{name: str(path) for name, path in homes.items()}, **environment}
        return subprocess.run(
            [str(word) for word in command],
            env=env, cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    @property
    def note(self) -> Path:
        return self.work / "note.txt"

    @property
    def asked(self) -> list[Any]:
        """The requests that had tools on offer; beside them agents ask for titles and the like."""
        return [request for _, _, request in self.server.engine.asked if request.tools]


Ask = Callable[[Desk, str], subprocess.CompletedProcess[str]]


def codex(desk: Desk, task: str, before: str = "", provider: str = "") -> subprocess.CompletedProcess[str]:
    """Codex, over Responses; with further lines of its settings."""
    (desk.home / "config.toml").write_text(f"""
        model = "demo"
        {before}
        model_provider = "dragoman"
        check_for_update_on_startup = false
        [model_providers.dragoman]
        name = "dragoman"
        base_url = "{desk.server.url}/v1"
        wire_api = "responses"
        request_max_retries = 0
        stream_max_retries = 0
        {provider}
        [analytics]
        enabled = false
    """)
    command = "node", MODULES / "@openai/codex/bin/codex.js", "exec", "--json", "--skip-git-repo-check"
    return desk.run(*command, "--dangerously-bypass-approvals-and-sandbox", task, CODEX_HOME=str(desk.home))


def claude(desk: Desk, task: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Claude Code, over Messages."""
    (binary,) = MODULES.glob("@anthropic-ai/claude-code-*/claude")
    return desk.run(
        binary, "-p", task, "--output-format", "json", "--allowedTools", "Write,Bash(ls:*),Read", *options,
        ANTHROPIC_BASE_URL=desk.server.url,
        ANTHROPIC_AUTH_TOKEN="none",
        ANTHROPIC_MODEL="demo",
        ANTHROPIC_DEFAULT_HAIKU_MODEL="demo",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        CLAUDE_CODE_MAX_RETRIES="0",
        DISABLE_AUTOUPDATER="1",
    )  # fmt: skip


def opencode(desk: Desk, task: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """opencode, over Chat Completions; with further settings."""
    model = {"name": "demo", "tool_call": True, "reasoning": True, "limit": {"context": 400_000, "output": 8192}}
    options = {"baseURL": f"{desk.server.url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "dragoman", "options": options, "models": {"demo": model}}
    settings = {
        "model": "dragoman/demo",
        "small_model": "dragoman/demo",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"dragoman": provider},
        **more,
    }
    (desk.work / "opencode.json").write_text(json.dumps(settings))
    binary = next(iter(sorted(MODULES.glob("opencode-*/bin/opencode"))))
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return desk.run(binary, "run", "--format", "json", task, **{f"OPENCODE_DISABLE_{what}": "1" for what in off})


# --- how each of them writes a file and looks at it, in a dialect of a model that people run behind it

Write = Callable[[Path, str], tuple[str, dict[str, Any]]]
AGENTS: dict[str, tuple[Ask, str, Write, Write]] = {
    "codex": (
        codex,
        "harmony",
        lambda path, text: ("exec_command", {"cmd": f"printf '{text}' > {path}"}),
        lambda path, _: ("exec_command", {"cmd": f"cat {path}"}),
    ),
    "claude": (
        claude,
        "qwen3-coder-xml",
        lambda path, text: ("Write", {"file_path": str(path), "content": text}),
        lambda path, _: ("Read", {"file_path": str(path)}),
    ),
    "opencode": (
        opencode,
        "glm47",
        lambda path, text: ("write", {"filePath": str(path), "content": text}),
        lambda path, _: ("read", {"filePath": str(path)}),
    ),
}
TEXT = "hello from here <b>&amp;</b> </parameter> 世界"


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> str:
    return getattr(request, "param", "codex")


each_agent = pytest.mark.parametrize("agent", AGENTS, indirect=True)


Start = Callable[..., Desk]


@pytest.fixture
def start(agent: str, tmp_path: Path) -> Iterator[Start]:
    """Lays a desk whose model plays scenes."""
    desks: list[Any] = []

    def started(*played: Scene, **settings: Any) -> Desk:
        dialect = AGENTS[agent][1]
        title = scene(dialect, "A title", when={"tool": False})
        last = scene(dialect, "I do not know that play.")
        data = {"model": "demo", "dialect": dialect, "turn": [title, *played, last]}
        for folder in ("work", "home"):
            (tmp_path / folder).mkdir()
        subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
        serving = running(Script(data), **settings)
        desks.append(serving)
        return Desk(serving.__enter__(), tmp_path / "work", tmp_path / "home")

    yield started
    for serving in desks:
        serving.__exit__(None, None, None)
    shutil.rmtree(tmp_path, ignore_errors=True)


@each_agent
def test_a_whole_task(agent: str, start: Start, tmp_path: Path):
    ask, dialect, write, read = AGENTS[agent]
    path = tmp_path / "work" / "note.txt"
    (name, arguments), (other, look) = write(path, TEXT), read(path, "")
    desk = start(
        scene(dialect, Reasoning("I write a file."), "I write it.", call(name, **arguments), when={"results": False}),
        scene(dialect, Reasoning("It worked."), "The note is written.", when={"results": "hello"}),
        scene(dialect, Reasoning("I look at it."), call(other, **look), when={"results": True}),
    )
    done = ask(desk, "Please write a note")
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_text() == TEXT
    assert "The note is written." in done.stdout
    first, second, third = desk.asked
    assert len(first.messages) < len(second.messages) < len(third.messages)
    thoughts = [part.text for message in third.messages for part in message.parts if isinstance(part, Reasoning)]
    assert thoughts == ["I write a file.", "I look at it."]  # the model is shown what it thought
    wait_until_idle(desk.server)


@each_agent
def test_two_calls_at_once(agent: str, start: Start, tmp_path: Path):
    ask, dialect, write, _ = AGENTS[agent]
    paths = [tmp_path / "work" / f"{name}.txt" for name in ("one", "two")]
    calls = [call(name, **arguments) for name, arguments in (write(path, path.stem) for path in paths)]
    desk = start(
        scene(dialect, *calls, when={"results": False}), scene(dialect, "Both are written.", when={"results": True})
    )
    done = ask(desk, "Please write two notes")
    assert [path.read_text() for path in paths] == ["one", "two"]
    assert "Both are written." in done.stdout
    results = [part for message in desk.asked[-1].messages for part in message.parts if isinstance(part, Result)]
    assert len(results) == 2


@each_agent
def test_a_long_task(agent: str, start: Start, tmp_path: Path):
    """Twenty-five turns with tools, and a large result in each."""
    ask, dialect, _, read = AGENTS[agent]
    desk_path = tmp_path / "work" / "large.txt"
    name, arguments = read(desk_path, "")
    looks = scene(dialect, call(name, **arguments), when={"user": "look"})
    end = scene(dialect, "I have seen enough.")
    looks["output"] = [looks["output"]] * 25 + [end["output"]]
    desk = start(looks)
    desk_path.write_text("\n".join(f"{number}: a line of a large file" for number in range(400)))
    done = ask(desk, "Please look at the large file again and again")
    assert "I have seen enough." in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    assert len(desk.asked) == 26


@each_agent
def test_breaks_in_the_middle(agent: str, start: Start):
    ask, dialect, _, _ = AGENTS[agent]
    desk = start(scene(dialect, LONG, after=20, error=FIRE))
    done = ask(desk, "Please write a note")
    assert FIRE in done.stdout + done.stderr
    wait_until_idle(desk.server)


@each_agent
def test_a_cut_call_is_not_run(agent: str, start: Start, tmp_path: Path):
    ask, dialect, write, _ = AGENTS[agent]
    name, arguments = write(tmp_path / "work" / "note.txt", LONG)
    written = scene(dialect, call(name, **arguments))["output"]
    cut = {"output": written[: len(written) // 2], "finish": "length", "when": {"results": False}}
    desk = start(cut, scene(dialect, "I give up.", when={"results": True}))
    done = ask(desk, "Please write a note")
    assert not desk.note.exists(), done.stdout


# --- Codex in particular

CATALOG = {
    "slug": "demo",
    "display_name": "Demo",
    "description": "A local model.",
    "base_instructions": "You are a coding agent. Edit files with apply_patch.",
    "context_window": 32768,
    "input_modalities": ["text"],
    "supports_reasoning_summaries": True,
    "supports_parallel_tool_calls": True,
    "supported_reasoning_levels": [],
    "apply_patch_tool_type": "freeform",
    "shell_type": "shell_command",
    "truncation_policy": {"mode": "tokens", "limit": 10000},
    "experimental_supported_tools": [],
    "support_verbosity": True,
    "default_verbosity": "low",
    "prefer_websockets": True,
    "visibility": "list",
    "supported_in_api": True,
    "priority": 1,
}


def test_codex_edits_with_a_tool_of_free_text(start: Start):
    """Told what the model can do, it offers `apply_patch` with a grammar; told to try a WebSocket, it takes HTTP at once."""
    patch = "*** Begin Patch\n*** Add File: note.txt\n+hello\n+world\n*** End Patch\n"
    desk = start(
        scene("harmony", call("apply_patch", input=patch), when={"results": False}),
        scene("harmony", "The note is written.", when={"results": "Success"}),
    )
    catalog = desk.home / "catalog.json"
    catalog.write_text(json.dumps({"models": [CATALOG]}))
    done = codex(desk, "Please write a note", f'model_catalog_json = "{catalog}"', "supports_websockets = true")
    assert desk.note.read_text() == "hello\nworld\n", done.stdout + done.stderr
    assert "The note is written." in done.stdout
    assert "Reconnecting" not in done.stdout
    (tool,) = [tool for tool in desk.asked[0].tools if tool.name == "apply_patch"]
    assert tool.kind == "custom"


def test_codex_compacts_a_long_conversation(start: Start):
    desk = start(
        scene("harmony", "A summary.", when={"user": "(?i)checkpoint"}),
        scene("harmony", "The note is written.", when={"user": "(?i)summary"}),
        scene("harmony", call("exec_command", cmd="echo hello > note.txt"), when={"results": False}),
    )
    done = codex(desk, "Please write a note", "model_auto_compact_token_limit = 3000\nmodel_context_window = 20000")
    assert done.returncode == 0, done.stdout
    assert "The note is written." in done.stdout
    assert desk.note.read_text() == "hello\n"


# --- Claude Code in particular


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_claude_finds_a_tool_that_it_deferred(agent: str, start: Start):
    """The model sees a deferred tool once it has been searched for, and never the placeholder that keeps the search alive."""
    dialect = AGENTS[agent][1]
    desk = start(
        scene(dialect, call("ToolSearch", query="select:NotebookEdit"), when={"results": False}),
        scene(dialect, "It is there.", when={"results": True}),
    )
    done = claude(desk, "Please find the tool for notebooks")
    assert "It is there." in done.stdout
    before, after = ([tool.name for tool in request.tools] for request in desk.asked)
    assert set(after) - set(before) == {"NotebookEdit"}
    assert "DeferredToolPlaceholder" not in after


def test_codex_waits_while_a_prompt_is_read(start: Start) -> None:
    slow = scene("harmony", "Here I am.", cut="whole", pause=3.0)  # three pieces say nothing yet
    desk = start(slow, keep_alive=0.2)
    done = codex(desk, "Say something", provider="stream_idle_timeout_ms = 8000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Here I am." in done.stdout
