"""A stream that breaks one rule, for every rule; each begins as a good one."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.checks import RULES, check_chat_stream, check_error
from dragoman.protocols.chat import error

REQUEST = {"messages": [], "stream": True, "stream_options": {"include_usage": True}}
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def chunk(delta, finish=None, index=0, **more):
    choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": None, **more}


def call(index, arguments, **more):
    function = {key: more.pop(key) for key in ("name",) if key in more}
    return chunk({"tool_calls": [{"index": index, **more, "function": {**function, "arguments": arguments}}]})


def good():
    return [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "r"}),
        chunk({"content": "a"}),
        call(0, "", id="call_a", type="function", name="f"),
        call(0, '{"a":'),
        call(0, "1}"),
        call(1, "", id="call_b", type="function", name="f"),
        call(1, "{}"),
        chunk({}, "tool_calls"),
        {**chunk({}), "choices": [], "usage": USAGE},
        "[DONE]",
    ]


def body(items):
    return "".join(f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n" for item in items).encode()


def check(items, request=REQUEST, **options):
    return check_chat_stream(items if isinstance(items, bytes) else body(items), request=request, **options)


def rules(items, **options):
    return {finding.rule for finding in check(items, **options)}


def changed(place, *path, to=None, drop=False):
    """The good stream with one value changed."""
    items = copy.deepcopy(good())
    *inner, last = path
    target = items[place]
    for key in inner:
        target = target[key]
    if drop:
        del target[last]
    else:
        target[last] = to
    return items


def without(*places):
    return [item for place, item in enumerate(good()) if place not in places]


def with_(place, *items):
    return [*good()[:place], *items, *good()[place:]]


DELTA = ("choices", 0, "delta")
ITEM = (*DELTA, "tool_calls", 0)


def test_a_good_stream_keeps_all_rules():
    assert check(good()) == []
    assert check(good(), request=None) == []


def test_comments_and_other_line_ends_are_legal():
    stream = b": hi\n\n" + body(good())
    assert check(stream) == check(stream.replace(b"\n", b"\r\n")) == check(stream.replace(b"\n", b"\r")) == []


BROKEN = [
    ("S2", body(good()).replace(b"data: [DONE]", b"data: [DONE]\ndata: x"), "2 data lines"),
    ("S2", [*good()[:-1], "nonsense", "[DONE]"], "not JSON"),
    ("S2", body(good()).replace(b'"a"', b'"\xff"'), "not valid UTF-8"),
    ("S2", body(good()).replace(b'"a"', b'"\\ud83d"'), "half a surrogate pair"),
    ("S4", b"id: 1\n" + body(good()), "a field id"),
    ("S4", b"retry: 1\n" + body(good()), "a field retry"),
    ("S4", b"event: x\n\n" + body(good()), "without data"),
    ("S6", [*good(), chunk({})], "after [DONE]"),
    ("C1", changed(2, "id", to="y"), "another id: 'y', before it was 'x'"),
    ("C1", changed(2, "model", drop=True), "no model"),
    ("C1", [{**item, "object": "x"} if isinstance(item, dict) else item for item in good()], "the object is 'x'"),
    ("C2", without(0), "does not begin with the role"),
    ("C2", changed(2, *DELTA, "role", to="assistant"), "the role again"),
    ("C3", changed(2, "choices", 0, "index", drop=True), "without index"),
    ("C3", changed(2, *DELTA, to=None), "the delta is None"),
    ("C3", changed(2, "choices", 0, "finish_reason", drop=True), "no finish_reason"),
    ("C3", changed(2, "choices", 0, "logprobs", to={"content": []}), "nobody asked for"),
    ("C3", changed(2, *DELTA, "tool_calls", to=None), "tool_calls is null"),
    ("C4", with_(9, chunk({"content": "b"})), "after the finish"),
    ("C4", with_(5, chunk({"content": "b"})), "text within call 0"),
    ("C5", changed(2, *DELTA, "content", to=""), "empty content"),
    ("C5", changed(2, *DELTA, "content", to=["a"]), "content is ['a']"),
    ("C6", changed(1, *DELTA, "reasoning", to="r"), "two names"),
    ("C6", changed(1, *DELTA, "reasoning_content", to=""), "reasoning_content is ''"),
    ("C7", changed(3, *ITEM, "id", drop=True), "call 0 begins without id"),
    ("C7", changed(3, *ITEM, "type", drop=True), "call 0 begins without type"),
    ("C7", changed(3, *ITEM, "function", "name", drop=True), "call 0 begins without name"),
    ("C7", changed(4, *ITEM, "function", "name", to="f"), "call 0 gets name again"),
    ("C7", changed(4, *ITEM, "id", to="call_a"), "call 0 gets id again"),
    ("C8", changed(3, *ITEM, "index", drop=True), "index of a call is None"),
    (
        "C8",
        [*without(5)[:7], call(0, "1}"), *good()[8:]],
        "call 0 after call 1",
    ),
    ("C8", [*good()[:3], *good()[6:]], "first is call 1"),
    ("C9", changed(7, *ITEM, "function", "arguments", to={"a": 1}), "not a string"),
    ("C9", without(5), "no JSON object"),
    ("C9", without(7), "no JSON object"),
    ("C10", changed(6, *ITEM, "id", to="call_a"), "used before"),
    ("C10", changed(6, *ITEM, "id", to="a.b"), "not up to 40"),
    ("C11", without(8), "has no finish_reason"),
    ("C11", with_(9, chunk({}, "stop")), "finishes again"),
    ("C11", changed(8, "choices", 0, "finish_reason", to="eos"), "the finish_reason is 'eos'"),
    ("C11", changed(8, *DELTA, to={"content": "b"}), "has a delta"),
    ("C11", ["[DONE]"], "no choice at all"),
    ("C12", changed(8, "choices", 0, "finish_reason", to="stop"), "stop, but a whole call"),
    ("C12", without(3, 4, 5, 6, 7), "tool_calls, but no call"),
    ("C13", without(9), "no usage chunk"),
    ("C13", changed(8, "usage", to=USAGE), "usage in a chunk with choices"),
    ("C13", with_(10, {**chunk({}), "choices": []}), "chunks after the usage"),
    ("C14", changed(9, "usage", "total_tokens", to=8), "3 + 4 is not 8"),
    ("C14", changed(9, "usage", "prompt_tokens", to=None), "integers"),
    ("C14", changed(9, "usage", "prompt_tokens_details", to={"cached_tokens": 9}), "9, of 3"),
    ("C14", changed(9, "usage", "completion_tokens_details", to={"reasoning_tokens": None}), "None, of 4"),
    ("C15", without(10), "does not end with [DONE]"),
    ("C15", [*good(), "[DONE]"], "[DONE] again"),
    (
        "C16",
        [chunk({"role": "assistant", "content": ""}, index=1), chunk({}, "stop", index=1), *good()],
        "the order 1, 0",
    ),
    (
        "C16",
        [*good()[:1], chunk({"role": "assistant"}, index=1), *good()[1:9], chunk({}, "stop", index=1), *good()[9:]],
        "2 choices",
    ),
    (
        "C17",
        changed(2, "choices", 0, "logprobs", to={"content": [{"token": "a", "logprob": 0}]}),
        "without bytes, top_logprobs",
    ),
    ("C21", [*good()[:3], error(ValueError())[1], "[DONE]"], "[DONE] after an error"),
    ("C21", [*good()[:3], error(ValueError())[1], chunk({"content": "b"})], "a frame after an error"),
    ("C21", [*good()[:3], {"error": "no"}], "not an object"),
    ("C21", [*good()[:3], {"error": {"message": "no", "type": "t", "code": 3, "param": None}}], "error.code is 3"),
    ("C22", [*good()[:5], *good()[6:8], chunk({}, "length"), *good()[9:]], "a call follows the cut call 'f'"),
]


@pytest.mark.parametrize(("rule", "stream", "words"), BROKEN, ids=[f"{rule}-{words}" for rule, _, words in BROKEN])
def test_what_breaks_a_rule_is_found(rule, stream, words):
    found = [finding for finding in check(stream) if finding.rule == rule]
    assert any(words in finding.message for finding in found), check(stream)


def test_every_rule_of_streams_has_a_stream_that_breaks_it():
    elsewhere = {"C23", "S8"}  # answers: test_answer.py
    elsewhere |= {"S1", *(f"S{n}" for n in (7, 9, 10, 11, 12))}  # what is done, not what is sent: tests/doctor
    elsewhere |= {f"C{n}" for n in (19, 20, 24, 25, 26, 27, 28, 30)}
    assert {rule for rule, _, _ in BROKEN} == {rule for rule in RULES if rule[0] in "SC"} - elsewhere


def test_findings_name_rules_of_the_book_and_read_well():
    for _, stream, _ in BROKEN:
        assert {finding.rule for finding in check(stream)} <= RULES.keys()
    (finding,) = check(changed(9, "usage", "total_tokens", to=8))
    assert str(finding) == "C14 frame 9: 3 + 4 is not 8"
    (finding,) = check(without(10))
    assert str(finding) == "C15: the stream does not end with [DONE]"


def test_c05_marks_of_the_dialect_are_found_across_pieces():
    items = [*good()[:3], chunk({"content": "<tool"}), chunk({"content": "_call>"}), *good()[3:]]
    assert [f.message for f in check(items, marks=["<tool_call>", "</think>"])] == [
        "the mark '<tool_call>' in the content"
    ]


def test_c10_ids_of_the_conversation_count():
    request = {**REQUEST, "messages": [{"role": "assistant", "tool_calls": [{"id": "call_b"}]}]}
    assert rules(good(), request=request) == {"C10"}


def test_c13_usage_that_nobody_asked_for():
    assert rules(good(), request={"messages": []}) == {"C13"}
    assert rules(without(9), request={"messages": []}) == set()


def test_c16_missing_choices():
    assert rules(good(), request={**REQUEST, "n": 2}) == {"C16"}


def test_a_stream_that_failed_honestly_keeps_all_rules():
    assert check([*good()[:5], error(ValueError())[1]]) == []


def test_whole_calls_before_the_limit_keep_all_rules():
    assert check([*good()[:8], chunk({}, "length"), *good()[9:]]) == []


def test_a_call_that_was_cut_honestly_keeps_all_rules():
    assert check([*good()[:5], chunk({}, "length"), *good()[9:]]) == []


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"\xff\xfe",
        b"data\n\n",
        b'data: {"choices": 3}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [3]}}]}\n\n',
    ],
)
def test_whatever_is_sent_is_checked(stream):
    assert "C15" in rules(stream)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
)


@examples(4)
@given(st.data())
def test_whatever_a_server_sends_is_checked(data):
    items = copy.deepcopy(good())
    node = data.draw(st.sampled_from(items[:-1]))
    while True:
        key = data.draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if not node[key] or not isinstance(node[key], dict | list) or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(JSON)
    check(items)


def test_c21_an_errors_shape():
    assert list(check_error(error(ValueError())[1])) == []
    assert [f.rule for f in check_error("x")] == ["C21"]
    assert len(list(check_error({"error": {}}))) == 4
