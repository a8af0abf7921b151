"""A chunk that is not parsed says the same as one that is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.events import Content, Reasoning
from dragoman.protocols import chat
from dragoman.protocols.quick import Quick


def frame(text: str, key: str = "content", ascii_only: bool = True, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {key: text}, "logprobs": None, "finish_reason": None, **more}
    data = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(data, ensure_ascii=ascii_only).encode() + b"\n\n"


def slowly(body: bytes) -> Any:
    """Read byte by byte, which never takes the quick way for long."""
    reader = chat.Reader()
    return [event for place in range(len(body)) for event in reader.feed(body[place : place + 1])]


def at_once(body: bytes) -> Any:
    return chat.Reader().feed(body)


TEXTS = st.text(st.sampled_from('ab"\\\n\té😀m{}[],:\x7f\u2028'), max_size=6) | st.sampled_from(
    ["m", "x", "stop", "null"]
)


@examples(4)
@given(
    st.lists(
        st.tuples(TEXTS, st.sampled_from(["content", "reasoning", "reasoning_content"]), st.booleans()), max_size=8
    )
)
def test_every_text_is_read_as_it_is(pieces: list[tuple[str, str, bool]]) -> None:
    body = b"".join(frame(*piece) for piece in pieces) + frame("", finish_reason="stop") + b"data: [DONE]\n\n"
    assert at_once(body) == slowly(body)


def test_alike_chunks_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = chat.Reader()
    reader.feed(frame("a"))
    monkeypatch.setattr(chat.Reader, "_take", None)
    assert reader.feed(frame("b") + frame("c\n") + frame("é")) == [Content("b"), Content("c\n"), Content("é")]


def test_another_kind_of_text_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = chat.Reader()
    assert reader.feed(frame("r", "reasoning") + frame("a")) == [Reasoning("r"), Content("a", part=1)]
    monkeypatch.setattr(chat.Reader, "_take", None)
    assert reader.feed(frame("b")) == [Content("b", part=1)]


@pytest.mark.parametrize(
    "chunk",
    [
        frame("b", finish_reason="stop"),
        frame("b", index=1),
        frame("b", logprobs={"content": []}),
        frame("b").replace(b'"b"', b'"b","refusal":"no"'),
        frame("b").replace(b'"b"', b'"b'),
        frame("b").replace(b'"b"', b'"\\"'),
        frame("b").replace(b'"b"', b'"\x01"'),
        frame("b").replace(b'"b"', b'"\xff"'),
        frame("b").replace(b'"b"', b"null"),
        frame("b").replace(b'"m"', b'"n"'),
        b": ping\n\n",
        b"data: [DONE]\n\n",
        b"event: error\n" + frame("b"),
    ],
)
def test_what_is_not_alike_is_read_in_full(chunk: bytes) -> None:
    quick = Quick()
    reads = chat.Reader()._text_of
    quick.learn(frame("a").rstrip(b"\n"), "content", "a", reads)
    assert quick.texts(frame("z")) == ["z"]
    assert quick.texts(chunk) is None
    assert repr(at_once(frame("a") + chunk)) == repr(slowly(frame("a") + chunk))


def test_a_text_that_stands_elsewhere_too_is_no_place_to_learn_from() -> None:
    quick = Quick()
    reads = chat.Reader()._text_of
    quick.learn(frame("m").rstrip(b"\n"), "content", "m", reads)
    assert quick.texts(frame("z")) is None
    escaped = frame("m").replace(b'"content": "m"', b'"content": "\\u006d"').rstrip(b"\n")
    quick.learn(escaped, "content", "m", reads)
    assert quick.texts(escaped.replace(b'"model": "m"', b'"model": "z"') + b"\n\n") is None
