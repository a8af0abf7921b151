"""The gateway of the soak, in a process of its own: the server as it is, and a thread that counts what the process holds.

python -m bench.soak.gateway FILE    # prints its port; each line on stdin is answered by a line of counts
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import logging
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from dragoman.server.app import create_app
from dragoman.server.config import Config
from dragoman.server.run import listen, run
from dragoman.server.service import Service

__all__ = ["main"]


def main() -> None:
    """Serve until a signal."""
    config = Config(config=sys.argv[1], port=0)
    logging.basicConfig(level=logging.ERROR, handlers=[_ERRORS, logging.StreamHandler()])
    app = create_app(config)
    listener = listen(config)
    threading.Thread(target=_answer, args=(app.state.service,), daemon=True).start()
    run(app, config, listener, lambda _: print(listener.getsockname()[1], flush=True))


class _Errors(logging.Handler):
    """Counts what is logged as an error: nothing that clients or upstreams do is one of ours."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


_ERRORS = _Errors(logging.ERROR)


def _answer(service: Service) -> None:
    for line in sys.stdin:
        print(json.dumps(_kinds() if "kinds" in line else _counts(service)), flush=True)


def _counts(service: Service) -> dict[str, Any]:
    """What the process holds now."""
    assert service.loading is not None
    gc.collect()
    gates = {id(served.gate): served.gate for served in service.roster}.values()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 (a number)
        "tasks": len(asyncio.all_tasks(service.loading.get_loop())),
        "threads": threading.active_count(),
        "blocks": sys.getallocatedblocks(),
        "heap": _heap(),
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
        "running": len(service.open),
        "taken": sum(gate.taken for gate in gates),
        "waiting": sum(gate.waiting for gate in gates),
        "turns": len(service.log or ()),
        "recordings": len(service.shelf.live),
        "models": len(list(service.roster)),
        "errors": _ERRORS.count,
        "cpu": sum(os.times()[:2]),
    }


class _Mallinfo(ctypes.Structure):
    """What glibc's allocator tells (mallinfo2): ten sizes, of which the 5th and the 8th are in use."""

    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]


def _heap() -> int:
    """Bytes of C's heap in use, which holds large buffers; resident memory has what was freed there, too.  0 without glibc."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _Mallinfo
    told = ask()
    return int(told.e) + int(told.h)


def _kinds() -> dict[str, int]:
    """The objects by type.  Nobody else may run meanwhile: a tuple that is being made must not be seen by another thread."""
    sys.setswitchinterval(60)
    time.sleep(0.05)
    try:
        found = Counter(map(type, gc.get_objects()))
    finally:
        sys.setswitchinterval(0.005)
    named = Counter[str]()
    for kind, count in found.items():
        named[f"{kind.__module__}.{kind.__qualname__}"] += count
    return dict(named.most_common(400))


if __name__ == "__main__":
    main()
