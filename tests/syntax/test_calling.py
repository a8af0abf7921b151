"""What both machines share: calls that are sure, calls that wait, and calls that go out as they stand."""

from __future__ import annotations

import pytest
from drive import told
from streams import numbered

from dragoman.dialects.harmony import HARMONY
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.messages import Tool
from dragoman.syntax.calls import PATIENCE, Policy
from dragoman.syntax.decode import Parser, decode

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]


def call(name: str, args: str = "{}") -> str:
    return f'{{"name": "{name}", "arguments": {args}}}'


def marked(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"


# --- doubt


def test_a_name_that_was_not_offered_waits_until_its_body_is_good():
    parser = Parser(HERMES, TOOLS)
    body = call("g", '{"a": 1}')
    assert [event for char in "<tool_call>" + body[:-1] for event in parser.feed(char)] == []
    kinds = [type(event).__name__ for event in parser.feed("}</tool_call>")]
    assert kinds == ["Notice", "CallStart", "CallArgs", "CallEnd"]


def test_several_names_that_were_not_offered_wait_together():
    assert told(HERMES, marked(f"[{call('g')}, {call('h')}]"), TOOLS) == [
        "notice unknown-tool 'g'",
        "call g",
        "args {}",
        "end",
        "notice unknown-tool 'h'",
        "call h",
        "args {}",
        "end",
    ]


def test_behind_a_sure_call_another_may_wait():
    lines = told(HERMES, marked(f"[{call('f')}, {call('g')}]"), TOOLS)
    assert lines == ["call f", "args {}", "end", "notice unknown-tool 'g'", "call g", "args {}", "end"]


def test_refused_calls_are_dropped_with_their_text():
    refuse = Policy(unknown="refuse")
    lines = told(HERMES, f"a\n{marked(call('g'))}\nb", TOOLS, policy=refuse)
    assert f"notice unknown-tool {marked(call('g'))!r}" in lines
    assert [line for line in lines if line.startswith("call")] == []
    assert told(HERMES, marked(call("f")), TOOLS, policy=refuse) == ["call f", "args {}", "end"]


def test_a_refused_call_is_none_that_was_made():
    assert decode(HERMES, marked(call("g")), TOOLS, policy=Policy(unknown="refuse")).finish == "stop"


# --- patience


def test_a_call_that_waits_too_long_counts():
    parser = Parser(HERMES, TOOLS)
    parser.feed('<tool_call>{"name": "g", "arguments": {"a": "')
    assert parser.feed("x" * (PATIENCE - 200)) == []
    assert [type(event).__name__ for event in parser.feed("x" * 400)] == ["Notice", "CallStart", "CallArgs"]


def test_a_bad_body_behind_so_much_text_goes_out_as_it_stands():
    long = "x" * PATIENCE
    raw = marked('{"name": "g", "arguments": {"a": "' + long + '" no}}')
    turn = decode(HERMES, raw, TOOLS)
    assert [(part.name, part.valid) for part in turn.calls] == [("g", False)]
    assert turn.calls[0].arguments == '{"a": "' + long + '" no}'
    turn = decode(HERMES, "<think>hm\n" + raw.replace('"g"', '"f"'), TOOLS)
    assert (turn.reasoning, [(part.name, part.valid) for part in turn.calls]) == ("hm", [("f", False)])


# --- bodies that cannot be read


@pytest.mark.parametrize("body", ["ls -l", '{"a" 1}', "[1]", "{a}"])
def test_a_declared_name_with_a_bad_body_goes_out_verbatim(body: str):
    turn = decode(HERMES, marked(call("f", body)), TOOLS)
    (one,) = turn.calls
    assert (one.arguments, one.complete, one.valid) == (body, True, False)
    assert "bad-json" in {notice.code for notice in turn.notices}
    told(HERMES, marked(call("f", body)), TOOLS)


def test_a_bad_body_without_an_end_mark_is_not_complete():
    turn = decode(HERMES, "<tool_call>" + call("f", "no"), TOOLS)
    assert [(one.complete, one.valid) for one in turn.calls] == [(False, False)]
    assert told(HARMONY, '<|channel|>commentary to=functions.f<|message|>{"a" 1}', TOOLS)[-1] == "end cut bad"


def test_an_undeclared_name_with_a_bad_body_is_text():
    raw = marked(call("g", "no"))
    assert decode(HERMES, raw, TOOLS).content == raw


# --- cuts


def test_a_comma_that_waited_for_a_value_is_told_when_the_call_is_cut():
    raw = marked(call("f", '{"a": "x", '))[:-13]
    assert told(HERMES, raw, TOOLS, finish="length") == [
        "call f",
        'args {"a": "x"',
        "end cut bad }",
        "notice cut ', '",
        "finish length",
    ]


def test_a_limit_behind_whole_parameters_leaves_the_call_open():
    raw = "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n"
    assert [one.complete for one in decode(QWEN3_CODER, raw, TOOLS, finish="length").calls] == [False]
    assert [one.complete for one in decode(QWEN3_CODER, raw, TOOLS).calls] == [True]


# --- special tokens


def test_an_end_mark_as_a_token_leaves_a_framed_call_alone():
    marks = numbered(HARMONY.special)
    pieces = [
        ("<|channel|>", True),
        ("commentary to=functions.f", False),
        ("<|message|>", True),
        ('{"a": "', False),
        ("<|end|>", True),
    ]
    lines = told(HARMONY, pieces, TOOLS, specials=marks)
    assert lines[:2] == ["call f", 'args {"a": "<|end|>']
