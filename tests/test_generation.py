"""One generation, from pieces to events that always finish."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import api
from dragoman.engines.base import End, Piece
from dragoman.errors import Broken
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Reasoning, Usage
from dragoman.generation import Generation
from dragoman.messages import Call, Message, Request, Tool, Turn
from dragoman.syntax.decode import fold

HERMES = api.get("hermes-json")
HARMONY = api.get("harmony")
TOOL = Tool("add", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": %d}}\n</tool_call>'
FENCED = '```json\n{"name": "add", "arguments": {"a": 1}}\n```'


def begin(dialect: Any = HERMES, *, ids: Any = None, **request: Any) -> Generation:
    return Generation(dialect, Request(**request), ids=ids)


def play(generation: Generation, *pieces: str, end: End | None = None) -> list[Event]:
    """All events; the engine is stopped where the generation says so."""
    events: list[Event] = []
    for piece in pieces:
        if generation.ended:
            break
        events += generation.feed(Piece(piece))
    return events + generation.close(end or End())


def turn(dialect: Any, *pieces: str, end: End | None = None, **request: Any) -> Turn:
    return fold(play(begin(dialect, **request), *pieces, end=end))


def assert_finished(events: list[Event]) -> None:
    """One usage and one finish at the end, and no part left open."""
    kinds = [type(event) for event in events]
    assert kinds[-2:] == [Usage, Finish]
    assert kinds.count(Usage) == kinds.count(Finish) == 1
    assert kinds.count(CallStart) == kinds.count(CallEnd)


def every_cut(text: str) -> list[tuple[str, ...]]:
    return [(text,), tuple(text), *((text[:at], text[at:]) for at in range(1, len(text)))]


# --- stop strings


@pytest.mark.parametrize(
    ("text", "stops", "shown", "matched"),
    [
        ("one STOP two", ("STOP",), "one ", "STOP"),
        ("STOP two", ("STOP",), "", "STOP"),
        ("one STO two", ("STOP",), "one STO two", ""),
        ("one STOSTOP", ("STOP",), "one STO", "STOP"),
        ("one STO", ("STOP",), "one STO", ""),
        ("abcd", ("abcd", "bc"), "a", "bc"),  # what ends first wins, or the cutting would decide
        ("xab", ("b", "ab"), "x", "ab"),  # of those that end together, the longest
        ("aaab", ("aab",), "a", "aab"),
        ("line\n\nnext", ("\n\n",), "line", "\n\n"),
        ("Zoë 🦜 end", ("🦜",), "Zoë ", "🦜"),
    ],
)
def test_stop_strings(text: str, stops: tuple[str, ...], shown: str, matched: str) -> None:
    for pieces in every_cut(text):
        got = turn(HERMES, *pieces, stop=stops)
        assert (got.content, got.stop, got.finish) == (shown, matched, "stop"), pieces


def test_nothing_comes_after_a_stop_string() -> None:
    generation = begin(stop=("STOP",))
    generation.feed(Piece("one STOP"))
    assert generation.ended
    assert generation.cut
    assert generation.feed(Piece(" two")) == []
    assert_finished(generation.close())


def test_only_what_may_become_a_stop_string_waits() -> None:
    generation = begin(stop=("Observation:",))
    assert [event.text for event in generation.feed(Piece("Fine. Obs"))] == ["Fine. "]
    assert [event.text for event in generation.feed(Piece("cure"))] == ["Obs", "cure"]


def test_a_stop_string_counts_in_content_alone() -> None:
    got = turn(HERMES, "<think>a STOP b</think>", CALL % 1, " then STOP not", tools=(TOOL,), stop=("STOP", '"a"'))
    assert got.reasoning == "a STOP b"
    assert [call.arguments for call in got.calls] == ['{"a": 1}']
    assert (got.content.strip(), got.stop, got.finish) == ("then", "STOP", "tool_calls")


def test_a_stop_string_may_span_two_blocks_of_content() -> None:
    text = "<|channel|>commentary<|message|>First Obs<|end|><|start|>assistant<|channel|>final<|message|>ervation: x<|return|>"
    got = turn(HARMONY, text, stop=("Obs\nerv",))
    assert (got.content, got.stop) == ("First ", "Obs\nerv")
    assert turn(HARMONY, text, stop=("Observ",)).content == "First Obs\nervation: x"  # the client sees a newline there


@given(st.text("ab\n", max_size=30), st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=4), st.data())
def test_the_cut_never_decides_where_it_stops(text: str, stops: list[str], data: st.DataObject) -> None:
    text = "x" + text + "y"  # white space at the ends of a turn is the decoder's business
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1), max_size=6)))
    pieces = [text[at:to] for at, to in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    ends = [(end, len(text) - end, stop) for stop in stops if (end := text.find(stop) + len(stop)) >= len(stop)]
    end, _, stop = min(ends, key=lambda hit: (hit[0], -len(hit[2])), default=(None, 0, ""))
    expected = text if end is None else text[: end - len(stop)]
    got = turn(HERMES, *pieces, stop=tuple(stops))
    assert (got.content, got.stop) == (expected, stop)


# --- tools


def test_one_call_at_a_time() -> None:
    text = CALL % 1 + "\n" + CALL % 2 + " more"
    for pieces in every_cut(text):
        generation = begin(tools=(TOOL,), parallel=False)
        events = play(generation, *pieces)
        assert_finished(events)
        got = fold(events)
        assert [call.arguments for call in got.calls] == ['{"a": 1}'], pieces
        assert (got.finish, got.content) == ("tool_calls", ""), pieces


def test_two_calls_at_once() -> None:
    got = turn(HERMES, CALL % 1 + "\n" + CALL % 2, tools=(TOOL,))
    assert [call.arguments for call in got.calls] == ['{"a": 1}', '{"a": 2}']
    assert got.finish == "tool_calls"


def test_no_call_may_be_made() -> None:
    got = turn(HERMES, "<think>so</think>", CALL % 1, tools=(TOOL,), choice="none")
    assert (got.calls, got.reasoning, got.finish) == ((), "so", "stop")
    assert got.content.strip() == CALL % 1
    assert turn(HERMES, CALL % 1).calls == ()


def test_a_schema_allows_no_guessing() -> None:
    assert len(turn(HERMES, FENCED, tools=(TOOL,)).calls) == 1
    assert turn(HERMES, FENCED, tools=(TOOL,), schema={}).content == FENCED


def test_calls_get_ids_that_are_new() -> None:
    numbers = count(1)
    used = Message("assistant", (Call("add", id="call_1"),))
    generation = begin(tools=(TOOL,), messages=(used,), ids=lambda: f"call_{next(numbers)}")
    starts = [event for event in play(generation, CALL % 1, CALL % 2) if isinstance(event, CallStart)]
    assert [start.id for start in starts] == ["call_2", "call_3"]


def test_ids_that_repeat_are_told_apart() -> None:
    generation = begin(tools=(TOOL,), ids=lambda: "id")
    starts = [event for event in play(generation, CALL % 1, CALL % 2, CALL % 3) if isinstance(event, CallStart)]
    assert len({start.id for start in starts}) == 3


# --- the end


def test_the_engines_limit_always_wins() -> None:
    got = turn(HERMES, CALL % 1, " and", tools=(TOOL,), end=End("length"))
    assert (got.finish, len(got.calls)) == ("length", 1)


def test_a_call_cut_by_the_limit_is_not_complete() -> None:
    generation = begin(tools=(TOOL,))
    events = play(generation, (CALL % 12)[:-20], end=End("length"))
    assert_finished(events)
    got = fold(events)
    assert (got.finish, got.calls[0].complete) == ("length", False)


@pytest.mark.parametrize("way", ["close", "fail", "cancel"])
@pytest.mark.parametrize("text", ["", "Hi", "<think>so", (CALL % 1)[:40], CALL % 1, "<tool_", "x STO"])
def test_every_way_out_finishes_once(way: str, text: str) -> None:
    generation = begin(tools=(TOOL,), stop=("STOP",))
    events = generation.feed(Piece(text))
    error = Broken("it died")
    leave = {
        "close": lambda: generation.close(End()),
        "fail": lambda: generation.fail(error),
        "cancel": generation.cancel,
    }
    events += leave[way]()
    assert_finished(events)
    finish = events[-1]
    assert isinstance(finish, Finish)
    if way == "fail":
        assert (finish.reason, finish.error) == ("error", error)
    if way == "cancel":
        assert finish.reason == "cancelled"
    assert generation.close() == generation.fail(error) == generation.cancel() == []


def test_a_failure_does_not_spoil_a_turn_that_had_ended() -> None:
    generation = begin()
    events = generation.feed(Piece("Hi<|im_end|>"))
    assert generation.ended
    assert not generation.cut
    finish = (events + generation.fail(Broken("it died")))[-1]
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.error) == ("stop", None)


# --- usage


def usage(generation: Generation, pieces: list[Piece], end: End | None = None) -> Usage:
    for piece in pieces:
        generation.feed(piece)
    found = generation.close(end)[-2]
    assert isinstance(found, Usage)
    return found


def test_tokens_are_counted_by_their_ids() -> None:
    pieces = [Piece("One two", (1, 2)), Piece(" three", (3,)), Piece("", (4,))]
    assert usage(begin(), pieces) == Usage(None, 4, 0, None, estimated=False)


def test_tokens_are_estimated_by_their_pieces() -> None:
    assert usage(begin(), [Piece("One"), Piece(" two"), Piece("")]) == Usage(None, 2, 0, None, estimated=True)


def test_the_engines_counts_win() -> None:
    generation = begin()
    generation.prompted(7, 2)
    assert usage(generation, [Piece("One")], End("stop", 9, 5, 3)) == Usage(9, 5, 0, 3, estimated=False)


def test_the_prompt_is_known_before_the_end() -> None:
    generation = begin(stop=("two",))
    generation.prompted(7, 2)
    assert usage(generation, [Piece("One ", (1,)), Piece("two", (2,))]) == Usage(7, 2, 0, 2, estimated=False)


def test_reasoning_is_counted() -> None:
    pieces = ["<think>", "I", " think", " so", "</think>", "Yes", "."]
    found = usage(begin(), [Piece(text, (1,)) for text in pieces])
    assert found.completion == 7
    assert found.reasoning in (3, 4)  # the opening mark may count as thinking or not


def test_a_piece_of_both_is_shared() -> None:
    found = usage(begin(), [Piece("<think>aaaa</think>bbbb", tuple(range(10)))])
    assert (found.completion, found.reasoning) == (10, 5)


def test_nothing_is_done_for_stop_strings_that_are_not_there() -> None:
    generation = begin(stop=("",))
    assert [type(event) for event in generation.feed(Piece("Hi"))] == [Content]
    assert generation._stops is None


def test_events_pass_in_order() -> None:
    kinds = [type(event) for event in play(begin(tools=(TOOL,)), "<think>a</think>b ", CALL % 1)]
    order = [kind for kind in kinds if kind in (Reasoning, Content, CallStart, CallArgs, CallEnd, Usage, Finish)]
    assert order == [Reasoning, Content, CallStart, *[CallArgs] * (len(order) - 6), CallEnd, Usage, Finish]
