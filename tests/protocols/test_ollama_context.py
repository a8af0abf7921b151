from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import RequestError
from dragoman.messages import Message, Reasoning, Text
from dragoman.protocols.ollama_context import pack, unpack

LINES = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text()), max_size=5)


@given(LINES)
def test_o03_a_context_is_taken_back(lines):
    messages = tuple(Message(role, (Text(text),)) for role, text in lines)
    numbers = pack(messages)
    assert all(isinstance(number, int) and 0 <= number < 2**31 for number in numbers)
    assert unpack(numbers, "context") == messages


def test_only_texts_are_kept():
    assert unpack(pack([Message("assistant", (Reasoning("r"), Text("a"), Text("b")))]), "c") == (
        Message("assistant", (Text("a\nb"),)),
    )


def test_no_context_is_none():
    assert unpack([], "context") == ()


def packed(data: bytes) -> list[int]:
    data = zlib.compress(data)
    padded = data + bytes(-len(data) % 3)
    return [pack([])[0], len(data), *(int.from_bytes(padded[at : at + 3]) for at in range(0, len(padded), 3))]


@pytest.mark.parametrize(
    "numbers",
    [
        [1],
        [1, 2, 3],
        [*pack([Message("user", (Text("Hi"),))])[:-1]],
        [*pack([])[:2], -1],
        [*pack([])[:2], "x"],
        [*pack([])[:2], 2**40],
        packed(b"no json"),
        packed(b"7"),
        packed(b'[["boss", "x"]]'),
        packed(b'[["user", 7]]'),
        packed(b'"' + b"x" * (20 << 20) + b'"'),
    ],
)
def test_another_servers_context_is_refused(numbers):
    with pytest.raises(RequestError, match="earlier answer") as caught:
        unpack(numbers, "context")
    assert caught.value.param == "context"


@given(st.lists(st.integers(0, 2**24), max_size=20))
def test_numbers_never_do_harm(numbers):
    for given_numbers in (numbers, [pack([])[0], *numbers]):
        try:
            unpack(given_numbers, "context")
        except RequestError:
            continue
