"""A stream that breaks one rule, for every rule; each begins as a good one."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.checks import RULES, check_ollama_answer, check_ollama_error, check_ollama_stream, compare_ollama

HEAD = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
END = {
    "done_reason": "stop",
    "total_duration": 10,
    "load_duration": 0,
    "prompt_eval_count": 1,
    "prompt_eval_duration": 4,
    "eval_count": 2,
    "eval_duration": 6,
}
CALL = {"function": {"name": "f", "arguments": {"a": 1}}}


def line(content="", *, done=False, **more):
    message = {key: more.pop(key) for key in ("thinking", "tool_calls") if key in more}
    return {**HEAD, "message": {"role": "assistant", "content": content, **message}, "done": done, **more}


def good():
    return [line(thinking="r"), line("a"), line("b"), line(tool_calls=[CALL]), line(done=True, **END)]


def body(lines):
    return b"".join(json.dumps(item).encode() + b"\n" for item in lines)


def rules(lines, **options):
    data = lines if isinstance(lines, bytes) else body(lines)
    return {finding.rule for finding in check_ollama_stream(data, **options)}


def changed(index, **fields):
    lines = copy.deepcopy(good())
    lines[index].update(fields)
    return lines


def said(index, **fields):
    lines = copy.deepcopy(good())
    lines[index]["message"].update(fields)
    return lines


def test_a_good_stream_breaks_nothing():
    assert rules(good(), request={"think": True}, marks=["<tool_call>"]) == set()
    generated = [{**HEAD, "response": "a", "done": False}, {**HEAD, "response": "", "done": True, **END}]
    assert rules(generated) == set()


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("O1", body(good()).rstrip(b"\n")),
        ("O1", b"\n" + body(good())),
        ("O1", body(good()[:-1]) + b"data: {}\n" + body(good()[-1:])),
        ("O1", b"[1]\n" + body(good())),
        ("O1", body(good()).replace(b'"a"', b'"\xff"')),
        ("O1", body(good()).replace(b'"a"', b'"\\ud800"')),
        ("O2", changed(0, model="")),
        ("O2", changed(0, created_at=7)),
        ("O2", changed(0, created_at="2026-01-01 00:00:00")),
        ("O2", changed(0, done=None)),
        ("O2", said(0, content=None)),
        ("O2", said(0, role="model")),
        ("O3", good()[:-1]),
        ("O3", [*good(), line("c")]),
        ("O3", [*good(), good()[-1]]),
        ("O3", changed(-1, eval_count="2")),
        ("O3", changed(-1, total_duration=None)),
        ("O3", changed(-1, eval_duration=10_000_000)),
        ("O3", said(-1, content="more")),
        ("O4", said(3, tool_calls=[])),
        ("O4", said(3, tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])),
        ("O4", said(3, tool_calls=[{"function": {"name": "", "arguments": {}}}])),
        ("O5", said(0, thinking="")),
        ("O5", said(1, content="<x>")),
        ("O5", said(0, thinking="<x>")),
        ("O6", changed(-1, done_reason="tool_calls")),
        ("O6", changed(0, done_reason="stop")),
        ("O7", [line("a"), {"error": {"message": "x"}}]),
        ("O7", [{"error": "x"}, line("a")]),
    ],
)
def test_a_broken_rule_is_found(rule, lines):
    assert rules(lines, marks=["<x>"]) == {rule}
    assert rule in RULES


def test_o5_thinking_that_nobody_wanted():
    assert rules(good(), request={"think": False}) == {"O5"}


def test_a_mark_in_two_lines_is_found():
    lines = [line("<"), line("x>"), good()[-1]]
    assert rules(lines, marks=["<x>"]) == {"O5"}


def test_a_load_has_no_counts():
    assert rules([line(done=True, done_reason="load")]) == set()
    assert check_ollama_answer(line(done=True, done_reason="load")) == []


def test_an_error_ends_a_stream():
    assert rules([line("a"), {"error": "x"}]) == set()
    assert [finding.rule for finding in check_ollama_error({"error": {"message": "x"}})] == ["O7"]


def test_an_answer_in_one_piece():
    whole = line("ab", done=True, thinking="r", tool_calls=[CALL], **END)
    assert check_ollama_answer(whole) == []
    assert [finding.rule for finding in check_ollama_answer({**whole, "done": False})] == ["O3", "O6"]
    assert compare_ollama(body(good()), whole) == []


@pytest.mark.parametrize(
    "answer",
    [
        line("x", done=True, thinking="r", tool_calls=[CALL], **END),
        line("ab", done=True, thinking="x", tool_calls=[CALL], **END),
        line("ab", done=True, thinking="r", **END),
        line("ab", done=True, thinking="r", tool_calls=[CALL], **{**END, "done_reason": "length"}),
        line("ab", done=True, thinking="r", tool_calls=[CALL], **{**END, "eval_count": 9}),
    ],
)
def test_s8_a_difference_is_found(answer):
    assert [finding.rule for finding in compare_ollama(body(good()), answer)] == ["S8"]


@settings(max_examples=30)
@given(st.lists(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists), max_size=3), st.binary())
def test_any_bytes_are_read(values, data):
    for stream in (data, body(values), body([{"message": value, "done": True, **END} for value in values])):
        check_ollama_stream(stream, marks=["x"])
