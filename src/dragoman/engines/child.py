"""The program of the child process: llama.cpp's server for one model on a Unix socket, for as long as stdin is open.

It is run by path with its own interpreter and imports nothing of this package, so it starts fast, and a crash in
native code takes only itself away.  Its settings arrive as one line of JSON on stdin; it answers on stdout with one
line of JSON (`{"event": "ready"}`, or `{"event": "error", "message": ...}`); what llama.cpp prints goes to stderr.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

__all__: list[str] = []

_PR_SET_PDEATHSIG = 1


def _leave(socket: str) -> NoReturn:
    """End at once (a clean shutdown would wait for running generations) and leave no socket behind."""
    with contextlib.suppress(OSError):
        Path(socket).unlink()
        Path(socket).parent.rmdir()
    os._exit(0)


def _follow(socket: str) -> None:
    """End when told to, and on Linux also when the process that started this one is gone, whatever ended it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, lambda *_: _leave(socket))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _serve(settings: dict[str, Any]) -> Any:
    llama = importlib.import_module("xllamacpp")
    wanted = _configure(llama.CommonParams(), settings)
    wanted.embedding = settings.get("embedding", False)
    if settings.get("pooling") == "mean":
        wanted.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return llama.Server(wanted)  # returns when it is loaded and listens


def _configure(wanted: Any, settings: dict[str, Any]) -> Any:
    wanted.model.path = settings["model"]
    wanted.hostnames = [settings["socket"]]
    wanted.n_parallel = settings["slots"]
    wanted.n_ctx = settings["context"] * settings["slots"]  # llama.cpp divides the total among its slots
    wanted.n_batch = wanted.n_ubatch = settings["batch"]  # a cancel is seen between two batches of a prompt
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = settings["threads"]
    wanted.cache_ram_mib = 0
    wanted.chat_template = "{{ messages[0].content }}"  # prompts arrive rendered: the model's own is never read here
    wanted.ui = False
    wanted.cors_origins = ""
    wanted.endpoint_slots = wanted.endpoint_metrics = wanted.endpoint_props = True
    return wanted


def main() -> NoReturn:
    """Load, say so, and wait for the end of stdin."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.buffer.readline() or "{}")
    _follow(settings["socket"])
    try:
        server = _serve(settings)
    except Exception as problem:  # noqa: BLE001 - whatever it is, the parent is told
        answers.write(json.dumps({"event": "error", "message": str(problem)}) + "\n")
        sys.exit(3)
    answers.write(json.dumps({"event": "ready", "address": server.listening_address}) + "\n")
    sys.stdin.buffer.read()
    _leave(settings["socket"])


if __name__ == "__main__":
    main()
