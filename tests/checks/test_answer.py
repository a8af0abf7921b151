from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.checks import check_chat_answer, compare

USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
CALL = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GOOD = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "a",
                "refusal": None,
                "reasoning_content": "r",
                "tool_calls": [CALL],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": USAGE,
}


def changed(*path, to=None, drop=False):
    answer = copy.deepcopy(GOOD)
    *inner, last = path
    target = answer
    for key in inner:
        target = target[key]
    if drop:
        del target[last]
    else:
        target[last] = to
    return answer


MESSAGE = ("choices", 0, "message")


def test_a_good_answer_keeps_all_rules():
    assert check_chat_answer(GOOD) == []
    assert check_chat_answer(GOOD, request={"n": None}) == []


@pytest.mark.parametrize(
    ("rule", "answer", "words"),
    [
        ("C23", changed("created", drop=True), "no created"),
        ("C23", changed("object", to="chat.completion.chunk"), "the object is"),
        ("C23", changed(*MESSAGE, "role", to="tool"), "the role is 'tool'"),
        ("C23", changed(*MESSAGE, "content", drop=True), "content is 'missing'"),
        ("C23", changed(*MESSAGE, "refusal", to=1), "refusal is 1"),
        ("C23", changed(*MESSAGE, "tool_calls", to=[]), "leave it out"),
        ("C23", changed(*MESSAGE, to={"role": "assistant", "content": None, "refusal": None}), "content is null"),
        ("C14", changed("usage", to=None), "usage needs"),
        ("C10", changed(*MESSAGE, "tool_calls", to=[CALL, CALL]), "used before"),
        ("C16", changed("choices", 0, "index", to=1), "has the index 1"),
        ("C11", changed("choices", 0, "finish_reason", to=None), "the finish_reason is None"),
        ("C12", changed("choices", 0, "finish_reason", to="stop"), "but a call was given"),
        ("C12", changed(*MESSAGE, "tool_calls", drop=True), "but no call"),
        ("C9", changed(*MESSAGE, "tool_calls", 0, "function", "arguments", to={}), "not a string"),
        ("C9", changed(*MESSAGE, "tool_calls", 0, "function", "arguments", to='{"a'), "no JSON object"),
        ("C5", changed(*MESSAGE, "content", to="a<think>"), "the mark '<think>' in the content"),
        ("C5", changed(*MESSAGE, "reasoning_content", to="<think>"), "in the reasoning"),
    ],
)
def test_what_breaks_a_rule_is_found(rule, answer, words):
    found = check_chat_answer(answer, marks=["<think>"])
    assert any(finding.rule == rule and words in finding.message for finding in found), found


def test_c16_missing_choices():
    assert [f.rule for f in check_chat_answer(GOOD, request={"n": 2})] == ["C16"]


def test_c22_a_cut_call_in_an_answer():
    answer = changed(*MESSAGE, "tool_calls", 0, "function", "arguments", to='{"a')
    answer["choices"][0]["finish_reason"] = "length"
    assert [f.rule for f in check_chat_answer(answer)] == ["C22"]


def test_c31_a_custom_call_has_no_arguments():
    custom = {"id": "call_a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    assert check_chat_answer(changed(*MESSAGE, "tool_calls", to=[custom])) == []


def stream(*deltas, finish="tool_calls", usage=USAGE):
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks,)).encode() + b"data: [DONE]\n\n"


SAME = [{"reasoning_content": "r"}, {"content": "a"}, {"tool_calls": [{"index": 0, **CALL}]}]


def test_s08_the_same_is_the_same():
    assert compare(stream(*SAME), GOOD) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (stream(*SAME[:2]), "the calls is []"),
        (stream(*SAME[1:]), "the reasoning is ''"),
        (stream(*SAME, {"content": "b"}), "the content is 'ab'"),
        (stream(*SAME, {"refusal": "no"}), "the refusal is 'no'"),
        (stream(*SAME, finish="stop"), "the finish_reason is 'stop'"),
        (stream(*SAME, usage={**USAGE, "total_tokens": 8}), "the usage is"),
        (b"data: [DONE]\n\n", "not the same choices"),
    ],
)
def test_s08_differences_are_found(body, words):
    (finding,) = compare(body, GOOD)
    assert finding.rule == "S8"
    assert words in finding.message


def test_c22_a_cut_call_is_only_in_the_stream():
    cut = {"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": '{"a'}}]}
    answer = changed("choices", 0, "finish_reason", to="length")
    assert compare(stream(*SAME, cut, finish="length"), answer) == []
    assert compare(stream(*SAME, cut), GOOD) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
)


@examples(4)
@given(st.data())
def test_whatever_a_server_answers_is_checked(data):
    answer = node = copy.deepcopy(GOOD)
    while True:
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if not node[key] or not isinstance(node[key], dict | list) or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(JSON)
    check_chat_answer(answer)
    compare(stream(*SAME), answer)
