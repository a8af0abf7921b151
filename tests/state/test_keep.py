"""Turns that are kept for good: found again by their ids, and no halves on a full disk."""

from __future__ import annotations

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
