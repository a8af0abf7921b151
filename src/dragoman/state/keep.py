"""Where turns are kept for good: a folder with a file for each, or one SQLite file.

They are written by a thread, so that no stream waits for a disk; what a disk is too slow for is not kept, and counted.
A file is made beside its place and then moved there,
and SQLite writes its journal first: a killed process leaves no half a turn.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..cases.case import Case
from ..cases.read import load, read
from ..cases.write import write
from ..errors import UsageError
from .log import Record

__all__ = ["Folder", "Table", "keeper", "kept"]

_log = logging.getLogger(__name__)
_DATABASE = (".sqlite", ".sqlite3", ".db")
_STAMP = len("20261231-235959-")  # what stands before an id in a file's name
_COUNT = 10_000  # turns that are kept unless told otherwise
_WAITING, _SIZE = 1000, 64 << 20  # turns that may wait for the disk, and the characters that they may have
_FIND = "select text from turns where substr(id, 1, length(?1)) = ?1 order by began, id limit 1"
_SCHEMA = """
create table if not exists turns(
  id text primary key, began real not null, model text, dialect text, outcome text, notices text, text blob not null
);
create index if not exists turns_began on turns(began);
"""


def keeper(place: str, count: int = _COUNT) -> Folder | Table:
    """What keeps turns at a place: SQLite if it is named like one, else a folder.

    Raises:
        UsageError: nothing can be written there.
    """
    path = Path(place).expanduser()
    try:
        return Table(path, count) if path.suffix in _DATABASE else Folder(path, count)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"turns cannot be kept at {place}: {error}") from None


def kept(place: Path, key: str) -> Case | None:
    """The turn whose id begins with `key`, from where turns are kept.

    Raises:
        UsageError: no turns are kept there.
    """
    if not place.exists():
        raise UsageError(f"no turns are kept at {place}: there is no such file or folder")
    if place.suffix in _DATABASE:
        row = _row(place, key)
        return read(zlib.decompress(row[0]).decode("utf-8", "surrogatepass"))[0] if row else None
    found = next((path for path in sorted(_files(place)) if path.name[_STAMP:].startswith(key)), None)
    return load(found)[0] if found else None


def _row(place: Path, key: str) -> Any:
    try:
        with closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(_FIND, (key,)).fetchone()
    except sqlite3.Error as error:
        raise UsageError(f"no turns can be read from {place}: {error}") from None


class _Writer:
    """A thread that writes one turn after another; the first that cannot be kept is told of, all are counted (`lost`)."""

    def __init__(self) -> None:
        self.lost = 0
        self._waiting = self._size = 0
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="turn-log")

    def keep(self, record: Record) -> None:
        """Keep one, soon."""
        if self._take(record):
            self._thread.submit(self._try, record)
        else:
            self._lose("a turn was not kept, because the disk is too slow for them; further ones are counted only")

    def close(self) -> None:
        """Write what is left, and release."""
        self._thread.submit(self.release)
        self._thread.shutdown()
        if self.lost:
            _log.warning("%d turns were not kept", self.lost)

    def write(self, record: Record, text: str) -> None:
        """Write one, now."""
        raise NotImplementedError

    def release(self) -> None:
        """Close what is open."""

    def _take(self, record: Record) -> bool:
        """Whether there is room for one more; a large one may wait alone."""
        with self._lock:
            if self._waiting and (self._waiting >= _WAITING or self._size + record.size > _SIZE):
                return False
            self._waiting += 1
            self._size += record.size
            return True

    def _try(self, record: Record) -> None:
        try:
            self.write(record, write(record.case()))
        except Exception:  # noqa: BLE001 (a log must not stop what it logs)
            self._lose("a turn could not be kept; further ones are counted only", why=True)
        finally:
            with self._lock:
                self._waiting -= 1
                self._size -= record.size

    def _lose(self, words: str, *, why: bool = False) -> None:
        with self._lock:
            self.lost += 1
            first = self.lost == 1
        if first:
            _log.error(words, exc_info=why)


class Folder(_Writer):
    """A file for each turn, named by its time and id; the oldest go when there are more than `count`."""

    def __init__(self, path: Path, count: int = _COUNT) -> None:
        super().__init__()
        path.mkdir(parents=True, exist_ok=True)
        self.path, self.count = path, count
        for draft in path.glob("????????-??????-*.part"):  # of a process that was killed
            draft.unlink(missing_ok=True)
        self._files = deque(sorted(_files(path)))

    def write(self, record: Record, text: str) -> None:
        """As in `_Writer`."""
        when = datetime.fromtimestamp(record.began, UTC).strftime("%Y%m%d-%H%M%S")
        name = re.sub(r"[^\w.-]", "_", record.id)
        path = self.path / f"{when}-{name}.txt"
        draft = path.with_suffix(".part")
        try:
            draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)  # a full disk is not filled with halves
            raise
        self._files.append(path)
        while len(self._files) > self.count:
            self._files.popleft().unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[Path]:
    return folder.glob("????????-??????-*.txt")


class Table(_Writer):
    """One SQLite file; the oldest turns go when there are more than `count`."""

    def __init__(self, path: Path, count: int = _COUNT) -> None:
        super().__init__()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.count = count
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute("pragma journal_mode = wal")
        self._database.executescript(_SCHEMA)

    def write(self, record: Record, text: str) -> None:
        """As in `_Writer`."""
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
        row = (record.id, record.began, record.model, record.dialect, record.outcome, " ".join(record.noticed), packed)
        self._database.execute("insert or replace into turns values(?, ?, ?, ?, ?, ?, ?)", row)
        oldest = "select id from turns order by began desc limit -1 offset ?"
        self._database.execute(f"delete from turns where id in ({oldest})", (self.count,))  # noqa: S608 (our own)

    def release(self) -> None:
        """As in `_Writer`."""
        self._database.close()
