from __future__ import annotations

import asyncio
import os
import sqlite3

import pytest

from dragoman.errors import EngineError, RequestError, UsageError
from dragoman.protocols import sse
from dragoman.server.config import Config
from dragoman.server.shelf import Recording, Shelf, build_store
from dragoman.state.store import Record, SQLite


def frame(number):
    return sse.frame(b'{"sequence_number":%d}' % number, "response.x")


async def read(recording, after=-1):
    return [piece async for piece in recording.follow(after, 9.0)]


@pytest.fixture
def shelf():
    return Shelf(SQLite(":memory:"))


def test_the_settings_name_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_DATA", str(tmp_path))
    assert build_store(Config(state="off")) is None
    assert build_store(Config()).path == str(tmp_path / "responses.sqlite")
    assert build_store(Config(state="memory")).path == ":memory:"
    limits = build_store(Config(state=str(tmp_path / "x"), state_count=3, state_days=1.5, state_bytes=9)).limits
    assert (limits.count, limits.days, limits.bytes) == (3, 1.5, 9)


def test_a_file_that_cannot_be_used_stops_the_start(tmp_path):
    (tmp_path / "x").write_text("a diary " * 100)
    with pytest.raises(UsageError, match="state file"):
        build_store(Config(state=str(tmp_path / "x")))


async def test_r26_a_recording_is_followed_from_any_event():
    recording = Recording(Record("resp_1", {}), background=True)
    recording.add(frame(0) + frame(1))
    follower = asyncio.create_task(read(recording))
    await asyncio.sleep(0)
    recording.add(sse.comment("ping") + frame(2) + sse.DONE)
    recording.end()
    assert b"".join(await follower) == frame(0) + frame(1) + frame(2) + sse.DONE
    assert await read(recording, 1) == [frame(2), sse.DONE]
    assert await read(recording, 7) == [sse.DONE]


async def test_s3_a_silent_recording_keeps_its_follower_alive():
    recording = Recording(Record("resp_1", {}), background=True)
    follower = recording.follow(-1, 0.01)
    assert (await anext(follower)).startswith(b":")
    recording.end()
    assert [piece async for piece in follower if piece == sse.DONE] == [sse.DONE]


async def test_r25_a_store_that_fails_does_not_fail_the_answer(shelf, caplog):
    shelf.store.save(Record("resp_0", {}))
    shelf.store._open.execute("drop table responses")
    await shelf.keep(shelf.open(Record("resp_1", {}), background=False))
    assert "resp_1 was not kept" in caplog.text
    with pytest.raises(EngineError):
        await shelf.find("resp_1")
    with pytest.raises(EngineError):
        await shelf.begin(shelf.live["resp_1"])


async def test_r25_a_chain_with_a_hole_is_told(shelf):
    for number in (1, 2):
        shelf.store.save(Record(f"resp_{number}", {}, previous=f"resp_{number - 1}" if number > 1 else ""))
    assert len(await shelf.chain("resp_2")) == 2
    await shelf.forget("resp_1")
    with pytest.raises(RequestError, match="resp_1") as caught:
        await shelf.chain("resp_2")
    assert (caught.value.status, caught.value.code) == (404, "previous_response_not_found")


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be asked")
@pytest.mark.parametrize(
    ("owner", "status"),
    [
        ("", "queued"),
        (str(os.getppid()), "queued"),
        (str(os.getpid()), "failed"),
        ("999999999", "failed"),
        ("x", "failed"),
    ],
    ids=["whole", "another", "ours", "gone", "odd"],
)
async def test_r28_what_nobody_writes_any_more_has_failed(shelf, owner, status):
    shelf.store.save(Record("resp_1", {"status": "queued"}, owner=owner))
    assert (await shelf.find("resp_1")).response["status"] == status


async def test_without_a_store_nothing_is_found():
    shelf = Shelf(None)
    with pytest.raises(RequestError):
        await shelf.find("resp_1")
    with pytest.raises(RequestError):
        await shelf.chain("resp_1")
    with pytest.raises(RequestError):
        await shelf.forget("resp_1")
    shelf.close()


def test_the_file_is_let_go(tmp_path):
    store = SQLite(tmp_path / "x")
    store.save(Record("resp_1", {}))
    Shelf(store).close()
    with sqlite3.connect(tmp_path / "x") as database:
        database.execute("pragma journal_mode = delete")  # needs the file for itself
    database.close()
