from __future__ import annotations

import pytest
from messageframes import GOOD, START, STOP, body, call, changed, end, text

from dragoman.checks import check_messages_answer, compare_messages

USAGE = {"input_tokens": 3, "output_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": USAGE,
    "stop_reason": "tool_use", "stop_sequence": None,
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    ],
}  # fmt: skip
CALL = ANSWER["content"][2]


def broken(**fields):
    return {finding.rule for finding in check_messages_answer({**ANSWER, **fields})}


def test_a_good_answer_has_no_findings():
    assert check_messages_answer(ANSWER) == []
    assert broken(content=[], stop_reason="end_turn") == set()


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("M14", {"type": "chat"}),
        ("M14", {"role": None}),
        ("M14", {"id": None}),
        ("M14", {"content": "hi"}),
        ("M14", {"usage": None}),
        ("M14", {"usage": {**USAGE, "output_tokens": -1}}),
        ("M14", {"content": [{"type": "text", "text": ""}], "stop_reason": "end_turn"}),
        ("M14", {"content": [{"type": "thinking", "thinking": None, "signature": "s"}], "stop_reason": "end_turn"}),
        ("M14", {"content": [{**CALL, "input": '{"a": 1}'}]}),
        ("M14", {"content": [{"type": "poem"}], "stop_reason": "end_turn"}),
        ("M6", {"content": [{"type": "thinking", "thinking": "hm", "signature": ""}], "stop_reason": "end_turn"}),
        ("M4", {"content": [CALL, CALL]}),
        ("M10", {"stop_reason": None}),
        ("M10", {"stop_reason": "end_turn"}),
        ("M10", {"content": []}),
    ],
)
def test_every_rule_finds_what_breaks_it(rule, fields):
    assert rule in broken(**fields)


def test_m05_marks_of_the_dialect_in_a_text():
    assert {finding.rule for finding in check_messages_answer(ANSWER, marks=["hm"])} == {"M5"}


def test_s08_a_stream_and_an_answer_that_say_the_same():
    good = [*GOOD[:-2], changed(end("tool_use"), usage=USAGE), STOP]
    assert compare_messages(body(good), ANSWER) == []
    cut = [START, *text(), *call(1, '{"a'), changed(end("max_tokens"), usage=USAGE), STOP]
    whole = {**ANSWER, "content": ANSWER["content"][1:2], "stop_reason": "max_tokens"}
    assert compare_messages(body(cut), whole) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"content": []},
        {"content": [*ANSWER["content"][:2], {**CALL, "input": {}}]},
        {"stop_reason": "end_turn"},
        {"stop_sequence": "END"},
        {"usage": {**USAGE, "output_tokens": 5}},
    ],
)
def test_s08_what_differs_is_found(fields):
    good = [*GOOD[:-2], changed(end("tool_use"), usage=USAGE), STOP]
    assert {finding.rule for finding in compare_messages(body(good), {**ANSWER, **fields})} == {"S8"}
