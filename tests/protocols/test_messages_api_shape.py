from __future__ import annotations

import json

import pytest

from dragoman.events import Usage
from dragoman.protocols.messages_api_shape import input_json, input_of, usage_shape


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("", {}),
        ("{}", {}),
        (' {"a": [1, 2.5e3]} ', {"a": [1, 2500.0]}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ("[]", {"_raw": "[]"}),
        ("ls", {"_raw": "ls"}),
        ('{"a": -Infinity}', {"_raw": '{"a": -Infinity}'}),
        ('{"a": 1e400}', {"_raw": '{"a": 1e400}'}),
        ('{"a": ' + "1" * 5000 + "}", {"_raw": '{"a": ' + "1" * 5000 + "}"}),
    ],
)
def test_m07_arguments_are_an_object_or_kept_raw(arguments, value):
    assert input_of(arguments) == value
    assert json.loads(input_json(arguments)) == value


def test_m07_the_models_own_text_is_sent_as_it_is():
    assert input_json('{ "a":  "\\u00e9" }') == '{ "a":  "\\u00e9" }'


def test_m09_unknown_numbers_are_zero_and_parts_never_exceed_the_whole():
    assert usage_shape(None)["input_tokens"] == usage_shape(None)["output_tokens"] == 0
    shape = usage_shape(Usage(3, 4, 9, 9))
    assert (shape["input_tokens"], shape["cache_read_input_tokens"]) == (0, 3)
    assert shape["output_tokens_details"] == {"thinking_tokens": 4}
    assert usage_shape(None) == usage_shape(Usage())
