from __future__ import annotations

import base64
import struct

import pytest
from openai.types import CreateEmbeddingResponse

from dragoman.errors import RequestError
from dragoman.messages import Raw
from dragoman.protocols import wire
from dragoman.protocols.embeddings import Settings, answer, read_answer, read_request, write_request

ROWS = [[0.6, 0.8], [1.0, 0.0]]


def inputs(value):
    return read_request({"model": "m", "input": value})[0].prompts


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a", (Raw("a"),)),
        (["a", "b"], (Raw("a"), Raw("b"))),
        ([1, 2], (Raw(ids=(1, 2)),)),
        ([0], (Raw(ids=(0,)),)),
        ([[1, 2], [3]], (Raw(ids=(1, 2)), Raw(ids=(3,)))),
        (["a", [3]], (Raw("a"), Raw(ids=(3,)))),
        ("a\ud800", (Raw("a\ufffd"),)),
        (" ", (Raw(" "),)),
    ],
)
def test_l03_inputs_come_in_four_forms(value, read):
    assert inputs(value) == read


@pytest.mark.parametrize(
    ("value", "param", "code"),
    [
        (None, "input", "missing_required_parameter"),
        ("", "input", "invalid_value"),
        ([], "input", "invalid_value"),
        (["a", ""], "input[1]", "invalid_value"),
        ([[1], []], "input[1]", "invalid_value"),
        ([True], "input[0]", "invalid_type"),
        ([1, "a"], "input[0]", "invalid_type"),
        ([1, -2], "input[1]", "invalid_type"),
        ([[2**31]], "input[0][0]", "invalid_type"),
        ([[1], [1, "a"]], "input[1][1]", "invalid_type"),
        ([[1], [[1]]], "input[1][0]", "invalid_type"),
        (3.5, "input", "invalid_type"),
        ({"text": "a"}, "input", "invalid_type"),
        ([None], "input[0]", "invalid_type"),
    ],
)
def test_l03_an_input_that_cannot_be_is_named(value, param, code):
    with pytest.raises(RequestError) as caught:
        inputs(value)
    assert (caught.value.param, caught.value.code) == (param, code)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"encoding_format": "hex"}, "encoding_format"),
        ({"encoding_format": 1}, "encoding_format"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": "2"}, "dimensions"),
        ({"dimensions": 2.5}, "dimensions"),
        ({"model": 3}, "model"),
    ],
)
def test_l03_a_field_that_cannot_be_is_named(fields, param):
    with pytest.raises(RequestError) as caught:
        read_request({"input": "a", **fields})
    assert caught.value.param == param


def test_a_request_is_an_object():
    with pytest.raises(RequestError, match="JSON object"):
        read_request([])


def test_l03_settings():
    _, settings = read_request({"input": "a", "encoding_format": "base64", "dimensions": 2, "input_type": "query"})
    assert settings == Settings(packed=True, dimensions=2, ignored=("input_type",))
    assert not read_request({"input": "a"})[1].truncate


def test_l03_an_answer():
    told = answer(ROWS, tokens=7, packed=False, model="m")
    CreateEmbeddingResponse.model_validate(told, strict=True)
    assert [(item["index"], item["embedding"]) for item in told["data"]] == [(0, ROWS[0]), (1, ROWS[1])]
    assert told["usage"] == {"prompt_tokens": 7, "total_tokens": 7}
    assert answer(ROWS, tokens=None, packed=False, model="m")["usage"]["total_tokens"] == 0


def test_l03_packed_numbers_are_little_endian_and_of_32_bits():
    (item, _) = answer(ROWS, tokens=7, packed=True, model="m")["data"]
    assert base64.b64decode(item["embedding"]) == struct.pack("<2f", 0.6, 0.8)


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_written_is_read(packed):
    told = wire.load(wire.dump(answer(ROWS, tokens=7, packed=packed, model="m")))
    rows, tokens = read_answer(told, 2)
    assert [pytest.approx(row) for row in ROWS] == [list(row) for row in rows]
    assert tokens == 7


def test_a_request_is_read_as_it_was_written():
    given = (Raw("a"), Raw(ids=(1, 2)))
    request, settings = read_request(write_request("m", given, dimensions=3))
    assert (request.model, request.prompts, settings.dimensions, settings.packed) == ("m", given, 3, False)
    assert write_request("", given[:1]) == {"input": ["a"], "encoding_format": "float"}
