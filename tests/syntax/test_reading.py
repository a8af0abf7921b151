"""Reading one call: its form, its name, its closing marks, and text that was none."""

from __future__ import annotations

import pytest
from drive import told

from dragoman.dialects.gemma import GEMMA4
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.messages import Tool
from dragoman.syntax.calls import Policy
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.decode import decode
from dragoman.syntax.dialect import Dialect

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}}), Tool("x" * 256)]
TOLD = ["call f", 'args {"a": "x"}', "end"]
BODY = '{"name": "f", "arguments": {"a": "x"}}'
MARKED = Dialect("x", "<c><n>{name}</n><a>{args}</a></c>", JsonObject())


# --- forms


@pytest.mark.parametrize(
    ("raw", "notice"),
    [
        ("<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>", ""),
        (f"<tool_call>\n{BODY}\n</tool_call>", "notice variant"),
        ('<tool_call>f(a="x")</tool_call>', "notice recovered"),
        ("<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>", "notice recovered"),
    ],
)
def test_the_form_is_told_by_what_stands_behind_the_opening_mark(raw: str, notice: str):
    assert told(QWEN3_CODER, raw, TOOLS) == ([notice] if notice else []) + TOLD


@pytest.mark.parametrize(
    "raw",
    [
        '<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>',
        '<|tool_call>:f{a:<|"|>x<|"|>}<tool_call|>',
        '<|tool_call>f{a:<|"|>x<|"|>}<tool_call|>',
        '<tool_call:f{a:<|"|>x<|"|>}<tool_call|>',
        '<call>f{a:<|"|>x<|"|>}<tool_call|>',
        f"<|tool_call>{BODY}<tool_call|>",
        'call:f{a:<|"|>x<|"|>}<tool_call|>',
    ],
)
def test_variants_are_read_and_told_of(raw: str):
    lines = told(GEMMA4, raw, TOOLS)
    assert lines[-3:] == TOLD
    assert [line for line in lines[:-3] if line not in ("notice variant", "notice recovered")] == []


def test_all_marks_of_a_head_are_read():
    dialect = Dialect("x", "<c><b><n>{name}</n>{args}</c>", JsonObject())
    assert told(dialect, '<c> <b>\n<n>f</n>{"a": "x"}</c>', TOOLS) == TOLD
    assert told(dialect, '<c><b>f</n>{"a": "x"}</c>', TOOLS) == TOLD


def test_a_strict_policy_reads_the_dialects_own_forms_only():
    strict = Policy(repair=False)
    assert told(HERMES, f"<tool_call>{BODY}</tool_call>", TOOLS, policy=strict) == TOLD
    raw = '<tool_call>f(a="x")</tool_call>'
    assert decode(HERMES, raw, TOOLS).calls
    assert decode(HERMES, raw, TOOLS, policy=strict).content == raw


# --- names


@pytest.mark.parametrize("head", ["f", '"f"', "'f'", " f ", ' "f"'])
def test_a_name_may_be_quoted(head: str):
    assert told(MARKED, f'<c><n>{head}</n><a>{{"a": "x"}}</a></c>', TOOLS) == TOLD


def test_marks_behind_a_name_may_be_missing():
    assert told(MARKED, '<c><n>f{"a": "x"}</a></c>', TOOLS) == TOLD


def test_a_name_has_so_many_characters_and_no_more():
    assert decode(MARKED, f"<c><n>{'x' * 256}</n><a>{{}}</a></c>", TOOLS).calls[0].name == "x" * 256
    raw = f"<c><n>{'x' * 257}</n><a>{{}}</a></c>"
    assert decode(MARKED, raw, None).content == raw


@pytest.mark.parametrize(
    "raw", ["<c><n></n><a>{}</a></c>", "<c><n>?</n><a>{}</a></c>", "<c><n>f</n><a>x</a></c>", "<c>f</c>", "<c>?</c>"]
)
def test_what_has_no_name_or_no_arguments_is_text(raw: str):
    assert decode(MARKED, raw, TOOLS).content == raw
    told(MARKED, raw, TOOLS)


@pytest.mark.parametrize("raw", ["<c>", "<c><n", "<c><n>", "<c><n>f", "<c> "])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_call_cut_before_its_name_is_dropped_and_told(raw: str, finish: str):
    turn = decode(MARKED, "Text " + raw, TOOLS, finish=finish)
    assert (turn.content.strip(), turn.calls) == ("Text", ())
    assert "".join(notice.raw for notice in turn.notices if notice.code == "cut").strip() == raw.strip()


def test_a_call_cut_behind_its_name_is_a_cut_call():
    assert told(MARKED, "<c><n>f</n>", TOOLS, finish="length")[:2] == ["call f", "end cut bad {}"]


# --- closing marks


@pytest.mark.parametrize(
    ("tail", "notices"),
    [
        ("</a></c>", []),
        ("\n</a>\n</c>", []),
        ("</c>", []),
        ("</a>", ["notice unclosed"]),
        ("", ["notice unclosed"]),
        ("}</a></c>", ["notice dropped '}'"]),
        (" ]})\n</a></c>", ["notice dropped ']})'"]),
        ("}", ["notice dropped '}'", "notice unclosed"]),
        ("</a>}</c>", ["notice unclosed"]),
    ],
)
def test_each_closing_mark_may_be_missing(tail: str, notices: list[str]):
    lines = told(MARKED, '<c><n>f</n><a>{"a": "x"}' + tail, TOOLS)
    assert lines[:3] == TOLD
    assert lines[3 : 3 + len(notices)] == notices


def test_text_in_the_place_of_a_closing_mark_is_content():
    lines = told(HERMES, f"<tool_call>{BODY} and so on", TOOLS)
    assert lines == [*TOLD, "notice unclosed", "content 'and so on'"]


def test_an_opener_in_the_place_of_a_closing_mark_opens():
    lines = told(HERMES, f"<tool_call>{BODY}<tool_call>{BODY}</tool_call>", TOOLS)
    assert lines == [*TOLD, "notice unclosed", *TOLD]


def test_a_form_without_closing_marks_needs_none():
    assert told(Dialect("x", "<c>{call}", JsonCall()), f"<c>{BODY}Text", TOOLS) == [*TOLD, "content 'Text'"]


# --- what was no call


@pytest.mark.parametrize(
    "raw", ["<tool_call> is a mark", "Use <tool_call> and </tool_call>.", "<tool_call>\n\n</tool_call> x"]
)
def test_text_is_given_back_as_it_stands(raw: str):
    assert decode(HERMES, raw, TOOLS).content == raw
    told(HERMES, raw, TOOLS)


def test_a_special_opener_is_no_text():
    lines = told(GEMMA4, "<|tool_call>?!<tool_call|>", TOOLS)
    assert [line for line in lines if "gave-back" not in line] == [
        "notice stray-mark '<|tool_call>'",
        "content '?!'",
        "notice stray-mark '<tool_call|>'",
    ]


def test_the_closing_marks_of_text_are_text_once():
    raw = "Use <tool_call> and </tool_call>."
    assert decode(HERMES, raw + "</tool_call>", TOOLS).content == raw
    assert decode(HERMES, f"<tool_call>no{BODY}</tool_call>", TOOLS).content == f"<tool_call>no{BODY}</tool_call>"


# --- proofs of recovered calls


@pytest.mark.parametrize("tail", ["", "\n", " ", " \n\n"])
def test_a_bare_python_call_must_stand_alone_on_its_line(tail: str):
    assert decode(HERMES, 'f(a="x")' + tail, TOOLS).calls
    assert decode(HERMES, '[f(a="x")]' + tail, TOOLS).calls
    assert decode(HERMES, '[f(a="x")]' + tail + "\nmore", TOOLS).content == "more"


@pytest.mark.parametrize("tail", [" is it", ".", " + 1", ")"])
def test_a_bare_python_call_in_a_sentence_is_text(tail: str):
    raw = 'f(a="x")' + tail
    assert decode(HERMES, raw, TOOLS).content == raw


def test_a_candidate_of_parameters_ends_at_the_close_of_reasoning():
    raw = "<think>hm\n<tool_call>\n<function=f>\n<parameter=a>\nx </think> y"
    turn = decode(QWEN3_CODER, raw, TOOLS)
    assert (turn.reasoning, turn.content, turn.calls) == ("hm\n<tool_call>\n<function=f>\n<parameter=a>\nx", "y", ())
    told(QWEN3_CODER, raw, TOOLS)


def test_a_codec_of_tags_works_in_any_dialect():
    dialect = Dialect("x", "<c>{name}: {args}</c>", Params("<k={key}>{value}</>"))
    assert told(dialect, "<c>f: <k=a>x</></c>", TOOLS) == TOLD


# --- ids


def test_an_id_may_be_put_together_from_what_stands_before_the_arguments():
    dialect = Dialect("x", "<c>functions.{name}:{index}<a>{args}</c>", JsonObject(), id="functions.{name}:{index}")
    assert told(dialect, '<c>functions.f:3<a>{"a": "x"}</c>', TOOLS) == ["call f id=functions.f:3", *TOLD[1:]]


def test_an_id_is_what_the_form_writes_of_it():
    dialect = Dialect("x", "<c>{name}:{index}<a>{args}</c>", JsonObject(), id="functions.{name}:{index}")
    assert told(dialect, '<c>f:3<a>{"a": "x"}</c>', TOOLS) == ["call f id=f:3", *TOLD[1:]]
    assert told(dialect, '<c>f<a>{"a": "x"}</c>', TOOLS) == TOLD


def test_marks_may_lack_their_last_character():
    assert told(MARKED, '<c><n>f</n><a>{"a": "x"}</a\n</c\n', TOOLS)[:3] == TOLD
