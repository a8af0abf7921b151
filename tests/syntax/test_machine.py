"""Content, reasoning and calls in running text: openers and closers, recovery forms, candidates."""

from __future__ import annotations

import pytest
from drive import told

from dragoman.dialects.gemma import GEMMA4
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.messages import Tool
from dragoman.syntax.calls import PATIENCE, Policy
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.decode import Parser, decode
from dragoman.syntax.dialect import Dialect

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]
BODY = '{"name": "f", "arguments": {"a": "x"}}'
CALL = f"<tool_call>{BODY}</tool_call>"
TOLD = ["call f", 'args {"a": "x"}', "end"]


def bodies(lines: list[str]) -> list[str]:
    """Without notices."""
    return [line for line in lines if not line.startswith("notice")]


# --- reasoning


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("<think>a</think>b", ["reasoning 'a'", "content 'b'"]),
        ("a<think>b</think>c", ["content 'a'", "reasoning 'b'", "content 'c'"]),
        ("<think></think>a", ["content 'a'"]),
        ("<think>a", ["reasoning 'a'", "notice unclosed"]),
        ("<think>a<|im_end|>", ["reasoning 'a'", "notice unclosed"]),
        ("<think><think>\na</think>b", ["notice stray-mark '<think>'", "reasoning 'a'", "content 'b'"]),
        ("<think>\n <think>a</think>b", ["notice stray-mark '<think>'", "reasoning 'a'", "content 'b'"]),
        ("<think>a <think> b</think>c", ["reasoning 'a <think> b'", "content 'c'"]),
        ("a</think>b", ["content 'a'", "notice stray-mark '</think>'", "content 'b'"]),
        ("a`</think>`b", ["content 'a`</think>`b'"]),
        ("```\n<think>\n```\nb", ["content '```\\n<think>\\n```\\nb'"]),
        ("<think>a</think>b<think>c</think>d", ["reasoning 'a'", "content 'b'", "reasoning 'c'", "content 'd'"]),
    ],
)
def test_reasoning(raw: str, expected: list[str]):
    assert told(HERMES, raw) == expected


def test_a_dialect_without_reasoning_knows_no_such_marks():
    assert told(Dialect("x", ends=("<end>",)), "<think>a</think>b<end>") == ["content '<think>a</think>b'"]


def test_a_special_opener_inside_reasoning_is_markup():
    assert told(GEMMA4, "<|channel>thought\na<|channel>thought\nb<channel|>c") == [
        "reasoning 'a'",
        "notice stray-mark '<|channel>'",
        "reasoning '\\nb'",
        "content 'c'",
    ]


# --- labels


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("thought\na<channel|>b", ["notice recovered", "reasoning 'a'", "content 'b'"]),
        ("\n thought \na<channel|>b", ["notice recovered", "reasoning 'a'", "content 'b'"]),
        ("thought", ["notice recovered", "notice unclosed"]),
        ("thoughtful", ["content 'thoughtful'"]),
        ("thought out", ["content 'thought out'"]),
        ("a\nthought\nb", ["content 'a\\nthought\\nb'"]),
        ("<|channel>a<channel|>thought\nb", ["reasoning 'a'", "content 'thought\\nb'"]),
        ("<|channel>a", ["reasoning 'a'", "notice unclosed"]),
        ("<|channel>thoughts\na", ["reasoning 'thoughts\\na'", "notice unclosed"]),
    ],
)
def test_a_label_alone_on_its_line_opens_reasoning_at_the_beginning(raw: str, expected: list[str]):
    assert told(GEMMA4, raw) == expected


def test_a_label_that_a_limit_cut_is_dropped():
    assert told(GEMMA4, "<|channel>thou", finish="length") == ["notice unclosed", "notice cut 'thou'", "finish length"]
    assert told(GEMMA4, "<|channel>thou") == ["reasoning 'thou'", "notice unclosed"]


# --- calls in content


def test_a_call_in_content():
    assert told(HERMES, f"Text \n{CALL}\n{CALL} more", TOOLS) == ["content 'Text'", *TOLD, *TOLD, "content 'more'"]


def test_of_repeated_openers_the_last_counts():
    assert told(HERMES, "<tool_call>\n<tool_call>" + BODY + "</tool_call>", TOOLS) == [
        "notice stray-mark '<tool_call>'",
        *TOLD,
    ]


def test_without_tools_there_are_no_calls():
    assert told(HERMES, f"a {CALL} b") == [f"content {f'a {CALL} b'!r}"]


def test_unknown_tools_allow_every_name_but_no_recovery():
    assert told(HERMES, CALL.replace('"f"', '"g"'), None) == ["call g", *TOLD[1:]]
    assert told(HERMES, BODY, None) == [f"content {BODY!r}"]


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [
        ("deliver", ["notice unknown-tool 'g'", "call g", *TOLD[1:]]),
        ("text", [f"content {CALL.replace('f', 'g', 1)!r}"]),
        ("refuse", [f"notice unknown-tool {CALL.replace('f', 'g', 1)!r}"]),
    ],
)
def test_a_tool_that_was_not_offered(unknown: str, expected: list[str]):
    raw = CALL.replace("f", "g", 1)
    lines = told(HERMES, raw, TOOLS, policy=Policy(unknown=unknown))
    assert [line for line in lines if "gave-back" not in line] == expected


def test_a_stray_closer_is_dropped_and_told():
    assert told(HERMES, "a</tool_call>b", TOOLS) == ["content 'a'", "notice stray-mark '</tool_call>'", "content 'b'"]


def test_the_closer_of_an_opener_that_was_text_is_text():
    raw = "a <tool_call>b</tool_call> c"
    told(HERMES, raw, TOOLS)
    assert decode(HERMES, raw, TOOLS).content == raw
    assert told(HERMES, raw + "</tool_call>", TOOLS)[-1] == "notice stray-mark '</tool_call>'"


# --- recovery at the beginning of a turn


@pytest.mark.parametrize(
    "raw",
    [
        BODY,
        f"[{BODY}]",
        f"[ {BODY} ]",
        f"\n {BODY}",
        f"```json\n{BODY}\n```",
        f"```\n{BODY}```",
        f"```JSON \r\n{BODY}\n```\n",
        'f(a="x")',
        '[f(a="x")]',
        " f(a='x')\n",
        f"<think>hm</think>{BODY}",
    ],
)
def test_a_call_without_marks_counts_at_the_beginning(raw: str):
    lines = bodies(told(HERMES, raw, TOOLS))
    assert [line for line in lines if not line.startswith("reasoning")] == TOLD


@pytest.mark.parametrize(
    "raw",
    [
        "Text " + BODY,
        "Text\n" + BODY,
        'Text\nf(a="x")',
        "`" + BODY + "`",
        "```json\nno call\n```",
        "```\nx",
        "``` " + BODY,
        BODY.replace('"f"', '"g"'),
        'g(a="x")',
        "f(1)",
        "f (a=1)",
        'f(a="x") is what I would call',
        "[1, 2]",
        "[f]",
        "[a](b)",
        '{"name": "f"}',
        '{"a": 1}',
        "{",
        "f(",
        "[f(",
        "[",
        "`",
        "f",
        "{}",
    ],
)
def test_other_text_at_the_beginning_is_text(raw: str):
    assert decode(HERMES, raw, TOOLS).content == raw
    assert [line.split(" ")[0] for line in bodies(told(HERMES, raw, TOOLS))] == ["content"]


def test_calls_follow_one_another_at_the_beginning():
    assert bodies(told(HERMES, f"{BODY}\n{BODY}", TOOLS)) == [*TOLD, *TOLD]


@pytest.mark.parametrize("policy", [Policy(recover="strict"), Policy(repair=False, recover="strict")])
def test_a_strict_policy_recovers_nothing(policy: Policy):
    for raw in (BODY, 'f(a="x")', f"```\n{BODY}\n```"):
        assert told(HERMES, raw, TOOLS, policy=policy) == [f"content {raw!r}"]


# --- recovery in the middle


def test_bare_json_in_the_middle_needs_a_line_start_and_its_close_mark():
    assert bodies(told(HERMES, f"Text\n{BODY}\n</tool_call>", TOOLS)) == ["content 'Text'", *TOLD]
    for raw in (f"Text {BODY}</tool_call>", f"Text\n{BODY}\nmore"):
        assert not decode(HERMES, raw, TOOLS).calls


def test_anywhere_means_any_line_start():
    anywhere = Policy(recover="anywhere")
    assert bodies(told(HERMES, f"Text\n{BODY}\nmore", TOOLS, policy=anywhere)) == [
        "content 'Text'",
        *TOLD,
        "content 'more'",
    ]
    assert not decode(HERMES, f"Text {BODY}", TOOLS, policy=anywhere).calls
    assert not decode(HERMES, f"```\n{BODY}\n```", TOOLS[:0], policy=anywhere).calls


def test_code_is_no_place_for_recovery():
    raw = f"Text\n```\n{BODY}</tool_call>\n```"
    assert decode(HERMES, raw, TOOLS).content == raw


BARE = "<function=f>\n<parameter=a>\nx\n</parameter>\n</function>"


def test_a_calls_structure_without_its_opener_counts_at_a_line_start():
    assert bodies(told(QWEN3_CODER, f"Text\n{BARE}\n</tool_call>", TOOLS)) == ["content 'Text'", *TOLD]
    assert bodies(told(QWEN3_CODER, BARE, TOOLS)) == TOLD
    assert decode(QWEN3_CODER, f"Text {BARE} here", TOOLS).content == f"Text {BARE} here"


def test_a_dialect_without_a_close_mark_takes_json_at_any_line_start():
    dialect = Dialect("x", "<call>{call}", JsonCall())
    assert bodies(told(dialect, f"Text\n{BODY}\n", TOOLS)) == ["content 'Text'", *TOLD]


def test_a_dialect_without_calls_takes_none():
    dialect = Dialect("x", reasoning="<t>{text}</t>")
    assert told(dialect, "<t>a</t>" + CALL, TOOLS) == ["reasoning 'a'", f"content {CALL!r}"]


# --- candidates: a call in open reasoning


@pytest.mark.parametrize(
    "tail",
    ["", "\n", "<|im_end|>", " \n<|im_end|>"],
)
def test_a_candidate_is_a_call_if_the_turn_ends(tail: str):
    assert bodies(told(HERMES, f"<think>hm\n{CALL}{tail}", TOOLS)) == ["reasoning 'hm'", *TOLD]


@pytest.mark.parametrize(
    "tail",
    ["</think>", "\n</think>b", " and then", "\n<think>"],
)
def test_a_candidate_is_a_draft_if_anything_else_follows(tail: str):
    turn = decode(HERMES, f"<think>hm {CALL}{tail}", TOOLS)
    assert not turn.calls
    assert turn.reasoning.startswith(f"hm {CALL}")
    told(HERMES, f"<think>hm {CALL}{tail}", TOOLS)


def test_several_candidates_stand_or_fall_together():
    assert bodies(told(HERMES, f"<think>hm\n{CALL}\n{CALL}", TOOLS)) == ["reasoning 'hm'", *TOLD, *TOLD]
    assert bodies(told(HERMES, f"<think>hm {CALL}\n{CALL}</think>a", TOOLS)) == [
        f"reasoning {f'hm {CALL}{chr(10)}{CALL}'!r}",
        "content 'a'",
    ]


def test_a_candidate_needs_a_declared_name_and_a_good_body():
    for raw in (CALL.replace('"f"', '"g"'), "<tool_call>no body</tool_call>", CALL.replace(": {", " {")):
        assert decode(HERMES, f"<think>hm {raw}", TOOLS).reasoning == f"hm {raw}"


def test_a_cut_candidate_is_a_cut_call():
    assert bodies(told(HERMES, "<think>hm\n" + CALL[:-15], TOOLS, finish="length")) == [
        "reasoning 'hm'",
        "call f",
        'args {"a": "x',
        'end cut bad "}',
        "finish length",
    ]


def test_a_candidate_cut_before_its_name_is_dropped():
    lines = told(HERMES, '<think>hm\n<tool_call>{"na', TOOLS, finish="length")
    assert bodies(lines) == ["reasoning 'hm'", "finish length"]
    assert any(line.startswith("notice cut") for line in lines)


def test_an_open_mark_of_structure_in_reasoning_needs_a_line_start():
    assert bodies(told(QWEN3_CODER, f"<think>hm\n{BARE}", TOOLS)) == ["reasoning 'hm'", *TOLD]
    assert decode(QWEN3_CODER, f"<think>hm {BARE}", TOOLS).reasoning == f"hm {BARE}"


def test_what_waits_too_long_is_a_call():
    parser = Parser(HERMES, TOOLS)
    parser.feed('<think>hm\n<tool_call>{"name": "f", "arguments": {"a": "')
    assert parser.feed("x" * (PATIENCE - 100)) == []
    events = parser.feed("y" * 200)
    assert [type(event).__name__ for event in events] == ["CallStart", "CallArgs"]
    events = parser.feed('"}}</tool_call></think>Text') + parser.close()
    assert [type(event).__name__ for event in events][:2] == ["CallArgs", "CallEnd"]
    assert events[-1].reason == "tool_calls"  # type: ignore[union-attr]


def test_text_that_only_looks_like_a_long_call_is_reasoning():
    parser = Parser(HERMES, TOOLS)
    parser.feed("<think>hm\n<tool_call>")
    events = parser.feed("x" * PATIENCE) + parser.close()
    assert "CallStart" not in {type(event).__name__ for event in events}


# --- the end of a turn


@pytest.mark.parametrize("mark", HERMES.ends)
def test_every_end_mark_ends_the_turn(mark: str):
    assert told(HERMES, f"a{mark}") == ["content 'a'"]


def test_an_end_mark_in_code_ends_the_turn_too():
    assert told(HERMES, "```\na<|im_end|>") == ["content '```\\na'"]


def test_a_call_behind_much_white_space_counts_once():
    raw = "\n" * 300 + BODY + "\n" + BODY
    assert [line for line in bodies(told(HERMES, raw, TOOLS)) if not line.startswith("content")][:3] == TOLD


def test_a_spelled_call_in_the_middle_of_a_line_is_text():
    raw = f"Text {CALL}"
    assert decode(HERMES, raw, TOOLS, specials={"<tool_call>": 1, "</tool_call>": 2}).content == raw
    assert decode(HERMES, f"Text\n{CALL}", TOOLS, specials={"<tool_call>": 1, "</tool_call>": 2}).calls


# --- sections

SECTIONED = Dialect(
    "x", "<call>{call}</call>", JsonCall(), section="<calls>{calls}</calls>", ends=("<end>",), drops=("<answer>",),
    reasoning="<t>{text}</t>", thoughts=("<u>{text}</u>",), special=("<calls>", "</calls>"),
)  # fmt: skip
ONE = f"<call>{BODY}</call>"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (f"Text <calls>{ONE}{ONE}</calls>", ["content 'Text'", *TOLD, *TOLD]),
        (f"<calls>\n{ONE}\n</calls> more", [*TOLD, "content 'more'"]),
        (f"<calls>{ONE}<end>", TOLD),
        ("<calls></calls>b", ["content 'b'"]),
        (f"<calls>{BODY}</calls>", ["notice variant", *TOLD]),
        ("<answer>Text", ["content 'Text'"]),
        ("<u>a</u>b<t>c</t>", ["reasoning 'a'", "content 'b'", "reasoning 'c'"]),
    ],
)
def test_a_section_holds_calls(raw: str, expected: list[str]):
    assert told(SECTIONED, raw, TOOLS) == expected


def test_a_call_outside_of_its_section_is_a_recovery_form():
    assert told(SECTIONED, f"Text\n{ONE}", TOOLS) == ["content 'Text'", "notice recovered", *TOLD]
    assert decode(SECTIONED, f"Text {ONE}", TOOLS).content == f"Text {ONE}"


def test_the_end_of_a_section_that_is_not_open_is_a_stray_mark():
    assert told(SECTIONED, "a</calls>b", TOOLS) == ["content 'a'", "notice stray-mark '</calls>'", "content 'b'"]


def test_candidates_may_stand_in_a_section():
    assert bodies(told(SECTIONED, f"<t>hm\n<calls>{ONE}{ONE}</calls>", TOOLS)) == ["reasoning 'hm'", *TOLD, *TOLD]
    assert decode(SECTIONED, f"<t>hm <calls>{ONE}</calls></t>a", TOOLS).reasoning == f"hm <calls>{ONE}</calls>"


def test_a_section_may_open_with_several_marks():
    dialect = Dialect("x", "<call>{call}</call>", JsonCall(), section="<calls><all>{calls}</all></calls>")
    assert told(dialect, f"<calls>\n<all>{ONE}</all></calls>", TOOLS)[:3] == TOLD
