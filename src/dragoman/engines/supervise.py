"""A child process that serves one model: started, watched, started again when it dies, and never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import EngineError, Unreachable

__all__ = ["PAUSES", "Child", "Log"]

_PROGRAM = str(Path(__file__).with_name("child.py"))
PAUSES = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_LONGEST_FOLDER = 90  # a socket's path has 104 bytes on some systems
_STAMP = re.compile(r"^[\d.]+ (?P<level>[A-Z]) (?:(?:srv|slot|cmn|que|llama)\s+)?(?:\w+: )?")


class Log:
    """The last lines that the child printed."""

    def __init__(self, size: int = 200) -> None:
        self.lines: deque[str] = deque(maxlen=size)
        self.refusals: list[str] = []  # what llguidance said of grammars it cannot read; llama.cpp then runs without

    def add(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line)
        if "llg error:" in line:
            self.refusals.append(line.partition("llg error:")[2].strip())

    @property
    def last(self) -> str:
        """The last line, without its stamp."""
        return _plain(self.lines[-1]) if self.lines else ""

    @property
    def reason(self) -> str:
        """Why the start failed: the first error; what follows it are its consequences."""
        errors = (_plain(line) for line in self.lines if " E " in line[:20])
        return next(errors, self.last)


def _plain(line: str) -> str:
    return _STAMP.sub("", line).strip()


class Child:
    """One process and its successors.

    `socket` is where it listens, "" while none is ready; `words` says why there is none.
    """

    def __init__(self, settings: Mapping[str, Any], *, pauses: Sequence[float] = PAUSES) -> None:
        self.settings, self.pauses = settings, pauses
        self.log = Log()
        self.socket = ""
        self.words = "it was not started"
        self.ready, self.gone = asyncio.Event(), asyncio.Event()
        self.process: asyncio.subprocess.Process | None = None
        self._drain: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the first one and watch it from now on.

        Raises:
            EngineError: it did not start, and why.
        """
        await self._spawn()
        self._watch = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """End it and wait until it is gone."""
        if self._watch:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._end()
        self.words = "it was stopped"

    async def epitaph(self) -> str:
        """How it died, if it did just now; else the last line it printed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self.gone.wait()
        return self.words if self.gone.is_set() else self.log.last

    async def _keep(self) -> None:
        """Start it again whenever it dies, after pauses that grow while it dies young."""
        clock, attempts = asyncio.get_running_loop().time, 0
        while True:
            began = clock()
            await self._death()
            attempts = 0 if clock() - began > max(self.pauses) else attempts
            await asyncio.sleep(self.pauses[min(attempts, len(self.pauses) - 1)])
            attempts += 1
            with contextlib.suppress(EngineError):
                await self._spawn()

    async def _death(self) -> None:
        if self.process and self._drain:
            code = await self.process.wait()
            await self._drain
            self.words = f"{_ending(code)}; its last line: {self.log.last}"
        await self._end()

    async def _spawn(self) -> None:
        self.log.lines.clear()  # what the last one said is in `words`
        folder = _folder()
        socket = f"{folder}/s.sock"
        try:
            await self._load({**self.settings, "socket": socket})
        except BaseException:
            await self._end()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.socket = socket
        self.gone.clear()
        self.ready.set()

    async def _load(self, settings: Mapping[str, Any]) -> None:
        self.process = await _run()
        self._drain = asyncio.create_task(_read(self.process, self.log))
        answer = json.loads(await _tell(self.process, settings) or "{}")
        if answer.get("event") != "ready":
            code = await self.process.wait()
            await self._drain
            self.words = self._reason(answer.get("message", ""), code)
            raise Unreachable(f"llama.cpp could not start: {self.words}")

    def _reason(self, message: str, code: int) -> str:
        if "No module named 'xllamacpp'" in message:
            return "the package xllamacpp is not installed; type: pip install 'dragoman[engine,server]'"
        return self.log.reason or message or _ending(code)

    async def _end(self) -> None:
        """The process ends, and its socket and its reader with it."""
        self.ready.clear()
        socket, self.socket = self.socket, ""
        process, self.process = self.process, None
        if process:
            await _close(process, 5 if socket else 0)  # one that still loads its model does not listen
        if self._drain:
            await asyncio.gather(self._drain, return_exceptions=True)
        if socket:
            shutil.rmtree(Path(socket).parent, ignore_errors=True)
        self.gone.set()


async def _run() -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    spin = {"GOMP_SPINCOUNT": "1000"}  # else its threads spin while they wait, and collapse beside one busy neighbour
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", _PROGRAM, stdin=pipe, stdout=pipe, stderr=pipe, env=os.environ | spin, limit=2**20
    )


async def _tell(process: asyncio.subprocess.Process, settings: Mapping[str, Any]) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(settings).encode() + b"\n")
    return await process.stdout.readline()


async def _read(process: asyncio.subprocess.Process, log: Log) -> None:
    assert process.stderr
    while not process.stderr.at_eof():
        with contextlib.suppress(ValueError):  # a line beyond all limits is dropped: reading must never stop
            if text := (await process.stderr.readline()).decode("utf-8", "replace").strip():
                log.add(text)


async def _close(process: asyncio.subprocess.Process, patience: float) -> None:
    """The end of stdin ends it; what does not listen is killed."""
    assert process.stdin
    process.stdin.close()
    try:
        async with asyncio.timeout(patience):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _folder() -> str:
    """A folder that nobody else may enter, so the socket in it needs no key."""
    folder = tempfile.mkdtemp(prefix="dragoman-")
    if len(folder) < _LONGEST_FOLDER:
        return folder
    Path(folder).rmdir()
    return tempfile.mkdtemp(prefix="dragoman-", dir="/tmp")


def _ending(code: int | None) -> str:
    return f"it was killed by signal {-code}" if code and code < 0 else f"it ended with status {code}"
