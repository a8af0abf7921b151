"""Messages with headers: routing, lost marks, text outside of messages, calls and their bodies."""

from __future__ import annotations

import pytest
from drive import told

from dragoman.dialects.harmony import HARMONY
from dragoman.messages import Tool
from dragoman.syntax.calls import Policy
from dragoman.syntax.decode import decode

TOOLS = [
    Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}}),
    Tool("run", parameters={"type": "object", "properties": {"script": {"type": "string"}, "n": {"type": "integer"}}}),
    Tool("python", parameters={"type": "object", "properties": {"code": {"type": "string"}}}),
]
F = TOOLS[:1]
BEGIN = "<|start|>assistant"
THINK = "<|channel|>analysis<|message|>hm<|end|>"
FINAL = "<|channel|>final<|message|>Done.<|return|>"
CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "x"}<|call|>'
TOLD = ["call f", 'args {"a": "x"}', "end"]
DONE = ["content:final 'Done.'"]


def bodies(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("notice")]


def harmony(raw: str, tools=F, **more) -> list[str]:
    return told(HARMONY, raw, tools, prompt=BEGIN, **more)


# --- messages


def test_channels_are_reasoning_content_and_calls():
    assert harmony(THINK + BEGIN + CALL + BEGIN + FINAL) == ["reasoning 'hm'", *TOLD, *DONE]


def test_commentary_without_a_recipient_is_content_for_the_user():
    raw = "<|channel|>commentary<|message|>Let me look.<|end|>" + BEGIN + FINAL
    assert harmony(raw) == ["content:commentary 'Let me look.'", *DONE]


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>commentary to=functions.f<|message|>",
        " to=functions.f<|channel|>commentary<|message|>",
        "<|channel|>analysis to=functions.f code<|message|>",
        "<|channel|>commentary to=f <|constrain|>json<|message|>",
        "<|channel|>commentary<|channel|>commentary to=functions.f<|message|>",
        "<|channel|>commentary to=assistant to=functions.f<|message|>",
        "<|channel|>commentary to=functions.f.<|message|>",
    ],
)
def test_a_recipient_anywhere_in_the_header_makes_a_call(header: str):
    assert harmony(header + '{"a": "x"}<|call|>') == TOLD


def test_a_message_without_a_channel_is_final():
    assert harmony("<|message|>Done.<|return|>") == ["content 'Done.'"]


def test_a_channel_counts_by_how_its_word_begins():
    assert harmony("<|channel|>final answer<|message|>Done.<|return|>") == ["notice dropped 'answer'", *DONE]
    assert harmony("<|channel|>-final<|message|>Done.<|return|>") == DONE


def test_the_last_known_channel_counts():
    assert harmony("<|channel|>odd<|channel|>analysis<|message|>hm<|end|>") == [
        "notice dropped 'odd'",
        "reasoning 'hm'",
    ]


# --- ends


def test_a_new_header_ends_a_body():
    assert harmony("<|channel|>analysis<|message|>hm<|channel|>final<|message|>Done.") == [
        "reasoning 'hm'",
        "notice unclosed",
        *DONE,
    ]
    assert harmony("<|channel|>analysis<|message|>hm" + BEGIN + FINAL) == ["reasoning 'hm'", "notice unclosed", *DONE]


def test_open_reasoning_at_the_end_is_told():
    assert harmony("<|channel|>analysis<|message|>hm") == ["reasoning 'hm'", "notice unclosed"]


def test_an_open_answer_at_the_end_is_fine():
    assert harmony(FINAL[:-10]) == DONE


def test_an_end_mark_ends_the_turn():
    assert harmony("<|channel|>analysis<|message|>hm<|return|>") == ["reasoning 'hm'"]
    assert harmony(FINAL + "late")[-1] == "notice after-end 'late'"


def test_marks_of_a_header_inside_a_body_are_dropped():
    assert harmony("<|channel|>final<|message|>a<|constrain|>b<|message|>c<|return|>") == [
        "content:final 'a'",
        "notice stray-mark '<|constrain|>'",
        "content:final 'b'",
        "notice stray-mark '<|message|>'",
        "content:final 'c'",
    ]


# --- text outside of messages


def test_text_without_any_header_is_content():
    assert harmony("Hello there.") == ["content 'Hello there.'"]
    assert harmony("analysis of the data") == ["content 'analysis of the data'"]
    assert harmony("assist") == ["content 'assist'"]


def test_text_between_messages_is_noise():
    assert harmony(THINK + "noise" + BEGIN + FINAL) == ["reasoning 'hm'", "notice dropped 'noise'", *DONE]


def test_text_behind_reasoning_is_the_answer_if_there_is_no_other():
    assert harmony(THINK + "The answer.") == ["reasoning 'hm'", "content 'The answer.'"]


def test_text_behind_an_answer_is_dropped():
    assert harmony("<|channel|>final<|message|>Done.<|end|>noise") == [*DONE, "notice dropped 'noise'"]
    assert harmony(CALL + "noise") == [*TOLD, "notice dropped 'noise'"]


# --- lost marks


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("analysisJust so.assistantfinalDone.", ["reasoning 'Just so.'", "content:final 'Done.'"]),
        ("assistantanalysisJust so.", ["reasoning 'Just so.'"]),
        ("finalDone.", DONE),
        ("analysisjust so.assistantfinalDone.", ["reasoning 'just so.'", *DONE]),
        ('analysisHm.assistantcommentary to=functions.f<|message|>{"a": "x"}<|call|>', ["reasoning 'Hm.'", *TOLD]),
        ("finally done.", ["content 'finally done.'"]),
        ("analysis: none", ["content 'analysis: none'"]),
        ("final", ["content 'final'"]),
    ],
)
def test_words_without_their_marks_open_blocks_at_the_beginning(raw: str, expected: list[str]):
    assert bodies(harmony(raw)) == expected


def test_a_message_mark_that_is_missing():
    assert bodies(harmony('<|channel|>commentary to=functions.f <|constrain|>json{"a": "x"}<|call|>')) == TOLD
    assert bodies(harmony("<|channel|>final Done.<|return|>")) == ["content:final 'Done.'"]
    assert bodies(harmony("<|channel|>analysis hm<|end|>" + BEGIN + FINAL)) == ["reasoning 'hm'", *DONE]


def test_a_header_that_never_ends_is_told_of():
    lines = harmony("<|channel|>commentary to=functions.f " + "x" * 300 + '<|message|>{"a": "x"}<|call|>')
    assert any(line.startswith("notice") for line in lines)
    assert "finish error" not in lines


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize(
    "raw", ["<|channel|>commentary to=functions.f", "<|channel|>comm", " to=functions.f", "<|channel|>"]
)
def test_a_header_cut_by_the_end_is_dropped_and_told(raw: str, finish: str):
    turn = decode(HARMONY, raw, F, prompt=BEGIN, finish=finish)
    assert turn.parts == ()
    assert turn.notices


def test_a_repeated_start_is_noise():
    assert bodies(harmony(BEGIN + FINAL)) == DONE
    assert bodies(harmony("<|start|>" + BEGIN + FINAL)) == DONE


def test_a_message_of_somebody_else_is_dropped():
    raw = CALL + "<|start|>functions.f to=assistant<|channel|>commentary<|message|>made up<|end|>" + BEGIN + FINAL
    assert bodies(harmony(raw)) == [*TOLD, *DONE]
    assert "notice dropped 'made up'" in harmony(raw)


# --- calls


def test_a_built_in_tool_that_was_not_offered_is_markup():
    raw = "<|channel|>analysis to=python code<|message|>print(1)<|call|>" + BEGIN + FINAL
    assert harmony(raw) == ["notice unknown-tool 'print(1)'", *DONE]


def test_raw_code_is_the_one_string_of_its_tool():
    raw = '<|channel|>analysis to={} code<|message|>print("1")\n<|call|>'
    assert harmony(raw.format("python"), TOOLS) == ["call python", 'args {"code": "print(\\"1\\")\\n"}', "end"]
    assert harmony(raw.format("functions.run"), TOOLS) == ["call run", 'args {"script": "print(\\"1\\")\\n"}', "end"]


def test_a_body_of_json_is_no_raw_code():
    raw = '<|channel|>analysis to=python code<|message|>{"code": "1"}<|call|>'
    assert harmony(raw, TOOLS) == ["call python", 'args {"code": "1"}', "end"]


def test_cut_code_says_what_is_missing():
    raw = "<|channel|>analysis to=python code<|message|>print("
    assert harmony(raw, TOOLS, finish="length") == [
        "call python", 'args {"code": "print(', 'end cut bad "}', "notice cut", "finish length",
    ]  # fmt: skip


def test_a_tool_that_was_not_offered():
    raw = CALL.replace("functions.f", "functions.g")
    assert harmony(raw) == ["notice unknown-tool 'g'", "call g", *TOLD[1:]]
    assert harmony(raw, policy=Policy(unknown="refuse")) == ['notice unknown-tool \'{"a": "x"}\'']
    assert bodies(harmony(raw, policy=Policy(unknown="text"))) == ['content \'{"a": "x"}\'']


def test_without_tools_a_call_is_its_body():
    assert harmony(CALL, ()) == ['content \'{"a": "x"}\'']
    assert harmony("<|channel|>analysis to=python code<|message|>1<|call|>", ()) == ["notice unknown-tool '1'"]


def test_a_bad_body_of_a_declared_tool_goes_out_as_it_stands():
    raw = CALL.replace('{"a": "x"}', "ls -l")
    assert harmony(raw) == ["call f", "args ls -l", "notice bad-json 'ls -l'", "end bad"]


def test_a_bad_body_of_another_tool_is_text():
    raw = CALL.replace("functions.f", "functions.g").replace('{"a": "x"}', "ls -l")
    assert bodies(harmony(raw)) == ["content 'ls -l'"]


def test_junk_behind_a_body_is_dropped():
    raw = CALL.replace("<|call|>", " junk<|call|>")
    assert harmony(raw) == [*TOLD, "notice dropped 'junk'"]


def test_a_call_may_lack_its_end():
    assert harmony(CALL.removesuffix("<|call|>")) == TOLD
    assert harmony(CALL.replace("<|call|>", "<|end|>")) == TOLD
    assert bodies(harmony(CALL.removesuffix("<|call|>") + BEGIN + CALL)) == [*TOLD, *TOLD]


def test_a_cut_body_is_a_cut_call():
    assert harmony(CALL[:-10], finish="length") == [
        "call f",
        'args {"a": "x',
        'end cut bad "}',
        "notice cut",
        "finish length",
    ]


def test_a_tool_may_have_the_prefix_in_its_name():
    assert harmony(CALL, [Tool("functions.f", parameters=F[0].parameters)]) == ["call functions.f", *TOLD[1:]]


SPECIALS = dict.fromkeys(HARMONY.special, 0)


def test_marks_that_are_only_spelled_are_text():
    pieces = [
        ("<|channel|>", True),
        ("final", False),
        ("<|message|>", True),
        ("a <|end|> b", False),
        ("<|return|>", True),
    ]
    assert told(HARMONY, pieces, F, prompt=BEGIN, specials=SPECIALS) == ["content:final 'a <|end|> b'"]


# --- rare headers


def test_a_brace_in_a_header_without_a_recipient_is_a_word():
    assert harmony("<|channel|>analysis {x}<|message|>hm<|end|>")[-1] == "reasoning 'hm'"


def test_a_call_whose_message_mark_never_came():
    lines = harmony("<|channel|>commentary to=functions.f<|call|>" + BEGIN + FINAL)
    assert bodies(lines) == ["call f", "args {}", "end", *DONE]


def test_the_role_alone_is_no_text():
    assert harmony("<|channel|>final<|message|>Done.<|end|>assistant") == DONE


def test_a_message_mark_inside_what_is_dropped_ends_nothing():
    raw = "<|start|>user<|message|>a<|message|>b<|end|>" + BEGIN + FINAL
    assert bodies(harmony(THINK + raw)) == ["reasoning 'hm'", *DONE]
    assert "notice dropped 'ab'" in harmony(THINK + raw)


def test_a_built_in_tool_is_a_call_where_nobody_told_which_tools_there_are():
    raw = "<|channel|>analysis to=python code<|message|>1<|call|>"
    assert harmony(raw, None) == ["call python", 'args {"code": "1"}', "end"]
