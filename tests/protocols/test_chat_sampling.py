from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.protocols.chat_sampling import read_sampling, write_sampling
from dragoman.protocols.fields import Fields


def read(**fields):
    return read_sampling(Fields(fields))


def test_only_what_is_given_is_passed_on():
    assert read() == {}
    assert read(temperature=0, top_p=0.5, seed=7, top_k=40) == {"temperature": 0, "top_p": 0.5, "seed": 7, "top_k": 40}


def test_other_names_of_the_same():
    assert read(repetition_penalty=1.1) == {"repeat_penalty": 1.1}
    assert read(repetition_penalty=1.1, repeat_penalty=1.2) == {"repeat_penalty": 1.2}


def test_c32_a_grammar_is_passed_on():
    assert read(grammar='root ::= "a"', ignore_eos=True) == {"grammar": 'root ::= "a"', "ignore_eos": True}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("temperature", -0.1, "from 0 to 2; it is -0.1"),
        ("temperature", 2.1, "from 0 to 2"),
        ("temperature", "hot", "must be a number; it is a string"),
        ("temperature", True, "must be a number; it is a boolean"),
        ("temperature", float("nan"), "from 0 to 2"),
        ("top_p", 1.5, "from 0 to 1"),
        ("min_p", -1, "from 0 to 1"),
        ("presence_penalty", 3, "from -2 to 2"),
        ("frequency_penalty", -3, "from -2 to 2"),
        ("repeat_penalty", -1, "at least 0"),
        ("repetition_penalty", -1, "at least 0"),
        ("top_k", 1.5, "must be an integer"),
        ("top_k", -2, "from -1"),
        ("seed", 2**70, "from -"),
        ("seed", "x", "must be an integer"),
        ("logit_bias", "x", "must be an object"),
        ("logit_bias", {"1": 101}, "from -100 to 100 for the token '1'; it is 101"),
        ("logit_bias", {"1": True}, "must be a number"),
        ("logit_bias", {"word": 1}, "keyed by token ids"),
        ("logit_bias", {"1" * 40: 1}, "keyed by token ids"),
        ("ignore_eos", 1, "must be a boolean"),
        ("grammar", {}, "must be a string"),
    ],
)
def test_numbers_have_ranges(name, value, words):
    with pytest.raises(RequestError) as caught:
        read(**{name: value})
    assert caught.value.param == name
    assert words in caught.value.message


def test_a_bias_is_a_list_of_pairs():
    assert read(logit_bias={"15043": 1.5, "2": -100}) == {"logit_bias": [[15043, 1.5], [2, -100]]}
    assert read(logit_bias=[[3, 1]]) == {"logit_bias": [[3, 1]]}
    assert read(logit_bias={}) == {}
    with pytest.raises(RequestError, match=r"logit_bias\[0\] must be a token and its bias"):
        read(logit_bias=[3])


def test_what_is_written_reads_back():
    fields = {"temperature": 0.5, "logit_bias": {"7": 2}, "repeat_penalty": 1.5}
    assert read(**write_sampling(read(**fields))) == read(**fields)
