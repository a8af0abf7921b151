"""The events of a turn as one value."""

from __future__ import annotations

import pickle

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Text, Turn
from dragoman.messages import Reasoning as Thought
from dragoman.syntax.fold import fold


def test_no_events_are_an_empty_turn():
    assert fold([]) == Turn()


def test_pieces_of_one_part_are_joined():
    events = [Reasoning("a", part=0), Reasoning("b", part=0), Content("c", part=1), Content("d", part=1)]
    assert fold(events).parts == (Thought("ab"), Text("cd"))


def test_parts_of_one_kind_stay_apart():
    events = [Content("a", part=0), Content("b", part=1), Reasoning("c", part=2), Reasoning("d", part=3)]
    assert fold(events).parts == (Text("a"), Text("b"), Thought("c"), Thought("d"))


def test_another_kind_begins_a_part_even_under_the_same_number():
    assert fold([Content("a"), Reasoning("b"), Content("c")]).parts == (Text("a"), Thought("b"), Text("c"))


def test_a_phase_is_that_of_its_part():
    assert fold([Content("a", phase="final"), Content("b", phase="final")]).parts == (Text("ab", "final"),)


def test_a_call_is_what_its_events_tell():
    start, end = CallStart(0, "id1", "f"), CallEnd(0, complete=False, valid=False, missing="}")
    assert fold([start, CallArgs(0, '{"a"'), CallArgs(0, ": 1"), end]).parts == (
        Call("f", '{"a": 1', "id1", complete=False, valid=False, missing="}"),
    )


def test_a_call_without_arguments_has_none():
    assert fold([CallStart(0, "", "f"), CallEnd(0, complete=True, valid=True)]).calls[0].arguments == ""


def test_a_call_that_never_ended_is_not_complete():
    (call,) = fold([CallStart(0, "", "f"), CallArgs(0, "{}")]).calls
    assert (call.arguments, call.complete, call.valid) == ("{}", False, False)


def test_calls_in_a_row_are_parts_of_their_own():
    events = []
    for index in range(2):
        events += [
            CallStart(index, "", f"f{index}"),
            CallArgs(index, str(index)),
            CallEnd(index, complete=True, valid=True),
        ]
    assert [(call.name, call.arguments) for call in fold(events).calls] == [("f0", "0"), ("f1", "1")]


def test_a_notice_does_not_part_a_text():
    turn = fold([Content("a"), Notice("x", 1, "raw"), Content("b")])
    assert (turn.parts, turn.notices) == ((Text("ab"),), (Notice("x", 1, "raw"),))


def test_an_end_without_a_call_changes_nothing():
    assert fold([Content("a"), CallEnd(0, complete=True, valid=True)]).parts == (Text("a"),)


def test_how_it_ended_is_told():
    error = ValueError("x")
    turn = fold([Usage(1, 2), Finish("error", "END", error)])
    assert (turn.usage, turn.finish, turn.stop, turn.error) == (Usage(1, 2), "error", "END", error)


def test_a_turn_pickles():
    turn = fold(
        [Reasoning("a"), CallStart(0, "", "f", 1), CallEnd(0, complete=True, valid=True), Notice("x"), Finish("stop")]
    )
    assert pickle.loads(pickle.dumps(turn)) == turn
