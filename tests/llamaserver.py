"""A real llama.cpp server on loopback in a process of its own, with the model's own template: what users run already."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = """
import sys
import xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.hostnames, wanted.port = sys.argv[1], ["127.0.0.1"], 0
wanted.n_parallel, wanted.n_ctx = 2, 4096
wanted.n_batch = wanted.n_ubatch = 64
wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 2
wanted.ui, wanted.cache_ram_mib, wanted.cors_origins = False, 0, ""
wanted.endpoint_slots = wanted.endpoint_props = True
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
sys.stdin.read()
import os
os._exit(0)
"""


@contextmanager
def llama_server(model: Path) -> Iterator[str]:
    """Run it; gives its URL."""
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"GOMP_SPINCOUNT": "1000", "PATH": "/usr/bin:/bin"},
    )
    try:
        assert child.stdout is not None
        url = next((line.strip() for line in child.stdout if line.startswith("http://")), "")
        assert url, "the server did not start"
        yield url
    finally:
        child.communicate()
