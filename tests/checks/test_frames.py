from __future__ import annotations

from dragoman.checks.frames import check_frames, frames


def test_comments_alone_are_no_frames():
    assert frames(b": x\n\n:\n\n") == []


def test_frames_are_counted_and_read():
    first, second = frames(b'event: e\ndata: {"a":1}\n\n: x\n\ndata: [DONE]\n\n')
    assert (first.number, first.fields, first.json) == (0, [("event", "e"), ("data", '{"a":1}')], {"a": 1})
    assert (second.number, second.is_done, second.json) == (1, True, None)
    assert list(check_frames([first, second])) == []


def test_whole_pairs_are_no_halves():
    (frame,) = frames(b'data: {"a":"\\ud83d\\ude00"}\n\n')
    assert frame.json == {"a": "😀"}
    assert frame.problem == ""
