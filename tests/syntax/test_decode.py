"""The parser: what it is made with, how it ends, its trace, and the muted prompt."""

from __future__ import annotations

import pytest
from drive import shown, told, traced
from streams import Setting, merge, play

from dragoman import api
from dragoman.dialects.gemma import GEMMA4
from dragoman.dialects.harmony import HARMONY
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.errors import UsageError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice
from dragoman.messages import Tool
from dragoman.syntax.calls import Tools
from dragoman.syntax.decode import CUTS, REASONS, Parser, decode, fold

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}})]
CALL = '<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>'
BEGINS = "<|im_start|>assistant\n"


# --- making one


def test_it_takes_a_dialect_not_a_name():
    with pytest.raises(UsageError, match=r"a Parser needs a Dialect, not str; dragoman.get\(name\) finds one"):
        Parser("hermes-json")  # type: ignore[arg-type]


def test_tools_may_come_ready_made():
    tools = Tools(TOOLS)
    assert [call.name for call in decode(HERMES, CALL, tools).calls] == ["f"]


def test_a_tool_without_a_name_is_the_callers_mistake():
    with pytest.raises(UsageError):
        Parser(HERMES, [{}])


# --- ending


@pytest.mark.parametrize("reason", REASONS)
def test_a_turn_ends_once(reason: str):
    parser = Parser(HERMES)
    parser.feed("a")
    assert [type(event) for event in parser.close(reason)] == [Finish]
    assert parser.close(reason) == []
    assert parser.feed("more") == []


def test_a_reason_must_be_known():
    with pytest.raises(UsageError, match="finish reason 'done': use one of stop, tool_calls"):
        Parser(HERMES).close("done")


@pytest.mark.parametrize(
    ("raw", "reason", "finish"),
    [
        ("a", "stop", "stop"),
        ("a", "tool_calls", "stop"),
        (CALL, "stop", "tool_calls"),
        (CALL, "tool_calls", "tool_calls"),
        *((CALL, reason, reason) for reason in CUTS),
    ],
)
def test_what_cut_a_turn_wins_over_its_calls(raw: str, reason: str, finish: str):
    assert decode(HERMES, raw, TOOLS, finish=reason).finish == finish


def test_a_cut_call_is_no_call_that_was_made():
    turn = decode(HERMES, CALL[:-25], TOOLS, finish="stop")
    assert (turn.finish, turn.calls[0].complete) == ("stop", False)


def test_the_model_ends_its_turn():
    parser = Parser(HERMES)
    parser.feed("a<|im_en")
    assert not parser.ended
    parser.feed("d|>")
    assert parser.ended


def test_what_follows_the_end_is_one_notice_and_never_content():
    parser = Parser(HERMES, trace=lambda *_: None)
    events = parser.feed("a<|im_end|>b")
    for piece in ("c", "d" * 300):
        events += parser.feed(piece)
    events += parser.close()
    assert shown(events) == ["content 'a'", f"notice after-end {'bc' + 'd' * 300!r}", "finish stop"]


def test_white_space_behind_the_end_is_nothing():
    assert told(HERMES, "a<|im_end|>\n \n") == ["content 'a'"]


def test_nothing_at_all_is_a_turn():
    assert told(HERMES, "") == []
    assert told(HARMONY, "") == []


# --- the trace


def test_the_trace_tells_a_role_for_every_character():
    raw = f"<think>\nhm </think>\n\nText.\n{CALL}\n"
    assert traced(HERMES, raw, TOOLS) == [
        ("markup", "<think>\n"),
        ("reasoning", "hm"),
        ("markup", " </think>\n\n"),
        ("content", "Text."),
        ("markup", '\n<tool_call>{"name": "f", "arguments": '),
        ("arguments", '{"a": "x"}'),
        ("markup", "}</tool_call>\n"),
    ]


def test_the_trace_of_parameters():
    raw = "<tool_call>\n<function=f>\n<parameter=a>\nx y\n</parameter>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>"
    spans = traced(QWEN3_CODER, raw, TOOLS)
    assert [text for role, text in spans if role == "arguments"] == ["x y"]
    assert {role for role, _ in spans} == {"markup", "arguments"}


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize(
    "raw",
    [
        "", "text", " text \n", "<think>cut", CALL[:40], CALL[:-5], "a</think>b", "a<|im_end|>late", "<tool_call>no call</tool_call>",
        '<think>{"a" <tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call> no</think>b', "a <tool_ca",
    ],
)  # fmt: skip
def test_the_trace_has_no_gap_and_no_overlap(raw: str, finish: str):
    traced(HERMES, raw, TOOLS, finish=finish)
    traced(GEMMA4, raw, TOOLS, finish=finish)
    traced(HARMONY, raw, TOOLS, finish=finish)
    traced(QWEN3_CODER, raw, TOOLS, finish=finish)


def test_what_was_given_back_is_traced_as_content():
    raw = "a <tool_call>b</tool_call>"
    assert traced(HERMES, raw, TOOLS) == [("content", raw)]


# --- the muted prompt


def test_an_answer_that_the_prompt_began_goes_on():
    raw, prompt = "slo.", BEGINS + "The capital is O"
    assert told(HERMES, raw, prompt=prompt) == ["content 'slo.'"]


def test_offsets_are_those_of_the_output():
    parser = Parser(HERMES, prompt=BEGINS + "The capital is O")
    assert parser.feed("slo.") == [Content("slo.", 0, 0)]


@pytest.mark.parametrize(
    ("prefix", "raw", "expected"),
    [
        ("<think>\n", "hm</think>a", ["reasoning 'hm'", "content 'a'"]),
        ("<think>\n\n</think>\n\n", "a", ["content 'a'"]),
        ("<think>h", "m</think>a", ["reasoning 'm'", "content 'a'"]),
        ("<thi", "nk>hm</think>a", ["reasoning 'hm'", "content 'a'"]),
        ("<think>hm</thi", "nk>a", ["content 'a'"]),
        ("<think>hm", " more</think>a", ["reasoning ' more'", "content 'a'"]),
        ("Text ", "more", ["content 'more'"]),
        ("Text", " more", ["content ' more'"]),
        ("<think>hm</think>f", " more", ["content ' more'"]),
        ("Text\n```\n", "</think>\n", ["content '</think>\\n'"]),
        ("Text ", '{"name": "f", "arguments": {}}', ['content \'{"name": "f", "arguments": {}}\'']),
    ],
)
def test_the_prompts_part_is_read_by_the_same_machine(prefix: str, raw: str, expected: list[str]):
    seen = [line for line in told(HERMES, raw, TOOLS, prompt=BEGINS + prefix) if not line.startswith("notice")]
    assert seen == expected


@pytest.mark.parametrize("cut", range(40, len(CALL) + 1))
def test_a_call_that_the_prompt_left_open_goes_on(cut: int):
    turn = decode(HERMES, CALL[cut:] + "\n", TOOLS, prompt=BEGINS + CALL[:cut])
    if cut < CALL.index("}}") + 1:
        assert [(call.name, call.arguments, call.complete) for call in turn.calls] == [("f", '{"a": "x"}', True)]
    assert not turn.content.strip()
    assert not turn.reasoning


def test_a_call_that_the_prompt_closed_is_not_told_again():
    parser = Parser(HERMES, TOOLS, prompt=BEGINS + CALL)
    assert [type(event) for event in parser.feed("\nDone.") + parser.close()] == [Content, Finish]


def test_calls_of_the_prompt_do_not_decide_how_the_turn_ended():
    assert decode(HERMES, "\nDone.", TOOLS, prompt=BEGINS + CALL).finish == "stop"


def test_a_framed_prompt_may_open_its_message():
    prompt = "<|start|>assistant<|channel|>final<|message|>The capital is "
    assert told(HARMONY, "Oslo.<|return|>", prompt=prompt) == ["content:final 'Oslo.'"]


def test_marks_of_the_prompt_count_although_they_came_as_text():
    specials = {"<think>": 1, "</think>": 2, "<|im_start|>": 3, "<|im_end|>": 4}
    pieces = [("hm", False), ("</think>", True), ("a", False)]
    assert told(HERMES, pieces, prompt=BEGINS + "<think>\n", specials=specials) == ["reasoning 'hm'", "content 'a'"]


# --- special tokens

SPECIALS = {"<think>": 1, "</think>": 2, "<tool_call>": 3, "</tool_call>": 4, "<|im_end|>": 5}


def test_marks_that_are_only_spelled_are_text():
    assert told(HERMES, "a <think> b </think> <|im_end|> c", specials=SPECIALS) == [
        "content 'a <think> b </think> <|im_end|> c'"
    ]


def test_a_spelled_call_is_a_recovery_form():
    assert told(HERMES, CALL, TOOLS, specials=SPECIALS)[0] == "notice spelled-mark"
    raw = CALL.replace('"f"', '"g"')
    assert decode(HERMES, raw, TOOLS, specials=SPECIALS).content == raw


def test_a_candidate_ends_when_the_reasoning_closes_by_a_token():
    pieces = [
        ("<think>", True),
        ("hm ", False),
        ("<tool_call>", True),
        ('{"name": "f", "arguments": {"a": "', False),
        ("</think>", True),
        ("b", False),
    ]
    assert told(HERMES, pieces, TOOLS, specials=SPECIALS) == [
        'reasoning \'hm <tool_call>{"name": "f", "arguments": {"a": "\'',
        "notice draft",
        "content 'b'",
    ]


# --- events


def test_each_piece_gives_what_can_be_told_at_once():
    parser = Parser(HERMES, TOOLS)
    assert parser.feed("Hi, you") == [Content("Hi, you", 0, 0)]
    assert parser.feed(" \n<tool_call>\n") == []
    assert parser.feed('{"name": "f", "arg') == [CallStart(0, "", "f", 1)]
    assert parser.feed('uments": {"a"') == [CallArgs(0, "{", 48)]
    assert parser.feed(': "x') == [CallArgs(0, '"a": "x', 49)]
    assert parser.feed('"}}') == [CallArgs(0, '"}', 56), CallEnd(0, complete=True, valid=True)]
    assert parser.feed("\n</tool_call>") == []
    assert parser.close() == [Finish("tool_calls")]


def test_a_whole_turn_is_the_fold_of_its_events():
    raw = f"<think>hm</think>Text {CALL} after"
    assert decode(HERMES, raw, TOOLS) == fold(play(Setting(HERMES, TOOLS), [(raw, False)]))


def test_lone_surrogates_are_text_like_any_other():
    raw = 'a\ud83d<tool_call>{"name": "f", "arguments": {"a": "\udc00"}}</tool_call>\udfff'
    turn = decode(HERMES, raw, TOOLS)
    assert (turn.calls[0].arguments, turn.content) == ('{"a": "\udc00"}', "a\ud83d\n\udfff")


def test_empty_pieces_change_nothing():
    parser = Parser(HERMES, TOOLS)
    events = [event for char in CALL for piece in ("", char, "") for event in parser.feed(piece)]
    assert merge(events + parser.close()) == merge(play(Setting(HERMES, TOOLS), [(CALL, False)]))


def test_a_cut_mark_is_told():
    turn = decode(HERMES, "text <tool_c", TOOLS, finish="length")
    assert (turn.content, turn.notices) == ("text ", (Notice("cut", 5, "<tool_c"),))


def test_the_front_and_the_core_agree():
    assert api.decode("hermes-json", CALL, TOOLS) == decode(HERMES, CALL, TOOLS)
