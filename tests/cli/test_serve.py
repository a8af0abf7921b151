"""`dragoman serve`, as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines import models
from dragoman.server.config import Config
from dragoman.server.engine import build

SCRIPT = 'model = "demo"\ndialect = "hermes-json"\npause = 0.001\n[[turn]]\noutput = "%s"\n'


@contextmanager
def serving(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "dragoman", "serve", *words]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DRAGOMAN_PORT": "0", **environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def address(process: subprocess.Popen[str]) -> str:
    """Where it says that it listens."""
    assert process.stdout
    return process.stdout.readline().rstrip().rpartition(" at ")[2]


def post(url: str, **fields: Any) -> Any:
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], **fields}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})
    return urllib.request.urlopen(request)


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.toml"
    path.write_text(SCRIPT % "Hello.")
    return str(path)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_says_what_to_type_answers_and_ends(script: str, sign: signal.Signals) -> None:
    with serving("--engine", "script", "--script", script) as process:
        url = address(process)
        assert process.stdout
        assert process.stdout.readline() == "Try it:\n"
        assert process.stdout.readline().startswith(f"  curl {url}/chat/completions")
        with post(url) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"] == "Hello."
        process.send_signal(sign)
        _, err = process.communicate()
        assert process.returncode == 0
        assert "outcome=stop model=demo" in err
        assert "Traceback" not in err


def test_a_signal_in_mid_stream_ends_the_stream_properly(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(SCRIPT % ("word " * 20_000))
    with serving(DRAGOMAN_ENGINE="script", DRAGOMAN_SCRIPT=str(path), DRAGOMAN_SHUTDOWN="0") as process:
        with post(address(process), stream=True) as answer:
            answer.readline()
            process.send_signal(signal.SIGINT)
            rest = answer.read()
        assert b"the server is stopping" in rest.split(b"\n\n")[-2]
        process.communicate()
        assert process.returncode == 0


def test_a_port_that_is_taken(script: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with serving("--engine", "script", "--script", script, "--port", port) as process:
            _, err = process.communicate()
    assert process.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in err
    assert "--port" in err


def test_a_model_that_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF")
    with serving("--model", str(path)) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert "the model could not be loaded" in err
    assert "Traceback" not in err


def test_without_any_model_it_says_what_to_type(monkeypatch, cli) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(models, "PACKAGED", {})
    monkeypatch.setattr(models, "_advice", lambda: "type: dragoman pull smollm2")
    ran = cli("serve")
    assert ran.status == 2
    assert ran.err == "dragoman: no model was named; type: dragoman pull smollm2\n"


def test_settings_are_checked(cli) -> None:  # type: ignore[no-untyped-def]
    ran = cli("serve", "--port", "99999")
    assert (ran.status, ran.out) == (2, "")
    assert "setting 'port' (--port, DRAGOMAN_PORT): 99999 is not between 0 and 65535" in ran.err
    assert cli("serve", "--engine", "script").err.count("needs a file to play") == 1
    assert "nowhere.gguf" in cli("serve", "nowhere.gguf").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dialect", "klingon"], "unknown dialect 'klingon'"),
        (["--keys", "nowhere.toml"], "nowhere.toml"),
        (["--tls-cert", "nowhere.pem"], "nowhere.pem"),
    ],
)
def test_a_check_finds_what_a_start_would(cli, words, said) -> None:  # type: ignore[no-untyped-def]
    ran = cli("serve", "--upstream", "http://127.0.0.1:9", "--check-config", *words)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


def test_the_packaged_model_is_the_default() -> None:
    assert build(Config())[0].path.suffix == ".gguf"  # type: ignore[attr-defined]


def test_settings_can_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "dragoman.yaml"
    path.write_text("upstreams:\n  - url: http://localhost:8080\n    models: [a]\naliases: {gpt: a}\n")
    with serving("--config", str(path), "--check-config") as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    assert out.startswith("The settings are good: 1 engine, 1 alias.\n  http://localhost:8080 (auto): a\n  gpt is a\n")
    path.write_text("upstreams:\n  - ulr: http://localhost:8080\n")
    with serving("--config", str(path), "--check-config") as process:
        _, told = process.communicate()
    assert process.returncode != 0
    assert f"{path}, line 2: there is no setting 'ulr'; did you mean 'url'?" in told
