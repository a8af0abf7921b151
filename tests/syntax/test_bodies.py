"""Bodies of framed messages: calls with marks of their own inside, several of them, raw code, and JSON without a frame."""

from __future__ import annotations

import pytest
from drive import told

from dragoman.dialects.beam import BEAM
from dragoman.dialects.functionary import FUNCTIONARY_V2
from dragoman.dialects.functionary32 import FUNCTIONARY_V3_2
from dragoman.dialects.gigachat3 import GIGACHAT3
from dragoman.dialects.harmony import HARMONY
from dragoman.dialects.inkling import INKLING
from dragoman.dialects.muse import MUSE
from dragoman.messages import Tool
from dragoman.syntax.calls import Policy
from dragoman.syntax.dialect import Dialect

STRING = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOLS = [Tool("f", parameters=STRING), Tool("g", parameters=STRING), Tool("python", parameters=STRING)]
CALLED = ["call f", 'args {"a": "x"}', "end"]


def bodies(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("notice")]


def said(dialect: Dialect, raw: str, tools=TOOLS, **more) -> list[str]:
    return told(dialect, raw, tools, prompt=dialect.begins, **more)


# --- marks inside a message

INVOKE = '<atem:invoke name="{}">\n<atem:parameter name="a">x</atem:parameter>\n</atem:invoke>\n'


def muse(inside: str, to: str = "f", end: str = "<|eot|>") -> str:
    return f" to={to}<|message|><atem:function_calls>\n{inside}</atem:function_calls>{end}"


def test_the_name_may_stand_in_the_header_and_inside():
    assert said(MUSE, muse(INVOKE.format("f"))) == CALLED


@pytest.mark.parametrize(("to", "inside", "name"), [("f", "g", "g"), ("f", "odd", "f"), ("odd", "f", "f")])
def test_where_the_two_differ_the_inner_one_counts_if_it_is_a_tools(to: str, inside: str, name: str):
    assert bodies(said(MUSE, muse(INVOKE.format(inside), to)))[0] == f"call {name}"


def test_several_calls_in_one_message():
    lines = said(MUSE, muse(INVOKE.format("f") + INVOKE.format("g")))
    assert lines == [*CALLED, "call g", *CALLED[1:]]


def test_parameters_without_the_marks_around_them():
    assert bodies(said(MUSE, ' to=f<|message|><atem:parameter name="a">x</atem:parameter><|eot|>')) == CALLED


def test_text_where_parameters_should_be():
    raw = " to={}<|message|>please<|eot|>"
    assert bodies(said(MUSE, raw.format("f"))) == ["call f", "args please", "end bad"]
    assert said(MUSE, raw.format("odd")) == ["notice gave-back", "content 'please'"]


def test_an_empty_body_is_a_call_without_arguments():
    assert bodies(said(BEAM, " to=f<|channel|>analysis <|constrain|>xml<|message|><|call|>")) == [
        "call f",
        "args {}",
        "end",
    ]
    header = "<|from|>assistant\n<|recipient|>"
    raw = f'f\n<|content|>\n{header}g\n<|content|>{{"a": "x"}}<|stop|>'
    assert said(FUNCTIONARY_V2, raw) == ["call f", "args {}", "end", "call g", *CALLED[1:]]


# --- the name inside


def test_the_name_of_the_header_helps_where_the_body_has_none():
    assert bodies(said(INKLING, 'f<|content_invoke_tool_json|>{"args": {"a": "x"}}<|end_message|>')) == CALLED


def test_another_name_in_the_header_is_told():
    lines = said(INKLING, 'g<|content_invoke_tool_json|>{"name": "f", "args": {"a": "x"}}<|end_message|>')
    assert lines == [*CALLED, "notice dropped 'g'"]


def test_a_body_that_is_no_call_is_text():
    raw = "<|message_sep|>\n\nfunction call<|role_sep|>\nnothing to do"
    assert bodies(said(GIGACHAT3, raw)) == ["content 'nothing to do'"]


# --- raw code


def test_code_ends_where_a_message_begins():
    raw = "python\nprint(1)\n>>> 2\n>>>all\nDone."
    assert said(FUNCTIONARY_V3_2, raw) == ["call python", 'args {"a": "print(1)\\n>>> 2"}', "end", "content 'Done.'"]


@pytest.mark.parametrize(("finish", "end"), [("stop", "end"), ("length", 'end cut bad "}')])
def test_code_without_an_end_is_whole_unless_a_limit_cut_it(finish: str, end: str):
    lines = bodies(said(FUNCTIONARY_V3_2, "python\nprint(1)", finish=finish))
    assert lines[0] == "call python"
    assert end in lines


# --- JSON without a frame


@pytest.mark.parametrize("dialect", [HARMONY, INKLING, FUNCTIONARY_V2], ids=lambda dialect: dialect.name)
@pytest.mark.parametrize(
    "raw",
    [
        '{"name": "f", "arguments": {"a": "x"}}',
        '[{"name": "f", "arguments": {"a": "x"}}]',
        '```json\n{"name": "f", "arguments": {"a": "x"}}\n```',
    ],
)
def test_a_call_at_the_beginning_needs_no_frame(dialect: Dialect, raw: str):
    assert said(dialect, raw) == ["notice recovered", *CALLED]
    assert bodies(said(dialect, raw, policy=Policy(recover="strict"))) == [f"content {raw!r}"]
    assert bodies(said(dialect, raw, ())) == [f"content {raw!r}"]


def test_so_does_a_call_behind_reasoning():
    raw = '<|channel|>analysis<|message|>hm<|end|>{"name": "f", "arguments": {"a": "x"}}'
    assert said(HARMONY, raw) == ["reasoning 'hm'", "notice recovered", *CALLED]


@pytest.mark.parametrize(
    "raw", ['{"a": 1}', "```py\nx = 1\n```", "[1, 2]", '{"name": "odd", "arguments": {}}', '{"name": "f", "ar']
)
def test_other_json_is_an_answer(raw: str):
    assert said(HARMONY, raw) == [f"content {raw!r}"]


def test_json_behind_an_answer_is_none():
    raw = '<|channel|>final<|message|>Done.<|end|>{"name": "f", "arguments": {}}'
    assert "call f" not in said(HARMONY, raw)


def test_marks_of_a_body_at_the_beginning_need_no_frame_for_a_tool_on_offer():
    raw = f"<atem:function_calls>\n{INVOKE}</atem:function_calls>"
    assert bodies(said(MUSE, raw.format("f"))) == CALLED
    assert said(MUSE, raw.format("odd")) == [f"content {raw.format('odd')!r}"]
