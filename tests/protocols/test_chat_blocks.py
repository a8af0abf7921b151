"""What upstreams get wrong with calls, one test for each wrong shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning
from dragoman.messages import Call
from dragoman.protocols.chat_blocks import Blocks
from dragoman.syntax.fold import fold


def delta(index=None, call_id=None, name=None, arguments=None, **more):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    item = {"index": index, "id": call_id, "function": function, **more}
    return {key: value for key, value in item.items() if value is not None}


def read(*deltas, cut=False):
    blocks = Blocks()
    events = [event for item in deltas for event in blocks.call(item)]
    return [*events, *blocks.end(cut=cut)]


def calls(*deltas, cut=False):
    found = fold([*read(*deltas, cut=cut), Finish("stop")]).calls
    return [(call.id, call.name, call.arguments) for call in found]


def test_a_good_stream_goes_out_as_it_comes():
    blocks = Blocks()
    assert blocks.call(delta(0, "a", "f", "")) == [CallStart(0, "a", "f", 0)]
    assert blocks.call(delta(0, arguments='{"x"')) == [CallArgs(0, '{"x"')]
    assert blocks.call(delta(0, arguments=":1}")) == [CallArgs(0, ":1}")]
    assert blocks.call(delta(1, "b", "g", "")) == [CallEnd(0, complete=True, valid=True), CallStart(1, "b", "g", 1)]
    assert blocks.end(cut=False) == [CallArgs(1, "{}"), CallEnd(1, complete=True, valid=True)]


TWO = [("a", "f", '{"q":1}'), ("b", "f", '{"q":2}')]


@pytest.mark.parametrize("first", [0, 1, 5])
def test_c08_indexes_may_begin_anywhere(first):
    assert calls(delta(first, "a", "f", '{"q":1}'), delta(first + 1, "b", "f", '{"q":2}')) == TWO


def test_c08_the_same_index_with_a_new_id_is_another_call():
    assert calls(delta(0, "a", "f", '{"q":1}'), delta(0, "b", "f", '{"q":2}')) == TWO
    pieces = [
        delta(0, "a", "f", ""),
        delta(0, arguments='{"q":1}'),
        delta(0, "b", "f", ""),
        delta(0, arguments='{"q":2}'),
    ]
    assert calls(*pieces) == TWO


def test_c08_the_same_index_with_a_new_id_before_any_arguments():
    assert calls(delta(0, "a", "f", ""), delta(0, "b", "f", "{}")) == [("a", "f", "{}"), ("b", "f", "{}")]


def test_c08_the_same_id_on_two_indexes_is_two_calls():
    assert calls(delta(0, "a", "f", ""), delta(1, "a", "g", "{}")) == [("a", "f", "{}"), ("a", "g", "{}")]


def test_c08_the_same_index_without_ids_is_another_call_after_a_whole_one():
    assert calls(delta(0, name="f", arguments='{"q":1}'), delta(0, name="f", arguments='{"q":2}')) == [
        ("", "f", '{"q":1}'),
        ("", "f", '{"q":2}'),
    ]


@pytest.mark.parametrize("index", [None, "0"])
def test_c08_no_index_at_all(index):
    pieces = [delta(index, "a", "f", ""), delta(index, arguments='{"q"'), delta(index, arguments=":1}")]
    assert calls(*pieces, delta(index, "b", "f", '{"q":2}')) == TWO


def test_c08_no_index_and_ids_on_every_delta():
    pieces = [delta(None, "a", "f", '{"q"'), delta(None, "b", "f", '{"q"'), delta(None, "a", None, ":1}")]
    assert calls(*pieces, delta(None, "b", None, ":2}")) == TWO


def test_c07_ids_and_names_on_every_delta():
    pieces = [delta(0, "a", "f", piece) for piece in ("", '{"q', '":', "1}", "")]
    assert calls(*pieces, *(delta(1, "b", "f", piece) for piece in ('{"q"', ":2}"))) == TWO


def test_c07_names_on_every_delta_without_ids():
    assert calls(*(delta(0, name="f", arguments=piece) for piece in ('{"q', '":', "1}"))) == [("", "f", '{"q":1}')]


def test_c07_empty_ids_and_names_are_none():
    assert calls(delta(0, "a", "f", '{"q"'), delta(0, "", "", ":1}")) == TWO[:1]


def test_c07_another_id_on_every_delta():
    assert calls(delta(0, "a", "f", '{"q"'), delta(0, "z", None, ":1}")) == TWO[:1]


def test_c07_a_name_that_comes_last():
    assert calls(delta(0, "a", None, '{"q"'), delta(0, None, None, ":1}"), delta(0, None, "f")) == TWO[:1]


def test_c07_a_call_that_never_gets_a_name_is_told():
    assert read(delta(0, "a", None, '{"q":1}')) == [Notice("cut", raw='{"q":1}')]


def test_c07_no_id_and_no_type():
    assert calls(delta(0, name="f", arguments="{}")) == [("", "f", "{}")]


@pytest.mark.parametrize("arguments", [{"q": 1}, '{"q":1}'])
def test_c09_arguments_as_an_object(arguments):
    assert calls(delta(0, "a", "f", arguments)) == TWO[:1]


@pytest.mark.parametrize(
    "item", [{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}, delta(0, "a", "f")]
)
def test_c09_no_arguments_are_an_empty_object(item):
    assert calls(item) == [("a", "f", "{}")]


@pytest.mark.parametrize("item", [{}, {"function": None}, {"function": "x", "id": 3, "index": True}])
def test_nonsense_is_no_call(item):
    assert fold(read(item)).calls == ()


def test_interleaved_calls_are_put_one_after_the_other():
    pieces = [delta(0, "a", "f", ""), delta(1, "b", "f", ""), delta(0, arguments='{"q"'), delta(1, arguments='{"q":2}')]
    assert read(*pieces, delta(0, arguments=":1}")) == [
        CallStart(0, "a", "f", 0),
        CallArgs(0, '{"q"'),
        CallArgs(0, ":1}"),
        CallEnd(0, complete=True, valid=True),
        CallStart(1, "b", "f", 1),
        CallArgs(1, '{"q":2}'),
        CallEnd(1, complete=True, valid=True),
    ]


def test_text_waits_for_the_end_of_a_call():
    blocks = Blocks()
    blocks.call(delta(0, "a", "f", '{"q"'))
    assert blocks.text("content", "x") == []
    assert blocks.call(delta(0, arguments=":1}")) == [
        CallArgs(0, ":1}"),
        CallEnd(0, complete=True, valid=True),
        Content("x", part=1),
    ]


def test_parts_are_counted_at_every_change_of_kind():
    blocks = Blocks()
    events = [event for kind, text in [
        ("reasoning", "r"), ("reasoning", "s"), ("content", "a"), ("content", "\nb"), ("reasoning", "\nt"), ("content", "c"),
        ("content", ""), ("refusal", "no"),
    ] for event in blocks.text(kind, text)]  # fmt: skip
    assert events == [
        Reasoning("r", part=0),
        Reasoning("s", part=0),
        Content("a", part=1),
        Content("\nb", part=1),
        Reasoning("t", part=2),
        Content("c", part=3),
        Content("no", part=4, phase="refusal"),
    ]


def test_more_arguments_after_the_end_are_told():
    pieces = [delta(0, "a", "f", "{}"), delta(1, "b", "g", "{}"), delta(0, arguments=" "), delta(0, arguments="x")]
    assert [event for event in read(*pieces) if isinstance(event, Notice)] == [Notice("after-end", raw="x")]


def test_a_cut_call_is_not_whole():
    assert read(delta(0, "a", "f", '{"q": ["x'), cut=True)[-1] == CallEnd(0, complete=False, valid=False, missing='"]}')
    assert read(delta(0, "a", "f"), cut=True)[-1] == CallEnd(0, complete=False, valid=False, missing="{}")
    assert read(delta(0, "a", "f", "cd /t"), cut=True)[-1] == CallEnd(0, complete=False, valid=False)
    assert read(delta(0, "a", "f", "{}"), cut=True)[-1] == CallEnd(0, complete=True, valid=True)


def test_bad_arguments_of_an_answer_that_ended_by_itself():
    assert read(delta(0, "a", "f", "cd /tmp"))[-1] == CallEnd(0, complete=True, valid=False)
    assert read(delta(0, "a", "f", '{"q": '))[-1] == CallEnd(0, complete=False, valid=False, missing="}")


def test_c31_a_custom_call():
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    assert fold(read(custom)).calls == (Call("sh", '{"input":"ls"}', "a"),)


ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "index": st.none() | st.integers(-1, 3) | st.just("0"),
        "id": st.none() | st.sampled_from(["", "a", "b"]),
        "type": st.just("function"),
        "function": st.none()
        | st.fixed_dictionaries(
            {},
            optional={
                "name": st.none() | st.sampled_from(["", "f", "g"]),
                "arguments": st.none() | st.sampled_from(["", "{", "}", "{}", '"', "x"]) | st.just({"a": 1}),
            },
        ),
    },
)
TEXTS = st.tuples(st.sampled_from(["content", "reasoning"]), st.sampled_from(["", "a", "\n"]))


@examples()
@given(st.lists(ITEMS | TEXTS), st.booleans())
def test_whatever_comes_the_events_are_in_order(items, cut):
    blocks = Blocks()
    events = [e for item in items for e in (blocks.text(*item) if isinstance(item, tuple) else blocks.call(item))]
    events += blocks.end(cut=cut)
    running, index = None, -1
    for event in events:
        if isinstance(event, CallStart):
            index += 1
            assert (running, event.index) == (None, index)
            assert event.name
            running = index
        elif isinstance(event, CallArgs):
            assert event.index == running
        elif isinstance(event, CallEnd):
            assert event.index == running
            running = None
        else:
            assert running is None or isinstance(event, Notice)
    assert running is None
