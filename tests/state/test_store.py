from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
import zlib
from contextlib import closing

import pytest

from dragoman.errors import EngineError, UsageError
from dragoman.state.store import Limits, Record, SQLite

DAY = 86_400


class Clock:
    """A time that only a test moves."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "state.sqlite"


@pytest.fixture
def store(path, clock):
    with closing(SQLite(path, clock=clock)) as opened:
        yield opened


def record(number=1, previous="", **more):
    return Record(f"resp_{number}", {"id": f"resp_{number}"}, [{"type": "message"}], previous, **more)


def names(records):
    return [found.id for found in records]


def test_r25_what_is_saved_is_found_again(store):
    store.save(record(frames=b"data: x\n\n" * 100, owner="me"))
    assert store.load("resp_1") == record(frames=b"data: x\n\n" * 100, owner="me")
    store.save(record())
    assert store.load("resp_1") == record()
    assert store.load("resp_2") is None


def test_r25_any_text_is_kept(store):
    odd = Record("resp_1", {"text": "é😀\ud83d\x00"}, ["\ud83d"])
    store.save(odd)
    assert store.load("resp_1") == odd


def test_r25_a_chain_is_given_oldest_first(store):
    for number in (1, 2, 3):
        store.save(record(number, f"resp_{number - 1}" if number > 1 else ""))
    assert names(store.chain("resp_3")) == ["resp_1", "resp_2", "resp_3"]
    assert names(store.chain("resp_1")) == ["resp_1"]
    assert store.chain("resp_4") == ()


def test_r25_a_chain_without_its_beginning_says_so(store):
    store.save(record(1))
    store.save(record(2, "resp_1"))
    store.delete("resp_1")
    assert store.chain("resp_2")[0].previous == "resp_1"


def test_s10_a_key_finds_its_own_alone(store, clock):
    store.save(record(1, key="alice", frames=b"data: x\n\n"))
    store.save(record(2, key="bob"))
    assert store.load("resp_1", "alice") == store.load("resp_1") == record(1, key="alice", frames=b"data: x\n\n")
    assert store.load("resp_1", "bob") is None
    assert store.chain("resp_1", "bob") == ()
    assert not store.delete("resp_1", "bob")
    assert names(store.chain("resp_1", "alice")) == ["resp_1"]
    assert store.delete("resp_1", "alice")
    assert store.delete("resp_2")


def test_s10_a_chain_ends_where_anothers_begins(store):
    store.save(record(1, key="alice"))
    store.save(record(2, "resp_1", key="bob"))
    store.save(record(3, "resp_2", key="alice"))
    assert names(store.chain("resp_3", "alice")) == ["resp_3"]
    assert names(store.chain("resp_3")) == ["resp_1", "resp_2", "resp_3"]


def test_s10_who_may_not_see_it_does_not_keep_it_alive(path, clock):
    with closing(SQLite(path, Limits(days=1), clock=clock)) as store:
        store.save(record(1, key="alice"))
        clock.now += 0.9 * DAY
        store.load("resp_1", "bob")
        clock.now += 0.2 * DAY
        store.save(record(2, key="bob"))
        assert store.load("resp_1", "alice") is None


def format_1(path):
    """A file as it was before keys were kept."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """
            create table responses(
              id text primary key, previous text not null, owner text not null, used real not null,
              size integer not null, facts blob not null, frames blob not null
            );
            create index responses_used on responses(used, size);
            pragma application_id = 0x44524147;
            pragma user_version = 1;
            """
        )
        facts = zlib.compress(b'{"response": {"id": "resp_1"}, "input": [{"type": "message"}]}')
        database.execute("insert into responses values('resp_1', '', '', 1000000.0, 9, ?, x'')", [facts])
        database.commit()


def test_an_older_file_is_brought_up_to_date(path, clock):
    format_1(path)
    for _ in range(2):  # and it stays so
        with closing(SQLite(path, clock=clock)) as store:
            assert store.load("resp_1") == record()
            assert store.load("resp_1", "alice") is None  # it does not say whose it is
            store.save(record(2, key="alice"))
            assert store.load("resp_2", "alice") == record(2, key="alice")
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("pragma user_version").fetchone() == (2,)


def test_two_processes_may_bring_it_up_to_date(path):
    format_1(path)
    opened = []
    threads = [threading.Thread(target=lambda: opened.append(SQLite(path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    for store in opened:
        assert store.load("resp_1") == record()
        store.close()


def test_a_circle_comes_to_an_end(store):
    store.save(record(1, "resp_2"))
    store.save(record(2, "resp_1"))
    assert names(store.chain("resp_1"))[-2:] == ["resp_2", "resp_1"]


def test_r26_what_is_deleted_is_gone(store):
    store.save(record())
    assert store.delete("resp_1")
    assert not store.delete("resp_1")
    assert store.load("resp_1") is None


def test_nothing_is_written_before_there_is_something_to_keep(path):
    with closing(SQLite(path)) as store:
        assert (store.load("a"), store.chain("a"), store.delete("a")) == (None, (), False)
        assert not path.parent.exists()
        store.save(record())
        assert path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="other rights")
def test_only_the_owner_may_read_it(store, path):
    store.save(record())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_memory_is_a_store_too(clock):
    with closing(SQLite(":memory:", clock=clock)) as store:
        assert store.load("resp_1") is None
        store.save(record())
        assert store.load("resp_1") == record()


def test_another_process_sees_it(store, path):
    store.save(record())
    with closing(SQLite(path)) as other:
        assert other.load("resp_1") == record()
        other.save(record(2))
    assert store.load("resp_2") == record(2)


def test_threads_may_share_it(store):
    workers = [threading.Thread(target=store.save, args=[record(number)]) for number in range(20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(store.load(f"resp_{number}") for number in range(20))


KILLED = """
import os, signal, sys
from dragoman.state.store import Record, SQLite
store = SQLite(sys.argv[1])
for number in range(50):
    store.save(Record(f"resp_{number}", {"text": "x" * 10_000}))
print("saved", flush=True)
store.save(Record("resp_last", {}))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_it_survives_a_kill(path):
    done = subprocess.run([sys.executable, "-c", KILLED, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-9, "saved\n", "")
    with closing(SQLite(path)) as store:
        assert all(store.load(f"resp_{number}") for number in [*range(50), "last"])


# --- limits


def test_what_was_not_used_for_long_goes(path, clock):
    with closing(SQLite(path, Limits(days=2), clock=clock)) as store:
        store.save(record(1))
        store.save(record(2))
        clock.now += 1.5 * DAY
        assert store.load("resp_1")
        clock.now += DAY
        store.save(record(3))
        assert store.load("resp_2") is None
        assert store.load("resp_1")


def test_using_the_last_keeps_the_whole_chain(path, clock):
    with closing(SQLite(path, Limits(days=2), clock=clock)) as store:
        store.save(record(1))
        store.save(record(2, "resp_1"))
        clock.now += 1.5 * DAY
        assert store.chain("resp_2")
        clock.now += DAY
        store.save(record(3, "resp_2"))
        assert names(store.chain("resp_3")) == ["resp_1", "resp_2", "resp_3"]


def test_too_many_make_the_oldest_go(path, clock):
    with closing(SQLite(path, Limits(count=3), clock=clock)) as store:
        for number in range(5):
            clock.now += 1
            store.save(record(number))
        assert [bool(store.load(f"resp_{number}")) for number in range(5)] == [False, False, True, True, True]


def test_too_large_make_the_oldest_go(path, clock):
    with closing(SQLite(path, Limits(bytes=50_000), clock=clock)) as store:
        for number in range(5):
            clock.now += 1
            store.save(record(number, frames=os.urandom(20_000)))
        assert [bool(store.load(f"resp_{number}")) for number in range(5)] == [False, False, False, True, True]


# --- files that cannot be


def test_a_damaged_file_is_told(path):
    path.parent.mkdir()
    path.write_bytes(b"SQLite format 3\x00" + os.urandom(8192))
    with pytest.raises(UsageError, match="is damaged") as caught:
        SQLite(path)
    assert str(path) in str(caught.value)
    assert "--state" in str(caught.value)


def test_a_file_that_is_no_database_is_told_and_left_alone(path):
    path.parent.mkdir()
    path.write_text("my diary, page one: " * 100)
    with pytest.raises(UsageError, match="no state file"):
        SQLite(path)
    assert path.read_text().startswith("my diary")


def test_a_newer_file_is_told_and_left_alone(store, path):
    store.save(record())
    store.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma user_version = 9")
        database.commit()
    with pytest.raises(UsageError, match="newer dragoman"):
        SQLite(path)


def test_the_database_of_another_program_is_told_and_left_alone(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table diary(page)")
        database.commit()
    with pytest.raises(UsageError, match="another program"):
        SQLite(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("select name from sqlite_master").fetchall() == [("diary",)]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        closing(SQLite(tmp_path / "file" / "state.sqlite")) as store,
        pytest.raises(UsageError, match="cannot be made"),
    ):
        store.save(record())


def test_a_file_that_breaks_later_is_told(store, path):
    store.save(record())
    with closing(sqlite3.connect(path)) as database:
        database.execute("drop table responses")
        database.commit()
    for work in (
        lambda: store.save(record()),
        lambda: store.load("a"),
        lambda: store.chain("a"),
        lambda: store.delete("a"),
    ):
        with pytest.raises(EngineError, match="state file") as caught:
            work()
        assert caught.value.status == 503
