"""Turns that are kept for good: found again by their ids, and no halves on a full disk."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dragoman.engines.base import Piece, Prompt, Segment
from dragoman.errors import UsageError
from dragoman.state.keep import keeper, kept
from dragoman.state.log import Record


def record(name: str, **facts) -> Record:
    made = Record(
        name, 1e9, "/v1/chat/completions", "chat", "m", "", {}, Prompt((Segment("p"),)), outcome="stop", **facts
    )
    made.came(0.1, [Piece(f"text of {name}")])
    return made


@pytest.mark.parametrize("place", ["turns", "turns?a#b.sqlite"])
def test_a_turn_is_found_by_the_beginning_of_its_id_alone(tmp_path, place):
    writer = keeper(str(tmp_path / place))
    for name in ("chat-20010909-1", "chat-20010909-2", "resp-chat-[x]"):
        writer.keep(record(name))
    writer.close()
    found = kept(tmp_path / place, "chat-20010909-2")
    assert found
    assert found.raw == "text of chat-20010909-2"
    assert kept(tmp_path / place, "chat-").raw == "text of chat-20010909-1"
    for nothing in ("*", "014640", "20010909", "[x]", "%"):
        assert kept(tmp_path / place, nothing) is None


@pytest.mark.parametrize("place", ["nowhere", "nowhere.sqlite"])
def test_a_place_without_turns_is_told_of(tmp_path, place):
    with pytest.raises(UsageError, match="nowhere"):
        kept(tmp_path / place, "x")
    assert not (tmp_path / place).exists()


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch, caplog):
    writer = keeper(str(tmp_path))

    def full(self, *_, **__):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    for number in range(3):
        writer.keep(record(f"chat-{number}"))
    writer.close()
    assert not list(tmp_path.iterdir())
    assert writer.lost == 3
    assert len([one for one in caplog.records if "could not be kept" in one.message]) == 1


def test_halves_of_a_killed_process_go_at_the_next_start(tmp_path):
    half = tmp_path / "20010909-014640-chat-1.part"
    half.write_text("==== half")
    other = tmp_path / "mine.part"
    other.write_text("not ours")
    keeper(str(tmp_path)).close()
    assert not half.exists()
    assert other.exists()


@pytest.mark.parametrize("error", ["one\rtwo", "one\n==== two\n---- expect", "one\x0btwo \u2028 three"])
def test_an_error_of_any_words_leaves_a_file_that_is_read(tmp_path, error):
    writer = keeper(str(tmp_path))
    writer.keep(record("chat-1", error=error))
    writer.close()
    case = kept(tmp_path, "chat-1")
    assert case
    assert case.facts[-1].startswith("one")
    assert "two" in case.facts[-1]


class Slow:
    """A disk that takes nothing until it is let go."""

    def __init__(self, monkeypatch) -> None:
        self.begun, self.free = threading.Event(), threading.Event()
        write = Path.write_text

        def wait(path, *arguments, **more):
            self.begun.set()
            self.free.wait(60)
            return write(path, *arguments, **more)

        monkeypatch.setattr(Path, "write_text", wait)


@pytest.mark.parametrize(("count", "size", "kept_turns"), [(3, 1 << 20, 3), (1000, 100, 2)])
def test_a_slow_disk_loses_turns_and_says_so(tmp_path, monkeypatch, caplog, count, size, kept_turns):
    monkeypatch.setattr("dragoman.state.keep._WAITING", count)
    monkeypatch.setattr("dragoman.state.keep._SIZE", size)
    disk, writer = Slow(monkeypatch), keeper(str(tmp_path))
    for number in range(10):
        writer.keep(record(f"chat-{number}", size=50))  # nobody waits here
    disk.begun.wait(60)
    assert writer.lost == 10 - kept_turns
    assert len([one for one in caplog.records if "too slow" in one.message]) == 1
    disk.free.set()
    writer.close()
    assert len(list(tmp_path.iterdir())) == kept_turns
    assert f"{10 - kept_turns} turns were not kept" in caplog.text


def test_a_disk_that_has_caught_up_keeps_turns_again(tmp_path, monkeypatch):
    monkeypatch.setattr("dragoman.state.keep._WAITING", 1)
    writer = keeper(str(tmp_path))
    for number in range(5):
        writer.keep(record(f"chat-{number}"))
        writer._thread.submit(int).result()  # what was before it is written
    writer.close()
    assert writer.lost == 0
    assert len(list(tmp_path.iterdir())) == 5


def test_a_turn_larger_than_all_that_may_wait_is_kept_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("dragoman.state.keep._SIZE", 10)
    disk, writer = Slow(monkeypatch), keeper(str(tmp_path))
    for number in range(2):
        writer.keep(record(f"chat-{number}", size=50))
    disk.free.set()
    writer.close()
    assert writer.lost == 1
