"""The terminal chat: in a pipe, and on a terminal that is a real one (a pseudo-terminal)."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys

import pytest

from dragoman.cli.toolbox import Toolbox
from dragoman.messages import Call

from ..server.conftest import serving

__all__ = ["serving"]

CALL = '<think>Hm.</think>I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
ECHO = [sys.executable, "-c", "import json, sys; print('sun in', json.load(sys.stdin)['city'])"]


@pytest.fixture
def tools(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{**TOOL, "command": ECHO}]), "utf-8")
    return path


@pytest.fixture
def weather(serving):
    return serving({"output": "It is sunny.", "when": {"results": "sun in Oslo"}}, {"output": CALL})


def test_in_a_pipe_only_the_text_comes_out(cli, serving):
    server = serving({"output": "<think>Hm.</think>Hello there."})
    ran = cli("chat", server.url, stdin=b"hi")
    assert (ran.status, ran.out, ran.err) == (0, "Hello there.\n", "")


def test_a_tool_runs_if_it_is_allowed_and_its_result_goes_back(cli, weather, tools):
    ran = cli("chat", f"{weather.url}/v1", "-m", "weather?", "--tools", tools, "--yes")
    assert (ran.status, ran.out) == (0, "I look.\nIt is sunny.\n")


def test_without_a_terminal_nothing_is_allowed(cli, weather, tools):
    ran = cli("chat", weather.url, "-m", "weather?", "--tools", tools)
    assert "It is sunny" not in ran.out


def test_a_failure_is_told_and_ends_with_1(cli, serving):
    server = serving({"output": "half an ans", "error": "the engine died"})
    ran = cli("chat", server.url, "-m", "hi")
    assert ran.status == 1
    assert ran.out.startswith("half")
    assert "died" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://127.0.0.1:9", "-m", "hi"), "is the server running"),
        (("-",), "is no URL"),
        (("http://127.0.0.1:9",), "nothing was said"),
    ],
)
def test_what_is_wrong_is_one_line(cli, words, said):
    ran = cli("chat", *words)
    assert ran.status == 2
    assert len(ran.err.strip().splitlines()) == 1
    if words != ("-",):
        assert said in ran.err


class Terminal:
    """A process on a pseudo-terminal."""

    def __init__(self, *words, folder):
        self._own, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "DRAGOMAN_DATA": str(folder)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dragoman", *map(str, words)],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def say(self, text):
        os.write(self._own, text.encode())

    def until(self, words):
        """Read until these words have come; the test's time-out is the limit."""
        while words not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.seen):
            select.select([self._own], [], [])
            try:
                self.seen += os.read(self._own, 4096).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"it ended: {self.seen!r}") from None

    def end(self):
        status = self._process.wait(30)
        os.close(self._own)
        return status


def test_on_a_terminal_one_sees_everything_and_is_asked(weather, tools, tmp_path):
    terminal = Terminal("chat", weather.url, "--tools", tools, folder=tmp_path)
    terminal.until(">>>")
    terminal.say("weather?\n")
    terminal.until('get_weather {"city": "Oslo"}')
    assert "\x1b[2;3m" in terminal.seen or "\x1b[3;2m" in terminal.seen  # the reasoning is dimmed
    terminal.until("[y/N]")
    terminal.say("y\n")
    terminal.until("It is sunny.")
    terminal.until("tokens")
    terminal.say(f"/save {tmp_path / 'said.json'}\n")
    terminal.until("written to")
    terminal.say("/quit\n")
    assert terminal.end() == 0
    said = json.loads((tmp_path / "said.json").read_text("utf-8"))
    assert [one["role"] for one in said] == ["user", "assistant", "tool", "assistant"]
    assert (tmp_path / "chat-history").read_text("utf-8").count("weather?") == 1


def test_ctrl_c_stops_the_answer_and_not_the_chat(serving, tmp_path):
    server = serving({"output": "word " * 2000, "pause": 0.05})
    terminal = Terminal("chat", server.url, folder=tmp_path)
    terminal.until(">>>")
    terminal.say("talk\n")
    terminal.until("word word")
    os.killpg(terminal._process.pid, 2)
    terminal.until("stopped")
    terminal.seen = terminal.seen.rpartition("stopped")[2]
    terminal.until(">>>")  # what is typed before it asks may be thrown away
    while server.service.open:  # the server hears of it
        pass
    terminal.say("\x04")
    assert terminal.end() == 0


def test_a_refusal_says_what_to_do(cli, serving, monkeypatch):
    monkeypatch.delenv("DRAGOMAN_API_KEY", raising=False)
    server = serving({"output": "Hello."}, api_key="right")
    ran = cli("chat", server.url, "-m", "hi")
    assert ran.status == 2
    assert "--api-key" in ran.err
    assert "{" not in ran.err
    lost = cli("explain", "chatcmpl-1", "--server", server.url, "--api-key", "right")
    assert lost.err.rstrip().endswith("there is no turn 'chatcmpl-1' here: it was never recorded, or is forgotten")


def test_a_server_without_tls_is_no_server_that_is_not_there(cli, serving):
    ran = cli("chat", serving({"output": "Hello."}).url.replace("http:", "https:"), "-m", "hi")
    assert ran.status == 2
    assert "no secure connection" in ran.err
    assert "is the server running" not in ran.err


def test_a_lone_surrogate_does_not_end_the_chat(cli, answering):
    chunk = r'{"id": "x", "choices": [{"index": 0, "delta": {"content": "a\ud83d b"}, "finish_reason": "stop"}]}'
    ran = cli("chat", answering(f"data: {chunk}\n\ndata: [DONE]\n\n".encode()), "--model", "m", "-m", "hi")
    assert (ran.status, ran.out) == (0, "a? b\n")


@pytest.mark.parametrize(
    ("command", "result"),
    [
        (["printf", r"\377x"], "\ufffdx"),
        (["no\0name"], "error: embedded null byte"),
        (["/nowhere/tool"], "error: [Errno 2]"),
    ],
)
def test_whatever_a_tool_does_is_a_result(command, result):
    box = Toolbox(json.dumps([{"name": "f", "command": command}]), lambda _: "", trusted=True)
    assert box.run(Call("f", '{"a": "\ud800"}', "c")).startswith(result)
