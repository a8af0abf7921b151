"""The application under a server that knows nothing of it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.server.config import Config
from dragoman.server.run import listen

ASK = '{"messages": [{"role": "user", "content": "Hi"}], "stream": true}'


def test_another_server_runs_it_and_its_streams_end_properly(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(f'dialect = "hermes-json"\npause = 0.001\n[[turn]]\noutput = "{"word " * 20_000}"\n')
    environment = {**os.environ, "DRAGOMAN_ENGINE": "script", "DRAGOMAN_SCRIPT": str(script)}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        fd = str(listener.fileno())
        command = [
            sys.executable, "-m", "uvicorn", "--factory", "dragoman.server.app:create_app", "--fd", fd,
            "--timeout-graceful-shutdown", "0",
        ]  # fmt: skip
        process = subprocess.Popen(command, pass_fds=[listener.fileno()], env=environment, stderr=subprocess.PIPE)
        try:
            port = listener.getsockname()[1]
            wait_for(port)
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
                connection.request("POST", "/v1/chat/completions", ASK, {"Content-Type": "application/json"})
                with connection.getresponse() as answer:
                    answer.readline()
                    process.send_signal(signal.SIGTERM)
                    rest = answer.read()
        finally:
            process.kill()
            process.communicate()
    assert b"the server is stopping" in rest.split(b"\n\n")[-2]


def wait_for(port: int) -> None:
    """Until the model is loaded; the test's time-out is the limit."""
    status = 0
    while status != 200:
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            connection.request("GET", "/health")
            with connection.getresponse() as answer:
                status = answer.status


def test_an_address_that_cannot_be_used() -> None:
    with pytest.raises(UsageError, match="cannot listen on"):
        listen(Config(host="no.such.host.invalid"))


def test_an_address_is_said_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError) as told:
            listen(Config(port=port))
    assert str(told.value).count(str(port)) == 1


def test_a_certificate_that_cannot_be_used(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    for cert, key, said in (
        ("nowhere.pem", "", "--tls-cert: there is no file 'nowhere.pem'"),
        (str(empty), "nowhere.pem", "--tls-key: there is no file 'nowhere.pem'"),
        ("", str(empty), "name that too: --tls-cert"),
        (str(empty), "", "cannot be used with its key"),
    ):
        with pytest.raises(UsageError, match=said):
            listen(Config(port=0, tls_cert=cert, tls_key=key))
