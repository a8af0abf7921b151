"""Store: what clients refer to later, kept in one SQLite file.

What was saved survives a killed process.  The file is bounded: what was not used for long goes, and where there are too
many or too large responses, those go that were not used for longest.  Using a response keeps all that it follows from.
The file is made when there is something to keep.
What one API key kept is not there for another.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..errors import EngineError, UsageError

__all__ = ["Limits", "Record", "SQLite", "Store"]

_FORMAT = 2
_MARK = 0x44524147  # the file is ours
_PATIENCE = 10.0  # seconds to wait for another process that is writing
_SCHEMA = f"""
create table responses(
  id text primary key, previous text not null, owner text not null, used real not null, size integer not null,
  facts blob not null, frames blob not null, key text not null default ''
);
create index responses_used on responses(used, size);
pragma application_id = {_MARK};
pragma user_version = {_FORMAT};
"""
# What leads from each older format to the next one.  What format 1 kept belongs to no key: it did not say to which.
_STEPS = {1: "alter table responses add column key text not null default ''"}
_OWN = "(:key = '' or key = :key)"
_LOAD = f"select id, previous, owner, key, facts, frames from responses where id = :id and {_OWN}"  # noqa: S608 (ours)
_CHAIN = f"""
with recursive chain(id, depth) as (
  select :id, 0 union select previous, depth + 1 from responses join chain using(id)
  where previous != '' and depth < 10000 and {_OWN}
) select id, previous, owner, key, facts from chain join responses using(id) where {_OWN} order by depth desc
"""  # noqa: S608 (every part is ours)


@dataclass(slots=True)
class Record:
    """A response that is kept.

    `response`: the object as it stands.  `input`: the items of its own request.  `previous`: the response that it follows.
    `frames`: its stream.  `owner`: the process that is writing it, "" once it is whole.
    `key`: the name of the API key that it was made with, "" for none.
    """

    id: str
    response: dict[str, Any]
    input: list[Any] = field(default_factory=list)
    previous: str = ""
    frames: bytes = b""
    owner: str = ""
    key: str = ""


@dataclass(slots=True)
class Limits:
    """How much is kept: responses, days since the last use, and bytes.  0 is no limit."""

    count: int = 0
    days: float = 0.0
    bytes: int = 0


class Store(Protocol):
    """Keeps records.  All methods raise `EngineError` where it cannot be read or written.

    A `key` asks for the records of that key alone, "" for those of all.
    """

    def save(self, record: Record) -> None:
        """Keep a record, instead of an earlier one of its id."""

    def load(self, record_id: str, key: str = "") -> Record | None:
        """A record with its frames, None if there is none."""

    def chain(self, record_id: str, key: str = "") -> Sequence[Record]:
        """A record and all that it follows from, the oldest first, without frames; () if there is none."""

    def delete(self, record_id: str, key: str = "") -> bool:
        """Forget a record; whether there was one."""

    def close(self) -> None:
        """Let go of what it holds."""


class SQLite:
    """A store in a file, or with the path ":memory:" in none.  It may be used from several threads and processes.

    Args:
        path: the file; its folder is made if need be.
        limits: how much is kept.
        clock: tells the time in seconds.

    Raises:
        UsageError: the file is there, but is damaged, not ours, or of a newer version.
    """

    def __init__(
        self, path: str | Path, limits: Limits | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.path, self.limits = str(path), limits or Limits()
        self._clock, self._lock = clock, threading.Lock()
        self._open: sqlite3.Connection | None = None
        if self.path != ":memory:" and Path(self.path).exists():
            self._connect()

    def save(self, record: Record) -> None:
        """As in `Store`."""
        facts = _pack(json.dumps({"response": record.response, "input": record.input}).encode())
        frames = _pack(record.frames) if record.frames else b""
        size = len(facts) + len(frames)
        row = (record.id, record.previous, record.owner, self._clock(), size, facts, frames, record.key)
        with self._lock, _told(self.path), self._connect() as database:
            database.execute("insert or replace into responses values(?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._prune(database)

    def load(self, record_id: str, key: str = "") -> Record | None:
        """As in `Store`."""
        if self._absent:
            return None
        with self._lock, _told(self.path), self._connect() as database:
            found = database.execute(_LOAD, {"id": record_id, "key": key}).fetchone()
            if found:
                database.execute("update responses set used = ? where id = ?", [self._clock(), record_id])
        return _record(*found) if found else None

    def chain(self, record_id: str, key: str = "") -> Sequence[Record]:
        """As in `Store`."""
        if self._absent:
            return ()
        with self._lock, _told(self.path), self._connect() as database:
            records = [_record(*row) for row in database.execute(_CHAIN, {"id": record_id, "key": key})]
            used = [(self._clock(), record.id) for record in records]
            database.executemany("update responses set used = ? where id = ?", used)
        return records if records and records[-1].id == record_id else ()

    def delete(self, record_id: str, key: str = "") -> bool:
        """As in `Store`."""
        if self._absent:
            return False
        with self._lock, _told(self.path), self._connect() as database:
            which = {"id": record_id, "key": key}
            return database.execute(f"delete from responses where id = :id and {_OWN}", which).rowcount > 0  # noqa: S608

    def close(self) -> None:
        """As in `Store`."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    @property
    def _absent(self) -> bool:
        """Nothing was ever kept."""
        return self._open is None and (self.path == ":memory:" or not Path(self.path).exists())

    def _prune(self, database: sqlite3.Connection) -> None:
        limits = self.limits
        if limits.days:
            database.execute("delete from responses where used < ?", [self._clock() - limits.days * 86_400])
        count, size = database.execute("select count(*), coalesce(sum(size), 0) from responses").fetchone()
        if not _exceeds(count, size, limits):
            return
        for record_id, lost in database.execute("select id, size from responses order by used").fetchall():
            if not _exceeds(count, size, limits):
                return
            database.execute("delete from responses where id = ?", [record_id])
            count, size = count - 1, size - lost

    def _connect(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = _opened(self.path)
        return self._open


class _told:  # noqa: N801 (reads as a word of the `with` line)
    """Whatever the database says becomes an error that tells the file, and what to do."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error | OSError | ValueError | zlib.error):
            hint = "is there space, and is the file whole? --state names another"
            raise EngineError(f"the state file {self._path!r} failed: {error}", hint=hint, status=503) from error


def _opened(path: str) -> sqlite3.Connection:
    """A connection to a file that was found to be ours, or was made."""
    if path != ":memory:":
        _make(path)
    try:
        database = sqlite3.connect(path, _PATIENCE, check_same_thread=False)
    except sqlite3.Error as error:
        raise UsageError(f"the state file {path!r} cannot be opened: {error}; --state names another") from error
    try:
        _check(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _make(path: str) -> None:
    """An empty file that only its owner may read, if there is none."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise UsageError(f"the state file {path!r} cannot be made: {error.strerror}; --state names another") from error


def _check(database: sqlite3.Connection, path: str) -> None:
    """Make the tables in an empty file; any other must be ours, and one of an older format is brought up to date.

    Raises:
        UsageError: it is not, or is damaged.
    """
    try:
        with database:
            database.execute("begin immediate")
            if not _tables(database):
                _create(database)
            ((mark,),) = database.execute("pragma application_id")
            ((version,),) = database.execute("pragma user_version")
            if mark == _MARK:
                version = _updated(database, version)
        if mark == _MARK and version == _FORMAT:
            database.execute("pragma journal_mode = wal").close()
            database.execute("pragma synchronous = normal").close()
            database.execute("select count(*), sum(size) from responses").fetchone()
    except sqlite3.DatabaseError as error:
        raise UsageError(_advice(path, f"is damaged or is no state file ({error})")) from error
    if mark != _MARK:
        raise UsageError(_advice(path, "belongs to another program"))
    if version > _FORMAT:
        raise UsageError(_advice(path, f"was written by a newer dragoman (format {version}, this one knows {_FORMAT})"))


def _advice(path: str, problem: str) -> str:
    return f"the state file {path!r} {problem}; move it away, or name another one with --state"


def _tables(database: sqlite3.Connection) -> bool:
    with closing(database.execute("select 1 from sqlite_master limit 1")) as rows:
        return rows.fetchone() is not None


def _updated(database: sqlite3.Connection, version: int) -> int:
    """The format of the file, after what leads from an older one to this."""
    while version in _STEPS:
        database.execute(_STEPS[version]).close()
        version += 1
        database.execute(f"pragma user_version = {version}").close()
    return version


def _create(database: sqlite3.Connection) -> None:
    for statement in filter(str.strip, _SCHEMA.split(";")):
        database.execute(statement).close()


def _exceeds(count: int, size: int, limits: Limits) -> bool:
    return bool((limits.count and count > limits.count) or (limits.bytes and size > limits.bytes))


def _record(record_id: str, previous: str, owner: str, key: str, facts: bytes, frames: bytes = b"") -> Record:
    found = json.loads(zlib.decompress(facts))
    whole = zlib.decompress(frames) if frames else b""
    return Record(record_id, found["response"], found["input"], previous, whole, owner, key)


def _pack(data: bytes) -> bytes:
    return zlib.compress(data, 3)
