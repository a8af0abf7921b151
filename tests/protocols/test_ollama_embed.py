from __future__ import annotations

import ollama
import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Raw
from dragoman.protocols.embeddings import Settings
from dragoman.protocols.ollama_embed import answer, read_answer, read_request, write_request

ROWS = [[0.6, 0.8], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a", (Raw("a"),)),
        (["a", "b"], (Raw("a"), Raw("b"))),
        ("", ()),
        ([], ()),
        (None, ()),
        ("\ud800", (Raw("\ufffd"),)),
    ],
)
def test_o11_inputs(value, read):
    assert read_request({"model": "m", "input": value})[0].prompts == read


@pytest.mark.parametrize(
    ("value", "param"),
    [(3, "input"), ([1], "input[0]"), (["a", ""], "input[1]"), (["a", ["b"]], "input[1]"), ({}, "input")],
)
def test_o11_an_input_that_cannot_be_is_named(value, param):
    with pytest.raises(RequestError) as caught:
        read_request({"input": value})
    assert caught.value.param == param


def test_o11_what_is_too_long_is_cut_unless_the_client_says_no():
    assert read_request({"input": "a"})[1] == Settings(truncate=True)
    more = {"truncate": False, "dimensions": 2, "keep_alive": "5m", "options": {"num_ctx": 9, "num_thread": 1}}
    assert read_request({"input": "a", **more})[1] == Settings(dimensions=2, ignored=("options.num_ctx",))
    assert read_request({"input": "a", "dimensions": 0})[1].dimensions is None


def test_a_request_is_an_object():
    with pytest.raises(RequestError, match="JSON object"):
        read_request("a")


def test_o11_durations_are_in_nanoseconds():
    told = answer(ROWS, tokens=7, model="m", seconds=0.5)
    assert (told["total_duration"], told["load_duration"], told["prompt_eval_count"]) == (500_000_000, 0, 7)
    read = ollama.EmbedResponse(**told)
    assert (read.embeddings, read.model) == (ROWS, "m")
    assert answer([], tokens=None, model="m")["embeddings"] == []


def test_what_is_written_is_read():
    assert read_answer(answer(ROWS, tokens=7, model="m"), 2) == (ROWS, 7)
    assert read_answer({"embeddings": ROWS}, 2) == (ROWS, None)


@pytest.mark.parametrize("data", [None, {}, {"embeddings": {}}, {"embeddings": ROWS[:1]}, []])
def test_an_answer_without_its_vectors_is_none(data):
    assert read_answer(data, 2) == (None, None)


def test_a_request_is_read_as_it_was_written():
    body = write_request("m", (Raw("a"), Raw("b")), dimensions=3, truncate=False)
    request, settings = read_request(body)
    assert (request.model, request.prompts) == ("m", (Raw("a"), Raw("b")))
    assert settings == Settings(dimensions=3)
    with pytest.raises(UnsupportedFeature, match="texts only"):
        write_request("m", (Raw(ids=(1,)),))
