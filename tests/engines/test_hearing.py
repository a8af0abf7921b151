"""What a reader gives becomes the items of an engine, and an error comes after all that was heard."""

from __future__ import annotations

from typing import Any

import pytest
from upstreams import delta, frames

from dragoman.engines.base import End, Piece
from dragoman.engines.hearing import Completed, Talked
from dragoman.engines.marked import Marked
from dragoman.errors import Broken, Refused
from dragoman.events import CallEnd, Content, Notice, Reasoning
from dragoman.protocols import chat, completions, messages_api, responses


def body(*items: Any, done: bool = True) -> bytes:
    return b"".join(frames(*items, done=done))


def test_texts_in_a_row_are_parted() -> None:
    hearing = Talked(chat.Reader())
    assert hearing.items([Content("a", part=0), Content("b", part=0), Content("c", part=1)]) == [
        Piece("a"),
        Piece("b"),
        Piece("\nc"),
    ]
    call = CallEnd(0, complete=True, valid=True)
    assert hearing.items([call, Content("d", part=3)]) == [call, Piece("d")]


def test_a_refusal_is_no_text_to_decode() -> None:
    said = Content("no", phase="refusal")
    assert Talked(chat.Reader()).items([said]) == [said]


def test_the_end_has_all_counts() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}
    more = {"completion_tokens_details": {"reasoning_tokens": 2}}
    hearing = Talked(chat.Reader())
    items = hearing.feed(body(delta("a", "stop"), {"choices": [], "usage": {**usage, **more}, "timings": {"n": 1}}))
    assert items[-1] == End("stop", 9, 4, 8, {"timings": {"n": 1}}, 2)


def test_an_error_comes_after_what_was_heard() -> None:
    hearing = Talked(chat.Reader())
    assert hearing.feed(body(delta("a"), {"error": "on fire"})) == [Piece("a")]
    assert isinstance(hearing.error, Refused)


def test_a_limit_that_the_upstream_does_not_tell() -> None:
    told = {"object": "response", "status": "completed", "output": [], "usage": {"input_tokens": 3, "output_tokens": 5}}
    for limit, reason in ((5, "length"), (6, "stop"), (None, "stop")):
        hearing = Talked(responses.Reader(), limit)
        (end,) = hearing.items([*hearing.reader.read(told), *hearing.reader.close()])
        assert isinstance(end, End)
        assert end.reason == reason


@pytest.mark.parametrize("whole", [b"<html>", b"", b"[1]"])
def test_a_whole_answer_that_is_none(whole: bytes) -> None:
    hearing = Talked(messages_api.Reader())
    assert hearing.whole(whole) == []
    assert isinstance(hearing.error, Broken)


def test_notices_of_the_prompt_ride_on_the_first_pieces() -> None:
    reader = completions.Reader()
    hearing = Completed(reader, Marked({"<a>": 1}), [Notice("foreign-mark", raw="<a>")], lambda: reader.tokens.pop(0))
    assert hearing.feed(b": ping\n\n") == []
    text = {"choices": [{"index": 0, "text": "x<a>", "finish_reason": "stop", "token_ids": [5, 1]}]}
    assert hearing.feed(body(text)) == [
        Notice("foreign-mark", raw="<a>"),
        Piece("x", [5]),
        Piece("<a>", (1,), special=True),
        End("stop"),
    ]


def test_what_a_raw_completion_cannot_have_is_dropped() -> None:
    hearing = Completed(completions.Reader(), Marked({}), (), lambda: ((), ()))
    assert hearing.items([Reasoning("x")]) == []
