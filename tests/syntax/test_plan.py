"""A dialect compiled: its marks and what they mean, its forms, and where a turn begins behind a prompt."""

from __future__ import annotations

import pytest

from dragoman.dialects.gemma import GEMMA4
from dragoman.dialects.harmony import HARMONY
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.syntax.codecs.braces import Braces
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.codecs.python import Python
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.plan import Scope, plan

PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"


# --- marks


def test_each_mark_has_one_meaning():
    made = plan(QWEN3_CODER)
    marks = ("<think>", "<|im_end|>", "<tool_call>", "<function=", "{", "</think>", "</tool_call>")
    assert [made.meaning(mark) for mark in marks] == ["open", "end", "call", "bare", "json", "close", "close"]


def test_a_plan_is_made_once():
    assert plan(HERMES) is plan(HERMES)


def test_what_content_and_reasoning_stop_at():
    made = plan(QWEN3_CODER)
    content = made.stop(reasoning=False, calls=True, recover=True)
    reasoning = made.stop(reasoning=True, calls=True, recover=True)
    assert {"<think>", "</think>", "<|im_end|>", "<tool_call>", "<function=", "</tool_call>", "{"} <= {*content.marks}
    assert {*content.marks} - {*reasoning.marks} == {"</tool_call>", "{"}


def test_without_recovery_only_a_calls_last_mark_is_looked_for():
    marks = plan(QWEN3_CODER).stop(reasoning=False, calls=True, recover=False).marks
    assert "</tool_call>" in marks
    assert not {"</function>", "<function=", "{"} & {*marks}


def test_without_calls_no_mark_of_a_call_counts():
    marks = plan(QWEN3_CODER).stop(reasoning=False, calls=False, recover=True).marks
    assert {*marks} == {"<think>", "</think>", *QWEN3_CODER.ends}


def test_marks_of_reasoning_and_turns_are_text_when_spelled_and_those_of_calls_are_not():
    stop = plan(HERMES).stop(reasoning=False, calls=True, recover=True)
    assert {"<think>", "</think>", "<|im_end|>"} <= stop.plain
    assert "<tool_call>" not in stop.plain


# --- forms


def test_a_form_is_its_head_and_what_follows_each_hole():
    form = plan(QWEN3_CODER).forms["<tool_call>"][0]
    assert (form.opener, form.head, form.recovered) == ("<tool_call>", ("<function=",), False)
    assert form.steps == (("name", (">",)), ("args", ("</function>", "</tool_call>")))
    assert form.closers == ("</function>", "</tool_call>")
    assert form.codec is QWEN3_CODER.args


def test_a_name_may_touch_its_arguments():
    assert plan(GEMMA4).forms["<|tool_call>"][0].steps == (("name", ()), ("args", ("<tool_call|>",)))


def test_forms_of_the_dialect_come_before_those_that_every_dialect_has():
    forms = plan(GEMMA4).forms["<|tool_call>"]
    assert [type(form.codec) for form in forms] == [Braces, Braces, Braces, JsonCall, Python, JsonObject]
    assert [form.recovered for form in forms] == [False, False, False, False, True, True]


def test_other_opening_marks_are_recovery_forms():
    assert all(form.recovered for form in plan(GEMMA4).forms["<call>"])


def test_a_json_dialect_has_json_behind_its_mark_once():
    assert [type(form.codec).__name__ for form in plan(HERMES).forms["<tool_call>"]] == [
        "JsonCall",
        "Params",
        "Python",
        "JsonObject",
    ]


def test_a_form_without_its_opening_mark_needs_another_mark_to_be_known_by():
    assert [*plan(QWEN3_CODER).bare] == ["<function="]
    assert [*plan(Dialect("x", "<c>a{name}{args}</c>", Braces())).bare] == []
    assert [*plan(HERMES).bare] == ["<function="]


def test_bare_json_is_closed_by_the_last_mark_of_the_first_form():
    assert plan(HERMES).json is not None
    assert plan(HERMES).json.closers == ("</tool_call>",)  # type: ignore[union-attr]
    assert plan(Dialect("x", "{call}", Python())).json.closers == ()  # type: ignore[union-attr]
    assert plan(Dialect("x", "<c>{call}", JsonCall())).json.closers == ()  # type: ignore[union-attr]


def test_a_dialect_without_calls_has_no_forms():
    made = plan(Dialect("x", reasoning="<t>{text}</t>"))
    assert (made.forms, made.bare, made.last) == ({}, {}, ())


def test_a_framed_dialect_has_no_forms_in_running_text():
    assert plan(HARMONY).forms == {}


def test_an_id_is_a_hole_like_the_name():
    form = plan(Dialect("x", "<c>{name}<id>{id}<a>{args}</c>", JsonObject())).forms["<c>"][0]
    assert form.steps == (("name", ("<id>",)), ("id", ("<a>",)), ("args", ("</c>",)))


# --- scopes


def test_a_scope_stops_at_what_may_stand_behind_a_payload():
    scope = Scope(("</c>",), ("<c>",), ("<end>",))
    assert {*scope.stop("<p>").marks} == {"<p>", "</c>", "</cs>", "</c", "<end>"}
    assert scope.stop("<p>") is scope.stop("<p>")
    assert scope.stop().plain == {"<end>"}


def test_inside_reasoning_its_close_mark_counts_too():
    inner = Scope(("</c>",), ("<c>",), ("<end>",)).within(("</t>",))
    assert {*inner.stop().marks} == {"</c>", "</cs>", "</c", "<end>", "</t>"}
    assert inner.stop().plain == {"<end>", "</t>"}
    assert (inner.closers, inner.openers) == (("</c>", "</c", "</cs>"), ("<c>",))


# --- where a turn begins


@pytest.mark.parametrize(
    ("prompt", "state"),
    [
        ("", ("content", "")),
        (PROMPT, ("content", "\n")),
        (PROMPT + "<think>\n", ("content", "\n<think>\n")),
        (PROMPT + "Sure: ", ("content", "\nSure: ")),
        ("<think> hm </think> <|im_start|>assistant\nA<|im_end|>\n" + PROMPT, ("content", "\n")),
        (PROMPT + "A<|im_end|>\n", ("content", "")),  # the assistant's part is over: nothing to read on
        ("text <think>", ("inside", "")),  # without the begin mark the last reasoning mark decides
        ("<think> a </think>", ("content", "")),
        ("</think> <think>", ("inside", "")),
        ("<|im_start|>user\n<think>", ("inside", "")),
    ],
)
def test_the_prompt_tells_where_the_turn_begins(prompt: str, state: tuple[str, str]):
    assert plan(HERMES).state(prompt) == state


def test_a_dialect_without_a_begin_mark_looks_at_reasoning_only():
    bare = Dialect("x", reasoning="<t>{text}</t>")
    assert plan(bare).state("a <t> b") == ("inside", "")
    assert plan(bare).state("a <t> b </t>") == ("content", "")
    assert plan(Dialect("y")).state("anything") == ("content", "")


def test_a_framed_turn_begins_in_its_first_header():
    made = plan(HARMONY)
    assert made.state("") == ("header", "<|start|>assistant")
    assert made.state("<|start|>user<|message|>x<|end|><|start|>assistant") == ("header", "<|start|>assistant")
    assert made.state("<|start|>assistant<|channel|>final<|message|>Sure")[1].endswith("final<|message|>Sure")
