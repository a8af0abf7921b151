"""Shelf: the responses that are being written, and those that were kept; each for the API key that it was made with."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from ..errors import EngineError, RequestError
from ..protocols import sse
from ..state.place import data
from ..state.store import Limits, Record, SQLite, Store
from .config import Config

__all__ = ["Recording", "Shelf", "build_store", "missing"]

_log = logging.getLogger(__name__)
_ME = str(os.getpid())


def build_store(config: Config) -> Store | None:
    """The store that the settings name.

    Raises:
        UsageError: its file is there, but cannot be used.
    """
    if config.state == "off":
        return None
    path = config.state or data() / "responses.sqlite"
    limits = Limits(config.state_count, config.state_days, config.state_bytes)
    return SQLite(":memory:" if path == "memory" else Path(path).expanduser(), limits)


def missing(response_id: str, param: str = "response_id", code: str = "response_not_found") -> RequestError:
    """What is said of a response that is not here."""
    problem = f"there is no response {response_id!r:.80} here: it was never stored, was deleted, or has expired"
    return RequestError(problem, param=param, code=code, status=404)


class Recording:
    """A response while it is written: its frames as they come, for everybody who wants to follow.

    Args:
        record: what is known of it so far.
        background: no client waits for it.
    """

    def __init__(self, record: Record, *, background: bool) -> None:
        self.record, self.background = record, background
        self.response: Callable[[], dict[str, Any]] = lambda: record.response
        self.cancel: Callable[[], None] = lambda: None
        self.forgotten = False
        self.over = asyncio.Event()
        self._written: list[bytes] = []  # as it came; it is taken apart only where somebody follows
        self._frames: list[bytes] = []
        self._changed: asyncio.Event | None = None  # there is one while somebody waits

    @property
    def frames(self) -> list[bytes]:
        """The frames so far; comments and the mark of the end are no part of it."""
        if self._written:
            whole, self._written = b"".join(self._written), []
            self._frames += [frame + b"\n\n" for frame in whole.split(b"\n\n") if frame.startswith(b"event: ")]
        return self._frames

    def add(self, frames: bytes) -> None:
        """What was written: whole frames."""
        self._written.append(frames)
        if self._changed is not None:
            self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        self.over.set()
        self._wake()

    async def follow(self, after: int, patience: float) -> AsyncIterator[bytes]:
        """All frames behind the number `after`, until the end; comments where nothing comes for so many seconds."""
        at = after + 1
        while True:
            if at < len(self.frames):
                fresh, at = self.frames[at:], len(self.frames)
                yield b"".join(fresh)
            elif self.over.is_set():
                yield sse.DONE
                return
            else:
                changed = self._changed = self._changed or asyncio.Event()
                try:
                    await asyncio.wait_for(changed.wait(), patience)
                except TimeoutError:
                    yield sse.comment()

    def whole(self) -> Record:
        """The record as it now is."""
        record = self.record
        record.response, record.frames = self.response(), b"".join(self.frames)
        return record

    def _wake(self) -> None:
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set()


class Shelf:
    """Finds, keeps and forgets responses.  Without a store it keeps nothing.

    A `key` is the name of the one who asks, and finds what was made with it; "" (a server without keys) finds all.
    """

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self.live: dict[str, Recording] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self, record: Record, *, background: bool) -> Recording:
        """Begin a recording."""
        recording = self.live[record.id] = Recording(record, background=background)
        return recording

    async def begin(self, recording: Recording) -> None:
        """Keep what nobody waits for from its first moment, so that it is known even if this process is killed."""
        recording.record.response, recording.record.owner = recording.response(), _ME
        await self._do("save", recording.record)

    async def keep(self, recording: Recording) -> None:
        """Keep what is written to its end.  A client's answer does not fail because it could not be kept."""
        record = recording.whole()
        record.owner = ""
        if not recording.forgotten:
            try:
                await self._do("save", record)
            except EngineError as error:
                _log.error("%s was not kept: %s", record.id, error)

    def drop(self, response_id: str) -> None:
        """A recording is over."""
        if recording := self.live.pop(response_id, None):
            recording.end()

    def writing(self, response_id: str, key: str = "") -> Recording | None:
        """A response that is being written, None if there is none."""
        recording = self.live.get(response_id)
        return recording if recording and key in ("", recording.record.key) else None

    async def find(self, response_id: str, key: str = "") -> Record:
        """A response that was kept.

        Raises:
            RequestError: there is none (404).
        """
        record: Record | None = await self._do("load", response_id, key)
        if record is None:
            raise missing(response_id)
        return _settled(record)

    async def chain(self, response_id: str, key: str = "") -> Sequence[Record]:
        """A response and all that it follows from, the oldest first.

        Raises:
            RequestError: one of them is not here (404), or is still being written (400).
        """
        if self.writing(response_id, key):
            problem = f"the response {response_id!r} is still being written; wait for its end"
            raise RequestError(problem, param="previous_response_id", code="previous_response_in_progress")
        records: Sequence[Record] = await self._do("chain", response_id, key) or ()
        absent = records[0].previous if records else response_id
        if absent:
            raise missing(absent, "previous_response_id", "previous_response_not_found")
        return records

    async def forget(self, response_id: str, key: str = "") -> None:
        """Delete a response, also one that is being written.

        Raises:
            RequestError: there is none (404).
        """
        recording = self.writing(response_id, key)
        if recording is not None:
            recording.forgotten = True
            recording.cancel()
        if not await self._do("delete", response_id, key) and recording is None:
            raise missing(response_id)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that no client waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait for all of it."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def close(self) -> None:
        """Let go of the file."""
        if self.store is not None:
            self.store.close()

    async def _do(self, work: str, *arguments: Any) -> Any:
        """In a thread: the file may be slow, or another process may be writing."""
        if self.store is None:
            return None
        return await asyncio.to_thread(getattr(self.store, work), *arguments)


def _settled(record: Record) -> Record:
    """A response that was still being written when its server was killed has failed."""
    if record.owner and not _alive(record.owner):
        error = {"code": "server_error", "message": "the server ended before the response did"}
        record.response = {**record.response, "status": "failed", "error": error}
    return record


def _alive(owner: str) -> bool:
    """Whether another process of this number runs; our own responses are at hand."""
    if owner == _ME or os.name == "nt":
        return False
    try:
        os.kill(int(owner), 0)
    except (OSError, ValueError) as error:
        return isinstance(error, PermissionError)
    return True
