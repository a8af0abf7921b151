"""llama.cpp's stream is read the same however its bytes are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.engines.base import Alternative, End, Options, Piece, Progress
from dragoman.engines.wire import Chunks, body, failure, refusal
from dragoman.errors import Broken, EngineError, Refused, RequestError

SPECIALS = {"<|e|>": 7}


def line(**chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


STREAM = b"".join(
    [
        line(content="", tokens=[0], prompt_progress={"total": 9, "cache": 2, "processed": 5, "time_ms": 1}),
        b": keep alive\n\n",
        line(content="é", tokens=[1]),
        line(content="", tokens=[2]),
        line(content="<|e|>", tokens=[7]),
        line(content="", tokens=[], stop=True, stop_type="eos", tokens_predicted=3, tokens_evaluated=9),
    ]
)
ITEMS = [Progress(5, 9, 2), Piece("é", [1]), Piece("<|e|>", [7], special=True), End("stop", 9, 3)]


def read(*chunks: bytes, logprobs: int | None = None) -> list[Any]:
    reader = Chunks(SPECIALS, logprobs, "embedded")
    return [item for data in chunks for item in reader.feed(data)]


@pytest.mark.parametrize("size", [1, 2, 7, 50, 10_000])
def test_any_cutting(size: int) -> None:
    assert read(*(STREAM[at : at + size] for at in range(0, len(STREAM), size))) == ITEMS


def test_what_was_read_together_comes_together() -> None:
    assert Chunks(SPECIALS, None, "embedded").feed(STREAM) == ITEMS


def test_the_end_is_known() -> None:
    reader = Chunks(SPECIALS, None, "embedded")
    reader.feed(STREAM[:-3])
    assert not reader.ended
    reader.feed(STREAM[-3:])
    assert reader.ended


def test_text_that_was_held_back_is_not_part_of_the_mark() -> None:
    assert read(line(content="\ufffd<|e|>", tokens=[5, 7])) == [
        Piece("\ufffd", [5]),
        Piece("<|e|>", [7], special=True),
    ]


@pytest.mark.parametrize(("text", "ids"), [("<|e|>", [1, 2]), ("<|e|>", []), ("x", [7]), ("<|e|> ", [7])])
def test_only_the_mark_with_its_own_id_is_special(text: str, ids: list[int]) -> None:
    assert read(line(content=text, tokens=ids)) == [Piece(text, ids)]


def test_logprobs() -> None:
    beside = [{"token": "b", "bytes": [98], "logprob": -1.0}, {"token": "c", "bytes": [99], "logprob": -2.0}]
    token = {"token": "a", "bytes": [97], "logprob": -0.5, "top_logprobs": beside}
    (piece,) = read(line(content="a", tokens=[1], completion_probabilities=[token]), logprobs=1)
    assert piece.logprobs == (Alternative("a", -0.5, (97,), (Alternative("b", -1.0, (98,)),)),)


@pytest.mark.parametrize(
    ("stop", "reason"), [({"stop_type": "limit"}, "length"), ({"truncated": True}, "length"), ({}, "stop")]
)
def test_why_it_ended(stop: dict[str, Any], reason: str) -> None:
    (end,) = read(line(stop=True, timings={"cache_n": 4}, **stop))
    assert (end.reason, end.cached, end.extra) == (reason, 4, {"timings": {"cache_n": 4}})


@pytest.mark.parametrize(
    "data", [line(error={"message": "boom", "code": 500}), b'error: {"message": "boom", "code": 500}\n\n']
)
def test_an_error_in_the_stream(data: bytes) -> None:
    with pytest.raises(Refused, match="500: boom"):
        read(data)


def test_a_chunk_that_cannot_be_read() -> None:
    with pytest.raises(Broken, match="cannot be read"):
        read(b"data: {]\n\n")


def test_a_request() -> None:
    options = Options(5, "start: x", "lark", {"temperature": 0, "stop": ["x"], "prompt": "y"}, 0, ("<|e|>", "<t>"))
    wanted = body("p", options, SPECIALS)
    assert wanted["grammar"] == "%llguidance {}\nstart: x"
    assert (wanted["prompt"], wanted["n_predict"], wanted["n_probs"], wanted["temperature"]) == ("p", 5, 1, 0)
    assert wanted["preserved_tokens"] == ["<|e|>"]
    assert "stop" not in wanted
    assert all(wanted[name] for name in ("stream", "return_tokens", "return_progress"))


def test_a_request_without_wishes() -> None:
    wanted = body(["", 1], Options(), {})
    assert wanted["n_predict"] == -1
    assert not {"grammar", "n_probs"} & set(wanted)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"error": {"message": "m"}}', {"message": "m"}),
        ('{"message": "m"}', {"message": "m"}),
        ('{"error": "m"}', {"message": "m"}),
        ("<html>", {"message": "<html>"}),
    ],
)
def test_errors_of_any_shape(text: str, message: dict[str, str]) -> None:
    assert failure(text) == message


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (
            400,
            {"type": "exceed_context_size_error", "n_prompt_tokens": 9, "n_ctx": 5},
            RequestError,
            "5 tokens.* 9 tok",
        ),
        (400, {"message": "failed to parse grammar"}, RequestError, "cannot use this grammar"),
        (400, {"message": "type must be number"}, RequestError, "refuses this request: type must"),
        (500, {"message": "out of memory"}, EngineError, r"answered 500: out of memory \(last words\)"),
    ],
)
def test_errors_in_our_words(status: int, error: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        raise refusal(status, error, "embedded", "last words")
