from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import Broken
from dragoman.protocols import sse
from dragoman.protocols.sse import Message, Reader


def read(*pieces: bytes) -> list[Message]:
    reader = Reader()
    return [message for piece in pieces for message in reader.feed(piece)] + reader.close()


def test_s02_a_frame_is_one_data_line_and_a_blank_one():
    assert sse.frame(b"{}") == b"data: {}\n\n"
    assert sse.frame(b"{}", "ping") == b"event: ping\ndata: {}\n\n"


def test_s03_a_comment_is_skipped_whatever_stands_in_it():
    assert sse.comment("a\nb\r\n c") == b": a b c\n\n"
    assert read(sse.comment("data: x"), sse.comment(), sse.comment("\ud83d"), b"data: y\n\n") == [Message("y")]


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        (b"data: a\n\ndata: b\n\n", [Message("a"), Message("b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [Message("a"), Message("b")]),
        (b"data: a\r\rdata: b\r\r", [Message("a"), Message("b")]),
        (b"data: a\r\ndata: b\n\r\n", [Message("a\nb")]),
        (b"data:a\n\ndata:  b\n\n", [Message("a"), Message(" b")]),
        (b": hi\n\ndata: a\n: x\n\n", [Message("a")]),
        (b"event: e\ndata: a\n\ndata: b\n\n", [Message("a", "e"), Message("b")]),
        (b"event: e\n\ndata: b\n\n", [Message("b")]),
        (b"id: 1\nretry: 5\nunknown\ndata\n\n", [Message("")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Message("a")]),
        (b"data: \xef\xbb\xbf\n\n", [Message("\ufeff")]),
        (b"data: a", [Message("a")]),
        (b"data: a\n", [Message("a")]),
        (b"data: \xff\n\n", [Message("\ufffd")]),
        (b"data: a\x0b\x0cb\xc2\x85c\n\n", [Message("a\x0b\x0cb\x85c")]),
        (b"", []),
        (b"\n\n\r\n", []),
    ],
)
def test_every_form_reads_the_same_at_every_cut(body, messages):
    assert read(body) == messages
    assert read(*(body[i : i + 1] for i in range(len(body)))) == messages
    for cut in range(len(body)):
        assert read(body[:cut], body[cut:]) == messages


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))), st.randoms())
def test_what_is_written_is_read_in_any_pieces(texts, random):
    body = b"".join(sse.frame(text.encode()) for text in texts)
    cuts = sorted(random.randrange(len(body) + 1) for _ in range(5))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert read(*pieces) == [Message(text) for text in texts]


def test_a_message_comes_as_soon_as_its_blank_line():
    reader = Reader()
    assert reader.feed(b"data: a\n") == []
    assert reader.feed(b"\n") == [Message("a")]


def test_an_endless_line_breaks_and_a_long_stream_does_not():
    reader = Reader(limit=1000)
    for _ in range(100):
        reader.feed(b": " + b"x" * 90 + b"\n\n")
        reader.feed(b"data: " + b"x" * 90 + b"\n\n")
    with pytest.raises(Broken, match="longer than 1000 bytes"):
        for _ in range(100):
            reader.feed(b"x" * 90)


def test_many_data_lines_of_one_event_break_too():
    reader = Reader(limit=1000)
    with pytest.raises(Broken):
        for _ in range(100):
            reader.feed(b"data: " + b"x" * 90 + b"\n")


def test_long_lines_in_small_pieces_are_joined_once():
    reader = Reader()
    for _ in range(10_000):
        assert reader.feed(b"x") == []
    assert len(reader._rest) == 10_000  # held as they came: joining at each piece would grow with the square
    assert reader.feed(b":\n\ndata: 1\n\n") == [Message("1")]
