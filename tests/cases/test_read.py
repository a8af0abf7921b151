"""Case files that people wrote or broke: what is wrong is told, whatever it is."""

from __future__ import annotations

import json

import pytest

from dragoman.cases.case import BadCase
from dragoman.cases.read import read

from ..server.conftest import call

BROKEN = {
    "piece-number": ("", "---- pieces\n0.1 5"),
    "piece-nothing": ("", "---- pieces\nx"),
    "tool-field": ('tools: {"x": 1}\n', "---- raw\nx"),
    "tool-list": ("tools: {]\n", "---- raw\nx"),
    "tool-name": ('tools: {"name": 5}\n', "---- raw\nx"),
    "tool-parameters": ('tools: {"name": "a", "parameters": 7}\n', "---- raw\nx"),
    "policy": ("policy: recover=never\n", "---- raw\nx"),
    "policy-words": ("policy: x\n", "---- raw\nx"),
    "finish": ("finish: wat\n", "---- raw\nx"),
    "stop": ("stop: 7\n", "---- raw\nx"),
    "prompt": ("prompt: [1]\n", "---- raw\nx"),
    "raw": ("raw: null\n", ""),
    "vocabulary": ('vocabulary: ["a", 5]\n', "---- raw\nx"),
    "frame": ("", "---- raw\nx\n---- frames\n0.1 7"),
}


def text(head: str, body: str) -> str:
    return f"==== a\ndialect: hermes-json\n{head}{body}\n---- expect\nfinish stop\n"


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_case_is_told_of_with_its_place(broken):
    with pytest.raises(BadCase, match=r"^mine\.txt:1: a: "):
        read(text(*broken), "mine.txt")


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
async def test_the_server_refuses_it_too(serving, broken):
    answer = await call(serving(), "POST", "/dragoman/explain", json={"text": text(*broken)})
    assert answer.status == 400, answer.body
    assert "the case file cannot be read" in json.loads(answer.body)["error"]["message"]
