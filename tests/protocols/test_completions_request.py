from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Raw
from dragoman.protocols.completions import Settings, read_request


def read(prompt="P", **fields):
    return read_request({"model": "m", "prompt": prompt, **fields})


@pytest.mark.parametrize(
    ("prompt", "raws"),
    [
        ("a", (Raw("a"),)),
        ("", (Raw(),)),
        (["a", "b"], (Raw("a"), Raw("b"))),
        ([1, 2], (Raw(ids=(1, 2)),)),
        ([[1], [2, 3]], (Raw(ids=(1,)), Raw(ids=(2, 3)))),
        (["a", [1]], (Raw("a"), Raw(ids=(1,)))),
    ],
)
def test_l01_prompts(prompt, raws):
    request = read(prompt)[0]
    assert (request.prompts, request.messages, request.choice) == (raws, (), "auto")


def test_l01_everything_else():
    request, settings = read(
        max_tokens=9, n=2, best_of=2, stop="x", logprobs=3, temperature=0.5, seed=1, echo=False, user="me",
        logit_bias={"5": -100}, stream=True, stream_options={"include_usage": True}, response_format={"type": "json_object"},
    )  # fmt: skip
    assert (request.limit, request.n, request.stop, request.logprobs, request.schema) == (9, 2, ("x",), 3, {})
    assert request.sampling == {"temperature": 0.5, "seed": 1, "logit_bias": [[5, -100]]}
    assert settings == Settings(stream=True, include_usage=True)


@pytest.mark.parametrize(("fields", "limit"), [({}, 16), ({"max_tokens": None}, 16), ({"max_tokens": -1}, None)])
def test_l01_the_limit_is_that_of_the_api(fields, limit):
    assert read(**fields)[0].limit == limit


def test_l01_the_request_must_be_an_object():
    with pytest.raises(RequestError, match="JSON object"):
        read_request([])


def test_l01_messages_belong_elsewhere():
    with pytest.raises(RequestError, match="/v1/chat/completions"):
        read_request({"messages": []})
