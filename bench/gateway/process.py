"""Processes that are measured: what they used of the processor, and of memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["Process", "dragoman", "litellm", "nginx", "python"]

_ROOT = Path(__file__).parent.parent.parent


class Process:
    """A running gateway: its port, and the process with all its children."""

    def __init__(self, port: int, pid: int) -> None:
        self.port, self.pid = port, pid

    @property
    def cpu(self) -> float:
        """Seconds of the processor so far."""
        return sum(_seconds(pid) for pid in self._family())

    @property
    def memory(self) -> int:
        """Bytes that are resident now."""
        return sum(_resident(pid) for pid in self._family())

    def _family(self) -> list[int]:
        found = [self.pid]
        for pid in found:
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                found += map(int, children.read_text().split())
        return found


def _seconds(pid: int) -> float:
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    pipe, said = subprocess.PIPE, {**os.environ, "PYTHONPATH": f"{_ROOT / 'src'}:{_ROOT}", **(environment or {})}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=said) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate()


@contextmanager
def python(module: str, *arguments: object) -> Iterator[Process]:
    """A module of this package that prints its port."""
    with _run([sys.executable, "-m", f"bench.gateway.{module}", *map(str, arguments)]) as process:
        assert process.stdout is not None
        yield Process(int(process.stdout.readline()), process.pid)


@contextmanager
def dragoman(upstream: int, way: str, **environment: str) -> Iterator[Process]:
    """The gateway itself, in front of the upstream."""
    port = _free()
    words = ["serve", "--upstream", f"http://127.0.0.1:{upstream}", "--upstream-way", way, "--dialect", "hermes-json"]
    more = ["--port", str(port), "--state", "off", "--log-level", "error", "--queue", "100000"]
    with _run([sys.executable, "-m", "dragoman", *words, *more], environment) as process:
        _wait(port, "/health")
        yield Process(port, process.pid)


@contextmanager
def nginx(upstream: int) -> Iterator[Process | None]:
    """Nginx as a proxy that does not buffer; None where it is not installed."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port, config = _free(), Path(folder, "nginx.conf")
        config.write_text(_NGINX.format(folder=folder, port=port, upstream=upstream))
        process = stack.enter_context(_run([program, "-c", str(config), "-p", folder, "-e", f"{folder}/error.log"]))
        _wait(port, "/v1/models")
        yield Process(port, process.pid)


_NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b;
  fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://127.0.0.1:{upstream}; proxy_http_version 1.1; proxy_buffering off; }}
  }}
}}
"""


@contextmanager
def litellm(upstream: int, program: str) -> Iterator[Process | None]:
    """The LiteLLM proxy, from an environment of its own; None where there is none."""
    if not program or not Path(program).exists():
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port, config = _free(), Path(folder, "config.yaml")
        model = {"model": "openai/demo", "api_base": f"http://127.0.0.1:{upstream}/v1", "api_key": "none"}
        config.write_text(json.dumps({"model_list": [{"model_name": "demo", "litellm_params": model}]}))
        weak = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}  # it asks for no key here
        offline = {**weak, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "PYTHONPATH": ""}
        command = [program, "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
        process = stack.enter_context(_run(command, offline))
        _wait(port, "/health/liveliness", 180)
        yield Process(port, process.pid)


def _free() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait(port: int, path: str, patience: float = 60.0) -> None:
    """Until it answers."""
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                answer.read()
                return
        except OSError as error:
            if time.monotonic() > end:
                raise TimeoutError(f"port {port} does not answer: {error}") from None
            time.sleep(0.1)
