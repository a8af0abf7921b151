"""A turn's views of its parts."""

from __future__ import annotations

from dragoman.messages import Call, Message, Reasoning, Text, Turn


def test_parts_of_one_kind_are_joined_with_a_newline():
    call = Call("f")
    turn = Turn((Reasoning("a"), Text("b"), call, Reasoning("c"), Text("d")))
    assert (turn.reasoning, turn.content, turn.calls) == ("a\nc", "b\nd", (call,))


def test_an_empty_turn_says_nothing():
    turn = Turn()
    assert (turn.reasoning, turn.content, turn.calls, turn.finish) == ("", "", (), "stop")


def test_a_cut_call_is_a_call_too():
    assert Turn((Call("f", '{"a', complete=False, valid=False, missing='"}'),)).calls[0].missing == '"}'


def test_a_turn_can_be_put_back_into_a_conversation():
    turn = Turn((Reasoning("a"), Text("b")))
    assert Message("assistant", turn.parts).parts == turn.parts
