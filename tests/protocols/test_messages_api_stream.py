from __future__ import annotations

import gc
import itertools
import json
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messagelines import events, lines, message
from strategies import examples, turns

from dragoman.checks import check_messages_answer, check_messages_stream, compare_messages
from dragoman.errors import Broken, RequestError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Message, Request
from dragoman.protocols import wire
from dragoman.protocols.messages_api import Settings, Writer, answer, recall, verify
from dragoman.syntax.fold import fold

KEY = b"a key of this server"
WHOLE = CallEnd(0, complete=True, valid=True)
BAD = CallEnd(0, complete=True, valid=False)
CUT = CallEnd(0, complete=False, valid=False, missing='"}')
EAGER = Settings(key=KEY, eager=frozenset({"f"}))
FEW = Request(model="m", limit=4)


def names(prefix="toolu_"):
    counter = itertools.count()
    return lambda: f"{prefix}{next(counter)}"


def writer(request=None, settings=None):
    how = settings or Settings(key=KEY)
    return Writer(request or Request(model="m"), how, answer_id="msg_1", created=7, ids=names())


def written(*said, settings=None, request=None, extra=None):
    stream = writer(request, settings)
    return stream.write(said) + stream.close(extra)


def said(*given, **options):
    """The lines between the start and the end."""
    first, *between, end, done = lines(written(*given, **options))
    assert (first.split()[0], end.split()[0], done) == ("start", "end", "done")
    return between


def end(*given, **options):
    return lines(written(*given, **options))[-2]


def call(name="f", *pieces, ends=WHOLE):
    return [CallStart(0, "", name), *(CallArgs(0, piece) for piece in pieces), ends]


def test_a_whole_turn_in_order():
    body = written(
        Usage(3),
        Reasoning("Let me "),
        Reasoning("look."),
        Content("I see", part=1),
        CallStart(0, "call_a", "ping", 2),
        CallArgs(0, '{"n"'),
        CallArgs(0, ": 1}"),
        WHOLE,
        Usage(3, 4),
        Finish("tool_calls"),
    )
    assert lines(body) == [
        "start 3",
        "0 thinking",
        "0 + 'Let me '",
        "0 + 'look.'",
        "0 sign",
        "0 stop",
        "1 text",
        "1 + 'I see'",
        "1 stop",
        "2 call call_a ping",
        "2 args '{\"n\": 1}'",
        "2 stop",
        "end tool_use 4",
        "done",
    ]


def test_m01_every_event_has_its_line():
    body = written(Content("a"), Usage(1, 1), Finish("stop"))
    assert body.count(b"event: ") == body.count(b"\ndata: ") == len(events(body))


def test_m02_the_start_has_all_its_fields():
    start = events(written(Usage(12), Content("a"), Usage(12, 1), Finish("stop")))[0]
    assert start["message"] == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def test_m02_the_prompts_size_alone_starts_nothing():
    stream = writer()
    assert stream.write([Usage(12)]) == b""
    assert lines(stream.write([Content("a")]))[0] == "start 12"
    assert stream.open() == b""


def test_m02_without_a_size_it_is_zero_and_told_at_the_end():
    body = written(Usage(None), Content("a"), Usage(9, 1, cached=4), Finish("stop"))
    assert lines(body)[0] == "start 0"
    usage = events(body)[-2]["usage"]
    assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (5, 4)
    assert message(body).usage.input_tokens == 5


def test_m02_a_size_that_only_the_start_knows_is_kept():
    assert events(written(Usage(9), Content("a"), Usage(None, 1), Finish("stop")))[-2]["usage"]["input_tokens"] == 9


def test_m03_every_part_is_a_block_of_its_own():
    assert said(
        Content("a"),
        Content("b", part=1),
        Reasoning("r", part=1),
        Content("c", part=1),
        Content("d", part=1),
        Finish("stop"),
    ) == [
        "0 text",
        "0 + 'a'",
        "0 stop",
        "1 text",
        "1 + 'b'",
        "1 stop",
        "2 thinking",
        "2 + 'r'",
        "2 sign",
        "2 stop",
        "3 text",
        "3 + 'c'",
        "3 + 'd'",
        "3 stop",
    ]


def test_m04_blocks_begin_empty():
    body = written(Reasoning("r"), Content("a", part=1), *call("f", "{}"), Finish("stop"))
    starts = [event["content_block"] for event in events(body) if event["type"] == "content_block_start"]
    assert starts == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "toolu_0", "name": "f", "input": {}},
    ]


@pytest.mark.parametrize(
    ("own", "shown"),
    [("call_x", "call_x"), ("functions.f:0", "dg_functions_2ef_3a0"), ("", "toolu_0"), ("old", "toolu_0")],
)
def test_m04_the_models_own_id_counts_if_it_fits_and_is_new(own, shown):
    request = Request(messages=(Message("assistant", (Call("f", id="old"),)),))
    assert said(CallStart(0, own, "f"), WHOLE, Finish("stop"), request=request)[0] == f"0 call {shown} f"


def test_m05_empty_pieces_make_no_frame_and_no_block():
    assert said(Content(""), Reasoning(""), Notice("x"), Content("a"), Content(""), Finish("stop")) == [
        "0 text",
        "0 + 'a'",
        "0 stop",
    ]


def test_m05_a_call_without_arguments_has_an_empty_object():
    for settings in (None, EAGER):
        assert said(*call("f", ""), Finish("stop"), settings=settings)[1] == "0 args '{}'"


def test_m06_every_thought_ends_with_our_signature():
    body = written(Reasoning("a"), Reasoning("b"), Content("c", part=1), Reasoning("d\ud83d", part=2), Finish("stop"))
    found = [event["delta"]["signature"] for event in events(body) if "signature" in event.get("delta", ())]
    assert len(found) == 2
    assert verify("ab", found[0], KEY)
    assert verify("d\ufffd", found[1], KEY)
    assert not verify("ab", found[1], KEY)
    assert not verify("ab", found[0], b"another key")


def test_m07_a_call_is_held_until_it_is_whole():
    stream = writer()
    start, *args, ends = call("f", '{"a"', ": 1}")
    assert stream.write([start, *args]) == b""
    assert lines(stream.write([ends]))[1:] == ["0 call toolu_0 f", "0 args '{\"a\": 1}'", "0 stop"]


@pytest.mark.parametrize("text", ["cd /tmp", "{'a': 1}", "[1]", '{"a" 1}', "null", '{"a": NaN}', '{"a": 1e999}'])
def test_m07_what_is_no_object_goes_out_under_one_key(text):
    body = written(*call("f", text, ends=BAD), Finish("stop"))
    assert message(body).content[0].input == {"_raw": text}
    assert end(*call("f", text, ends=BAD), Finish("stop")) == "end tool_use 0"


def test_m07_nesting_that_no_reader_takes_is_not_sent_as_json():
    deep = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert message(written(*call("f", deep), Finish("stop"))).content[0].input == {"_raw": deep}


def test_m07_halves_of_characters_in_escapes_are_replaced():
    body = written(*call("f", r'{"a": "\ud83d", "b": "\ud83d\ude00"}'), Finish("stop"))
    assert message(body).content[0].input == {"a": "\ufffd", "b": "😀"}


def test_m07_a_tool_may_ask_for_its_pieces_as_they_come():
    start, *args, ends = call("f", '{"a"', ": 1}")
    stream = writer(settings=EAGER)
    assert lines(stream.write([start, args[0]]))[1:] == ["0 call toolu_0 f", "0 args '{\"a\"'"]
    assert lines(stream.write([args[1], ends])) == ["0 args ': 1}'", "0 stop"]
    assert writer(settings=EAGER).write(call("g", "{}")[:2]) == b""


def test_m07_a_cut_call_never_appears_but_where_its_pieces_were_asked_for():
    assert said(*call("f", '{"a', ends=CUT), Finish("length")) == []
    assert said(*call("f", '{"a', ends=CUT), Finish("length"), settings=EAGER) == [
        "0 call toolu_0 f",
        "0 args '{\"a'",
        "0 stop",
    ]


def test_m08_the_last_block_stops_before_the_end():
    assert said(Content("a"), Finish("stop"))[-1] == "0 stop"
    assert said(Reasoning("a"), Finish("length"))[-2:] == ["0 sign", "0 stop"]


def test_m09_the_end_has_the_whole_usage():
    assert events(written(Content("a"), Usage(9, 4, 3, 2), Finish("stop")))[-2]["usage"] == {
        "input_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 2,
        "output_tokens": 4,
        "output_tokens_details": {"thinking_tokens": 3},
    }


@pytest.mark.parametrize(
    ("finish", "calls", "shown"),
    [
        (Finish("stop"), 0, "end end_turn 4"),
        (Finish("tool_calls"), 0, "end end_turn 4"),
        (Finish("stop"), 1, "end tool_use 4"),
        (Finish("stop", "END"), 0, "end stop_sequence 'END' 4"),
        (Finish("stop", "END"), 1, "end tool_use 4"),
        (Finish("length"), 0, "end max_tokens 4"),
        (Finish("length"), 1, "end max_tokens 4"),
        (Finish("filter"), 0, "end refusal 4"),
    ],
)
def test_m10_the_limit_wins_then_a_whole_call_then_a_stop_string(finish, calls, shown):
    assert end(*call() * calls, Usage(3, 4), finish, request=FEW) == shown


def test_m10_a_cut_call_alone_is_no_call():
    for settings in (None, EAGER):
        assert end(*call("f", '{"a', ends=CUT), Finish("stop"), settings=settings) == "end end_turn 0"


@pytest.mark.parametrize(
    ("limit", "usage", "word"),
    [
        (None, Usage(3, 4), "model_context_window_exceeded"),
        (5, Usage(3, 4), "model_context_window_exceeded"),
        (4, Usage(3, 4), "max_tokens"),
        (5, Usage(3, None), "max_tokens"),
        (5, Usage(3, 4, estimated=True), "max_tokens"),
    ],
)
def test_m10_an_end_that_the_limit_does_not_explain_is_the_contexts(limit, usage, word):
    assert end(usage, Finish("length"), request=Request(limit=limit)).split()[1] == word


def test_m11_nothing_follows_the_end():
    stream = writer()
    stream.write([Content("a"), Finish("stop")])
    assert stream.write([Content("b")]) == b""
    assert lines(stream.close())[-1] == "done"
    assert stream.write([Content("b")]) == stream.close() == stream.ping() == stream.error(ValueError()) == b""
    assert stream.ended
    assert b"[DONE]" not in written(Finish("stop"))


def test_m11_a_stream_that_was_never_finished_has_no_good_end():
    stream = writer()
    stream.write([Content("a")])
    assert lines(stream.close()) == ["error api_error the answer ended before it was finished"]


def test_m12_a_ping_starts_the_message_once_its_size_is_known():
    stream = writer()
    assert stream.ping("3/9") == b": 3/9\n\n"
    stream.write([Usage(9)])
    assert lines(stream.ping()) == ["start 9", "ping"]
    assert lines(stream.ping()) == ["ping"]


def test_m13_an_error_ends_the_stream_at_once():
    stream = writer()
    body = stream.write([Content("a"), Finish("error", error=Broken("it died", hint="restart it"))])
    assert lines(body)[3:] == ["error api_error it died (restart it)"]
    assert events(body)[-1]["request_id"] == "msg_1"
    assert stream.ended
    assert stream.close() == b""


def test_m13_an_error_after_the_finish_still_shows_no_good_end():
    stream = writer()
    stream.write([Content("a"), Finish("stop")])
    assert lines(stream.error(Broken("x"))) == ["error api_error x"]
    assert stream.close() == b""


@pytest.mark.parametrize(
    ("finish", "shown"),
    [
        (Finish("cancelled"), "error api_error the request was cancelled"),
        (Finish("error"), "error api_error the answer failed"),
        (Finish("error", error=RequestError("bad")), "error invalid_request_error bad"),
        (
            Finish("error", error=KeyError("secret")),
            "error api_error an internal error; the server's log has the details",
        ),
    ],
)
def test_m13_every_bad_finish_is_an_error(finish, shown):
    stream = writer()
    assert lines(stream.write([finish])) == [shown]


def test_m23_thoughts_that_were_not_asked_for_part_what_stands_around_them():
    events_ = Content("a"), Reasoning("r"), Content("b"), Finish("stop")
    shown = said(*events_, settings=Settings(key=KEY, thinking="none"))
    assert shown == ["0 text", "0 + 'a'", "0 stop", "1 text", "1 + 'b'", "1 stop"]


def test_m23_omitted_thoughts_are_in_their_signature():
    stream = writer(settings=Settings(key=KEY, thinking="omitted"))
    body = stream.write([Reasoning("event: a"), Reasoning(" b"), Content("c", part=1), Finish("stop")]) + stream.close()
    assert lines(body)[1:4] == ["0 thinking", "0 sign", "0 stop"]
    block = message(body).content[0]
    assert block.thinking == ""
    assert recall(block.signature, KEY) == "event: a b"


def test_s02_half_characters_at_the_edges_of_pieces_are_never_joined():
    for make in (Content, Reasoning):
        text = written(make("a\ud83d"), make("\ude00b"), Finish("stop")).decode()
        assert text.count("\ufffd") == 2
    shown = said(
        CallStart(0, "", "g\ud83d"), CallArgs(0, '{"a": "\ud83d'), CallArgs(0, '\ude00"}'), WHOLE, Finish("stop")
    )
    assert shown[0] == "0 call toolu_0 g\ufffd"
    assert shown[1].count("\ufffd") == 2


def test_the_end_carries_further_facts_that_hide_nothing():
    body = written(Content("a"), Finish("stop"), extra={"timings": {"a": 1}, "usage": "forged"})
    last = events(body)[-2]
    assert last["timings"] == {"a": 1}
    assert last["usage"]["output_tokens"] == 0


def test_the_model_may_have_another_name():
    stream = Writer(Request(model="m"), Settings(), answer_id="x", created=1, ids=names(), model="other")
    assert events(stream.open())[0]["message"]["model"] == "other"


# --- what must hold for every turn

SETTINGS = st.builds(
    Settings,
    key=st.just(KEY),
    thinking=st.sampled_from(["full", "full", "omitted", "none"]),
    eager=st.sampled_from([frozenset(), frozenset({"get_weather", "größe"})]),
)


@examples(5)
@given(turns(), SETTINGS)
def test_every_legal_turn_keeps_all_rules_and_equals_its_answer(events_, how):
    body = written(Usage(3), *events_, settings=how)
    whole = answer([fold(events_)], Request(model="m"), how, answer_id="msg_1", created=7, ids=names())
    assert check_messages_stream(body) == []
    assert check_messages_answer(whole) == []
    whole["usage"] = events(body)[-2]["usage"]  # the stream's start may know more
    assert compare_messages(body, json.loads(wire.dump(whole))) == []


@examples(20)
@given(turns(broken=True), st.sampled_from(["full", "omitted", "none"]))
def test_the_official_client_sees_what_the_answer_says(events_, thinking):
    how = Settings(key=KEY, thinking=thinking)
    body = written(*events_, settings=how)
    lines(body)
    whole = answer([fold(events_)], Request(model="m"), how, answer_id="msg_1", created=7, ids=names())
    streamed = message(body).to_dict()
    streamed.pop("stop_details", None)  # made up by the client
    for block in streamed["content"]:
        block.pop("parsed_output", None)
    assert streamed == json.loads(wire.dump(whole))


@examples(8)
@given(turns(broken=True), SETTINGS, st.randoms())
def test_s05_the_bytes_do_not_depend_on_what_is_written_together(events_, how, random):
    stream, body, rest = writer(settings=how), b"", [Usage(3), *events_]
    while rest:
        size = random.randrange(1, 4)
        body += stream.write(rest[:size])
        rest = rest[size:]
    assert body + stream.close() == written(Usage(3), *events_, settings=how)


# --- cost


def test_a_token_costs_one_quoting_and_no_dict(monkeypatch):
    stream = writer(settings=EAGER)
    stream.write([Content("a")])
    monkeypatch.setattr(wire, "dump", None)
    assert lines(stream.write([Content("x")] * 3)) == ["0 + 'x'"] * 3
    monkeypatch.undo()
    stream.write([CallStart(0, "", "f", 2)])
    monkeypatch.setattr(wire, "dump", None)
    assert lines(stream.write([CallArgs(0, "x")] * 3)) == ["1 args 'x'"] * 3


def test_a_stream_is_freed_as_soon_as_it_is_dropped():
    gc.disable()
    try:
        stream = writer()
        stream.write([Content("a"), *call(), Finish("stop")])
        inner = weakref.ref(stream._message)
        del stream
        assert inner() is None
    finally:
        gc.enable()
