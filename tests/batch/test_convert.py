"""Lines rewritten from one dialect to another."""

from __future__ import annotations

import json
import pickle

import pytest

from dragoman import api
from dragoman.batch.convert import Conversion
from dragoman.errors import UsageError

HERMES = '<think>\nhm\n</think>\n\nOk.\n<tool_call>\n{"name": "f", "arguments": {"a": 1, "b": "x"}}\n</tool_call>'
TO = Conversion("hermes-json", "qwen3-coder-xml")


def test_a_text_is_rewritten_and_all_else_stays():
    line = TO.line(json.dumps({"id": 7, "raw": HERMES, "score": 0.5}))
    assert (line["id"], line["score"]) == (7, 0.5)
    again = api.decode(
        "qwen3-coder-xml", line["raw"], [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]
    )
    assert (again.reasoning, again.content, again.calls[0].arguments) == ("hm", "Ok.", '{"a": 1, "b": "x"}')


@pytest.mark.parametrize("key", ["raw", "completion", "text", "output"])
def test_a_text_may_have_other_names(key: str):
    assert "<function=f>" in TO.line(json.dumps({key: HERMES}))[key]


def test_messages():
    line = TO.line(
        json.dumps({"messages": [{"role": "user", "content": HERMES}, {"role": "assistant", "content": HERMES}, 3]})
    )
    assert line["messages"][0]["content"] == HERMES
    assert "<function=f>" in line["messages"][1]["content"]
    assert line["messages"][2] == 3
    other = {"role": "assistant", "content": None}
    assert TO.line(json.dumps({"messages": [other]}))["messages"] == [other]


def test_the_dialect_of_each_text_is_recognised():
    to = Conversion("auto", "gemma4")
    assert to.line(json.dumps({"raw": HERMES}))["raw"].startswith("<|channel>thought\nhm")
    assert to.line(json.dumps({"raw": "Hi"}))["raw"] == "Hi"


def test_tools_and_the_prompt_of_a_line_count():
    untouched = HERMES.partition("Ok.")[2]
    plain = Conversion("hermes-json", "gemma4").line(json.dumps({"raw": untouched, "tools": []}))
    assert plain["raw"] == untouched
    with pytest.raises(UsageError, match="read back as another"):
        TO.line(json.dumps({"raw": untouched, "tools": []}))  # it would become a call
    opened = TO.line(json.dumps({"raw": "hm</think>Hi", "prompt": "<|im_start|>assistant\n<think>\n"}))
    assert opened["raw"] == "<think>\nhm\n</think>\n\nHi"


WRONG = {
    "no JSON": "{",
    "no object": "[1]",
    "nothing to rewrite": '{"id": 1}',
    "a cut call": json.dumps({"raw": HERMES[:-30], "finish": "length"}),
    "deep": '{"raw": ' + "[" * 100_000,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_line_that_cannot_be_rewritten_is_told(what: str):
    done = TO((3, WRONG[what] + "\n"))
    assert (done.number, done.text) == (3, WRONG[what])
    assert done.wrong
    with pytest.raises(UsageError):
        TO.line(WRONG[what])


def test_strict_takes_nothing_doubtful():
    doubtful = HERMES.replace("</tool_call>", "")
    assert not TO((1, json.dumps({"raw": doubtful}))).wrong
    assert (
        "doubtful: "
        in Conversion("hermes-json", "qwen3-coder-xml", strict=True)((1, json.dumps({"raw": doubtful}))).wrong
    )


def test_it_pickles():
    assert pickle.loads(pickle.dumps(TO)) == TO
