"""What was read becomes events: blocks and their numbers, white space, waiting, and where it came from."""

from __future__ import annotations

import pytest
from drive import cuttings, shown
from streams import merge

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Notice, Reasoning
from dragoman.syntax.reader import LONGEST
from dragoman.syntax.sink import Sink


def played(script: list[tuple[str, str]], sink: Sink | None = None) -> list[str]:
    """Blocks (`content`, `reasoning`, `mark`: three characters of markup), whose text comes in every kind of pieces."""
    results = [_played(script, at, sink or Sink()) for at in range(-1, max(len(text) for _, text in script) + 1)]
    assert all(result == results[0] for result in results)
    return results[0]


def _played(script: list[tuple[str, str]], cut: int, sink: Sink) -> list[str]:
    at = 0
    for kind, text in script:
        if kind == "mark":
            at += 3
            sink.block()
            continue
        for piece in list(text) if cut < 0 else filter(None, (text[:cut], text[cut:])):
            getattr(sink, kind)(piece, at)
            at += len(piece)
    sink.finish()
    return shown(merge(sink.take()))


MARK = ("mark", "")


# --- white space


def test_a_turn_without_blocks_is_verbatim():
    assert played([("content", "\n a \n b \n")]) == ["content '\\n a \\n b \\n'"]
    assert played([("content", " \n ")]) == ["content ' \\n '"]


def test_white_space_around_blocks_belongs_to_the_markup():
    script = [("content", " \n"), MARK, ("reasoning", "\n a b \n"), MARK, ("content", "\n\n c \n"), MARK]
    assert played(script) == ["reasoning 'a b'", "content 'c'"]


def test_white_space_inside_a_block_stays():
    assert played([MARK, ("reasoning", "a\n\n b")]) == ["reasoning 'a\\n\\n b'"]


def test_trailing_white_space_is_dropped_at_the_end_of_a_turn_with_blocks():
    assert played([MARK, ("reasoning", "a"), MARK, ("content", "b \n")]) == ["reasoning 'a'", "content 'b'"]


def test_leading_white_space_of_content_waits():
    sink = Sink()
    sink.content("\n ", 0)
    assert sink.take() == []
    sink.content("a", 2)
    assert sink.take() == [Content("\n a", 0, 0)]


def test_leading_white_space_before_a_block_is_dropped():
    sink = Sink()
    sink.content("\n ", 0)
    sink.call()
    sink.finish()
    assert sink.take() == []


def test_trailing_white_space_waits_for_what_follows():
    sink = Sink()
    sink.content("a \n", 0)
    assert sink.take() == [Content("a", 0, 0)]
    sink.content(" b", 3)
    assert sink.take() == [Content(" \n b", 1, 0)]


def test_reasoning_never_begins_with_white_space_that_came_before_it():
    sink = Sink()
    sink.reasoning("  ", 0)
    sink.reasoning("a", 2)
    assert sink.take() == [Reasoning("a", 2, 0)]


def test_no_more_than_so_much_white_space_waits():
    sink = Sink()
    sink.content("a" + " " * (LONGEST + 5), 0)
    assert sink.take() == [Content("a     ", 0, 0)]
    sink.content(" ", LONGEST + 6)
    assert (sink.take(), len(sink.held)) == ([Content(" ", 6, 0)], LONGEST)


def test_white_space_that_waited_keeps_its_place_where_a_mark_was_left_out():
    sink = Sink()
    sink.content("a ", 0)
    sink.content("b", 7)  # a stray mark stood at 2
    assert sink.take() == [Content("a", 0, 0), Content(" ", 1, 0), Content("b", 7, 0)]


def test_leading_white_space_before_a_mark_that_was_left_out_is_dropped():
    sink = Sink()
    sink.content(" ", 0)
    sink.content("b", 6)
    assert sink.take() == [Content("b", 6, 0)]


# --- parts and phases


def test_each_block_has_its_number():
    script = [("reasoning", "a"), MARK, ("content", "b"), MARK, ("content", "c")]
    sink = Sink()
    _played(script, 99, sink)
    for kind, text in script[:0]:
        getattr(sink, kind)(text, 0)
    assert sink.part == 2


def test_text_of_another_kind_is_another_part_even_without_a_mark():
    sink = Sink()
    sink.content("a", 0)
    sink.reasoning("b", 1)
    sink.content("c", 2)
    assert sink.take() == [Content("a", 0, 0), Reasoning("b", 1, 1), Content("c", 2, 2)]


def test_a_call_is_a_part_of_its_own():
    sink = Sink()
    sink.content("a", 0)
    assert sink.call() == 1
    sink.block()
    sink.content("b", 9)
    assert sink.take() == [Content("a", 0, 0), Content("b", 9, 2)]


def test_content_carries_its_phase():
    sink = Sink()
    sink.phase = "final"
    sink.content("a", 0)
    sink.content("b", 1)
    assert sink.take() == [Content("a", 0, 0, "final"), Content("b", 1, 0, "final")]


# --- arguments


def test_arguments_that_are_read_together_go_out_as_one():
    sink = Sink()
    sink.index = 3
    sink.args('{"a', 10, 13)
    sink.args('": 1}', 13, 16)
    assert sink.take() == [CallArgs(3, '{"a": 1}', 10)]
    assert sink.take() == []


def test_a_notice_does_not_overtake_arguments():
    sink = Sink()
    sink.args("{", 0, 1)
    sink.notice("repaired", 1, "x")
    assert sink.take() == [CallArgs(0, "{", 0), Notice("repaired", 1, "x")]


# --- lines and code


def test_a_line_start_is_known():
    sink = Sink()
    assert sink.line_start()
    sink.content("a", 0)
    assert not sink.line_start()
    sink.content(" \n ", 1)
    assert sink.line_start()
    sink.content("b", 4)
    sink.block()
    assert sink.line_start()


def test_code_is_known_in_content_only_and_only_where_it_is_watched():
    for watch, expected in ((True, True), (False, False)):
        sink = Sink(watch=watch)
        sink.content("a `", 0)
        sink.content("b", 3)
        assert sink.in_code() is expected
        sink.block()
        assert not sink.in_code()
    sink = Sink(watch=True)
    sink.reasoning("a `b", 0)
    assert not sink.in_code()


# --- waiting


def waiting(*, trace: bool = False) -> Sink:
    """A sink with one event that is out and a call that waits."""
    sink = Sink(trace)
    sink.content("a ", 0)
    sink.wait()
    sink.out.append(CallStart(0, "", "f", sink.call()))
    sink.args("{}", 5, 7)
    return sink


def test_what_waits_is_not_out_yet():
    sink = waiting()
    assert sink.take() == [Content("a", 0, 0)]
    assert sink.take() == []
    assert sink.calling()


def test_what_was_right_goes_out_behind_what_came_before():
    sink = waiting()
    sink.release()
    assert shown(sink.take()) == ["content 'a'", "call f", "args {}"]


def test_what_was_revoked_never_was():
    sink = waiting(trace=True)
    sink.revoke()
    sink.content("<f>", 2)
    assert shown(merge(sink.take())) == ["content 'a <f>'"]
    assert sink.take_spans() == [(0, 1, "content"), (1, 5, "content")]


def test_revoked_text_is_part_of_its_block_again():
    sink = waiting()
    sink.revoke()
    sink.content("b", 2)
    assert {event.part for event in sink.take()} == {0}


def test_without_anything_that_waits_both_do_nothing():
    sink = Sink()
    sink.content("a", 0)
    sink.args("{", 1, 2)
    sink.release()
    assert shown(sink.take()) == ["content 'a'", "args {"]
    sink.revoke()
    assert sink.take() == []


def test_no_call_waits_where_none_began():
    sink = Sink()
    sink.wait()
    sink.notice("unknown-tool", 0)
    assert not sink.calling()


# --- the trace


def test_each_stretch_of_text_tells_where_it_came_from():
    sink = Sink(trace=True)
    sink.reasoning("think", 7)
    sink.reasoning("ing", 12)
    sink.block()
    sink.content("a", 20)
    sink.content("b", 21)
    sink.args("{}", 30, 32)
    sink.args("}", 40, 40)  # made, not read
    assert sink.take_spans() == [
        (7, 12, "reasoning"),
        (12, 15, "reasoning"),
        (20, 21, "content"),
        (21, 22, "content"),
        (30, 32, "arguments"),
    ]
    assert sink.take_spans() == []


def test_stretches_wait_with_their_events():
    sink = waiting(trace=True)
    assert sink.take_spans() == [(0, 1, "content")]
    sink.release()
    assert sink.take_spans() == [(5, 7, "arguments")]


def test_without_a_trace_nothing_is_noted():
    sink = waiting()
    sink.release()
    assert sink.take_spans() == []


# --- the prompt


def test_a_muted_prompt_is_forgotten():
    sink = Sink(trace=True)
    sink.content("answer \n", 0)
    sink.mute()
    assert (sink.take(), sink.take_spans(), sink.held) == ([], [], "")


def test_a_call_that_the_prompt_left_open_is_kept():
    sink = Sink()
    sink.content("a", 0)
    sink.out += [CallStart(0, "", "f", 1), CallEnd(0, complete=True, valid=True), CallStart(1, "", "g", 2)]
    sink.index = 1
    sink.args('{"x', 9, 12)
    sink.mute()
    assert shown(sink.take()) == ["call g", 'args {"x']


@pytest.mark.parametrize("text", ["a", " a ", "\n\na b\n"])
def test_the_offset_of_every_event_is_where_its_text_stands(text: str):
    for pieces in cuttings(text):
        sink, at = Sink(), 0
        for piece in pieces:
            sink.content(piece, at)
            at += len(piece)
        sink.finish()
        for event in sink.take():
            assert isinstance(event, Content)
            assert text.startswith(event.text, event.at)
