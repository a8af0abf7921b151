from __future__ import annotations

import json

import pytest
from messageframes import (
    CALL,
    GOOD,
    START,
    STOP,
    TEXT,
    USAGE,
    body,
    call,
    changed,
    delta,
    end,
    start,
    stop,
    text,
    thinking,
)

from dragoman.checks import RULES, check_messages_error, check_messages_stream
from dragoman.protocols import sse


def broken(events, **options):
    found = check_messages_stream(body(events), **options)
    assert all(finding.rule in RULES for finding in found)
    return {finding.rule for finding in found}


@pytest.mark.parametrize(
    "events",
    [
        GOOD,
        [START, end(), STOP],
        [START, {"type": "ping"}, *text(), {"type": "ping"}, end(), STOP],
        [START, *text(), end("stop_sequence", "END"), STOP],
        [START, *call(0, '{"a'), end("max_tokens"), STOP],
        [START, start(0, CALL), delta(0, "input_json_delta", "partial_json", ""), *call(0)[1:], end("tool_use"), STOP],
        [START, *text()[:2], {"type": "error", "error": {"type": "api_error", "message": "x"}}],
        [{"type": "error", "error": {"type": "api_error", "message": "x"}}],
    ],
)
def test_good_streams_have_no_findings(events):
    assert broken(events) == set()


ERROR = {"type": "error", "error": {"type": "api_error", "message": "x"}}


@pytest.mark.parametrize(
    ("rule", "events"),
    [
        ("M2", GOOD[1:]),
        ("M2", [START, START, *GOOD[1:]]),
        ("M2", [changed(START, message={**START["message"], "usage": None}), *GOOD[1:]]),
        ("M2", [changed(START, message={**START["message"], "usage": {**USAGE, "input_tokens": None}}), *GOOD[1:]]),
        ("M2", [changed(START, message={**START["message"], "role": "user"}), *GOOD[1:]]),
        ("M2", [changed(START, message={**START["message"], "id": 3}), *GOOD[1:]]),
        ("M3", [START, *text(1), end(), STOP]),
        ("M3", [START, *text(0), *text(0), end(), STOP]),
        ("M3", [START, start(0, TEXT), start(1, TEXT), stop(0), stop(1), end(), STOP]),
        ("M3", [START, delta(0, "text_delta", "text", "x"), end(), STOP]),
        ("M4", [START, *call(id="has blank"), end("tool_use"), STOP]),
        ("M4", [START, *call(0), *call(1), end("tool_use"), STOP]),
        ("M4", [START, *call(name=""), end("tool_use"), STOP]),
        ("M4", [START, start(0, {"type": "text", "text": "x"}), stop(0), end(), STOP]),
        ("M4", [START, start(0, {"type": "text"}), stop(0), end(), STOP]),
        ("M4", [START, start(0, {"type": "poem"}), stop(0), end(), STOP]),
        ("M5", [START, start(0, TEXT), delta(0, "thinking_delta", "thinking", "x"), stop(0), end(), STOP]),
        ("M5", [START, *text(value=""), end(), STOP]),
        ("M5", [START, *text(value=None), end(), STOP]),
        ("M6", [START, *(thinking()[i] for i in (0, 1, 3)), end(), STOP]),
        ("M6", [START, *(thinking()[i] for i in (0, 2, 1, 3)), end(), STOP]),
        ("M6", [START, *(thinking()[i] for i in (0, 1, 2, 2, 3)), end(), STOP]),
        ("M7", [START, *call(0, '{"a'), end("tool_use"), STOP]),
        ("M7", [START, *call(0, '{"a'), *text(1), end("max_tokens"), STOP]),
        ("M7", [START, start(0, CALL), stop(0), end("tool_use"), STOP]),
        ("M8", [START, *text()[:2], end(), STOP]),
        ("M8", [START, *text(), stop(0), end(), STOP]),
        ("M8", [START, *text(), delta(0, "text_delta", "text", "x"), end(), STOP]),
        ("M9", [START, *text(), STOP]),
        ("M9", [START, *text(), end(), end(), STOP]),
        ("M9", [START, *text(), end(output_tokens=None), STOP]),
        ("M9", [START, *text()[:2], end(), stop(0), STOP]),
        ("M10", [START, *text(), end("stop"), STOP]),
        ("M10", [START, *text(), end("tool_use"), STOP]),
        ("M10", [START, *call(), end("end_turn"), STOP]),
        ("M10", [START, *text(), end("end_turn", "END"), STOP]),
        ("M10", [START, *text(), end("stop_sequence"), STOP]),
        ("M11", [START, *text(), end()]),
        ("M11", [START, *text(), end(), STOP, STOP]),
        ("M11", [START, *text(), end(), STOP, {"type": "ping"}]),
        ("M12", [{"type": "ping"}, *GOOD]),
        ("M13", [START, ERROR, {"type": "ping"}]),
        ("M13", [START, {"type": "error", "error": "x"}]),
        ("M13", [START, {"type": "error", "error": {"type": "api_error"}}]),
    ],
)
def test_every_rule_finds_what_breaks_it(rule, events):
    assert rule in broken(events)


def test_m01_events_without_their_line():
    plain = b"".join(sse.frame(json.dumps(event).encode()) for event in GOOD)
    assert {finding.rule for finding in check_messages_stream(plain)} == {"M1"}


def test_m11_the_mark_of_another_protocol():
    assert "M11" in {finding.rule for finding in check_messages_stream(body(GOOD) + sse.DONE)}


def test_m05_marks_of_the_dialect_in_a_text():
    events = [START, *text(value="a</think>"), end(), STOP]
    assert broken(events) == set()
    assert broken(events, marks=["</think>"]) == {"M5"}


def test_m04_m10_what_depends_on_the_request():
    used = {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1"}]}]}
    assert broken([START, *call(), end("tool_use"), STOP], request=used) == {"M4"}
    events = [START, *text(), end("stop_sequence", "END"), STOP]
    assert broken(events, request={"stop_sequences": ["END"]}) == set()
    assert broken(events, request={"stop_sequences": ["X"]}) == {"M10"}


def test_m13_an_errors_body():
    assert [*check_messages_error(ERROR)] == []
    for bad in (None, {}, {"error": {"message": "x"}}, {"type": "error", "error": {"message": "x"}}):
        assert [*check_messages_error(bad)]


@pytest.mark.parametrize(
    "nonsense", [b"", b"data: 3\n\n", b"data: {}\n\n", b"event: x\n\n", b'data: {"type": 3}\n\n', b"\xff"]
)
def test_nonsense_is_found_and_never_raises(nonsense):
    assert check_messages_stream(nonsense)
