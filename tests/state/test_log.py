"""What is kept has no secrets, wherever they were cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dragoman import api
from dragoman.cases.expect import problems
from dragoman.engines.base import Piece, Prompt, Segment
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Reasoning
from dragoman.explanation import explain
from dragoman.state.log import Record, TurnLog
from dragoman.syntax.decode import fold
from dragoman.syntax.dialect import Dialect

SECRET = "sk-" + "a1" * 30


@pytest.mark.parametrize("behind", [19_940, 19_970, 19_999])
def test_a_secret_at_the_cut_of_the_prompt_is_masked(behind):
    record = Record(
        "chat-1", 0.0, "/", "chat", "m", "", {}, Prompt((Segment(f"say {SECRET}{chr(46) * behind}"),)), outcome="stop"
    )
    prompt = record.case().prompt
    assert len(prompt) == 20_000
    assert "a1" not in prompt


def test_a_turn_that_is_too_large_keeps_its_events_joined_and_is_counted_whole():
    log = TurnLog(limit=80_000)
    record = Record("chat-1", 0.0, "/", "chat", "m", "", {}, Prompt((Segment("p"),)))
    log.begin(record)
    for number in range(1000):
        record.came(0.1, [Piece("ab")])
        event = Reasoning("ab", 2 * number) if number < 500 else Content("ab", 2 * number, 1)
        record.made(0.1, [event], b"data: ab\n\n")
    calls = [
        CallStart(0, "", "f"),
        CallArgs(0, "{"),
        CallArgs(0, "}"),
        CallEnd(0, complete=True, valid=True),
        CallStart(1, "", "g"),
        CallArgs(1, "1"),
    ]
    record.made(0.2, calls, b"")
    before = fold(record.told)
    record.outcome = "stop"
    log.end(record)
    assert len(record.told) == 7
    assert fold(record.told) == before
    assert not record.frames
    assert record.raw == "ab" * 1000
    assert record.case().raw == record.raw


def test_events_and_frames_count_as_memory():
    log = TurnLog(limit=400_000)
    for number in range(50):
        record = Record(f"chat-{number}", 0.0, "/", "chat", "m", "", {}, Prompt((Segment("p"),)))
        log.begin(record)
        for _ in range(100):
            record.came(0.1, [Piece("a")])
            record.made(0.1, [Content("a")], b"data: a\n\n")
        record.outcome = "stop"
        log.end(record)
    assert len(log) == 12


@pytest.mark.parametrize("dialect", ["", "hermes-json", "learnt-of-nobody"])
def test_a_turn_of_an_engine_that_decodes_by_itself_replays_as_recorded(dialect):
    record = Record("chat-1", 0.0, "/", "chat", "m", dialect, {}, Prompt((Segment("p"),)), decoded=True, outcome="stop")
    record.came(0.1, [Piece("its "), Piece("text")])
    case = record.case()
    assert case.expect[0] == 'text "its text"'
    again = replace(case, dialect="" if dialect.startswith("learnt") else dialect)
    assert not problems(again, explain(again, api.get(again.dialect) if again.dialect else Dialect("")).turn)
