from __future__ import annotations

import gc
import itertools
import json
import weakref
from dataclasses import dataclass

import pytest
from chatlines import chunks, completion, lines
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from strategies import examples, turns

from dragoman.checks import check_chat_answer, check_chat_stream, compare
from dragoman.errors import Broken, RequestError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Message, Request, Turn
from dragoman.protocols import wire
from dragoman.protocols.chat import Reader, Settings, Writer, answer
from dragoman.syntax.fold import fold

WHOLE = CallEnd(0, complete=True, valid=True)
CUT = CallEnd(0, complete=False, valid=False, missing='"}')


def names(prefix="made_"):
    counter = itertools.count()
    return lambda: f"{prefix}{next(counter)}"


def writer(request=None, settings=None):
    return Writer(request or Request(model="m"), settings or Settings(), answer_id="chatcmpl-1", created=7, ids=names())


def written(*events, settings=None, request=None, extra=None):
    stream = writer(request, settings)
    return stream.write(events) + stream.close(extra)


def said(*events, **options):
    return lines(written(*events, **options))


def test_a_whole_turn_in_order():
    events = [
        Reasoning("Let me "),
        Reasoning("look."),
        Content("I see", part=1),
        CallStart(0, "call_a", "ping", 2),
        CallArgs(0, '{"n"'),
        CallArgs(0, ": 1}"),
        WHOLE,
        Usage(3, 4),
        Finish("tool_calls"),
    ]
    assert said(*events) == [
        "role",
        "reasoning 'Let me '",
        "reasoning 'look.'",
        "content 'I see'",
        "call 0 call_a ping",
        "args 0 '{\"n\"'",
        "args 0 ': 1}'",
        "finish tool_calls",
        "done",
    ]


def test_c01_every_chunk_has_the_same_names():
    body = written(Content("a"), Usage(1, 1), Finish("stop"), settings=Settings(include_usage=True))
    for chunk in chunks(body):
        assert {key: chunk[key] for key in ("id", "object", "created", "model")} == {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 7,
            "model": "m",
        }


def test_c01_the_model_may_have_another_name():
    stream = Writer(Request(model="m"), Settings(), answer_id="x", created=1, ids=names(), model="other")
    assert chunks(stream.open())[0]["model"] == "other"


def test_c02_the_role_comes_once_however_it_is_opened():
    stream = writer()
    first = stream.open()
    assert lines(first) == ["role"]
    assert stream.open() == b""
    assert lines(stream.write([Content("a")])) == ["content 'a'"]
    assert lines(writer().write([])) == ["role"]


def test_c03_every_choice_has_its_fields():
    for chunk in chunks(written(Content("a"), Finish("stop"))):
        (choice,) = chunk["choices"]
        assert choice.keys() == {"index", "delta", "logprobs", "finish_reason"}
        assert "usage" not in chunk


def test_c04_nothing_follows_the_finish():
    stream = writer()
    stream.write([Content("a"), Finish("stop")])
    assert stream.write([Content("b")]) == b""
    assert lines(stream.close())[-2:] == ["finish stop", "done"]
    assert stream.write([Content("b")]) == stream.close() == stream.ping() == stream.error(ValueError()) == b""
    assert stream.ended


def test_c05_empty_pieces_make_no_frame():
    assert said(Content(""), Reasoning(""), Content("a"), Content(""), Notice("x"), Finish("stop"))[1:-2] == [
        "content 'a'"
    ]


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("reasoning_content", ["reasoning 'a'", "reasoning 'b'", "content 'c'"]),
        ("reasoning", ["reasoning 'a'", "reasoning 'b'", "content 'c'"]),
        ("both", ["reasoning 'a', reasoning 'a'", "reasoning 'b', reasoning 'b'", "content 'c'"]),
        ("none", ["content 'c'"]),
        ("inline", ["content '<think>\\na'", "content 'b'", "content '\\n</think>\\n\\nc'"]),
    ],
)
def test_c06_reasoning_goes_by_the_name_that_is_set(field, shown):
    events = Reasoning("a"), Reasoning("b"), Content("c", part=1), Finish("stop")
    body = written(*events, settings=Settings(reasoning_field=field))
    assert lines(body)[1:-2] == shown
    keys = {key for chunk in chunks(body) for key in chunk["choices"][0]["delta"]} - {"role", "content"}
    assert keys == {"both": {"reasoning", "reasoning_content"}, "none": set(), "inline": set()}.get(field, {field})


def test_c06_inline_reasoning_is_closed_before_calls_and_at_the_end():
    events = (
        Reasoning("a"),
        CallStart(0, "", "f", 1),
        WHOLE,
        Content("b", part=2),
        Reasoning("c", part=3),
        Finish("stop"),
    )
    shown = said(*events, settings=Settings(reasoning_field="inline"))
    assert shown[1:-2] == [
        "content '<think>\\na'",
        "content '\\n</think>'",
        "call 0 made_0 f",
        "args 0 '{}'",
        "content '\\nb'",
        "content '\\n<think>\\nc'",
        "content '\\n</think>'",
    ]


def test_parts_of_one_kind_are_joined_by_a_newline():
    events = [
        Content("a"),
        Content("b", part=1),
        Reasoning("r", part=2),
        Content("c", part=3),
        Content("d", part=3),
        Reasoning("s", part=4),
        Content("no", part=5, phase="refusal"),
        Finish("stop"),
    ]
    assert said(*events)[1:-2] == [
        "content 'a'",
        "content '\\nb'",
        "reasoning 'r'",
        "content '\\nc'",
        "content 'd'",
        "reasoning '\\ns'",
        "refusal 'no'",
    ]


def test_c07_a_call_begins_with_all_its_names_once():
    body = written(CallStart(0, "", "f"), CallArgs(0, "{"), CallArgs(0, "}"), WHOLE, Finish("stop"))
    items = [chunk["choices"][0]["delta"]["tool_calls"][0] for chunk in chunks(body)[1:-1]]
    assert items == [
        {"index": 0, "id": "made_0", "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": "{"}},
        {"index": 0, "function": {"arguments": "}"}},
    ]


def test_c08_calls_are_counted_as_they_are_shown():
    second = CallStart(1, "", "g"), CallEnd(1, complete=True, valid=True)
    events = [CallStart(0, "", "f"), CallArgs(0, '{"a'), CUT, *second, Finish("stop")]
    assert said(*events)[1:-2] == ["call 0 made_0 f", "args 0 '{\"a'", "call 1 made_1 g", "args 1 '{}'"]
    assert said(*events, settings=Settings(tool_arguments="buffered"))[1:-2] == ["call 0 made_0 g {}"]


def test_c09_no_arguments_are_an_empty_object():
    assert said(CallStart(0, "", "f"), CallArgs(0, ""), WHOLE, Finish("stop"))[1:3] == [
        "call 0 made_0 f",
        "args 0 '{}'",
    ]
    assert said(CallStart(0, "", "f"), CUT, Finish("length"))[1:-1] == ["call 0 made_0 f", "finish length"]


def test_c09_invalid_arguments_go_out_as_they_are():
    events = CallStart(0, "", "sh"), CallArgs(0, "cd /tmp"), CallEnd(0, complete=True, valid=False), Finish("stop")
    assert said(*events)[1:] == ["call 0 made_0 sh", "args 0 'cd /tmp'", "finish tool_calls", "done"]


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ("call_x", "call_x"),
        ("a-Z_9", "a-Z_9"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "made_0"),
        ("functions.f:0", "dg_functions_2ef_3a0"),
        ("", "made_0"),
        ("é", "made_0"),
        ("x\n", "dg_x_0a"),
        ("old", "made_0"),
    ],
)
def test_c10_the_models_own_id_counts_if_it_fits_and_is_new(own, shown):
    request = Request(messages=(Message("assistant", (Call("f", id="old"),)),))
    assert said(CallStart(0, own, "f"), WHOLE, Finish("stop"), request=request)[1] == f"call 0 {shown} f"


def test_c10_ids_are_not_given_twice_not_even_in_two_choices():
    stream = writer(Request(n=2))
    body = stream.write([CallStart(0, "a", "f"), WHOLE, CallStart(1, "a", "f")]) + stream.write(
        [CallStart(0, "a", "f")], 1
    )
    assert [line.split()[-2] for line in lines(body) if "call" in line] == ["a", "made_0", "made_1"]


@pytest.mark.parametrize(
    ("reason", "calls", "word"),
    [
        ("stop", 0, "stop"),
        ("stop", 1, "tool_calls"),
        ("tool_calls", 1, "tool_calls"),
        ("tool_calls", 0, "stop"),
        ("length", 0, "length"),
        ("length", 1, "length"),
        ("filter", 1, "content_filter"),
    ],
)
@pytest.mark.parametrize("arguments", ["live", "buffered"])
def test_c12_the_limit_wins_then_a_whole_call(reason, calls, word, arguments):
    events = [CallStart(0, "", "f"), WHOLE] * calls
    settings = Settings(tool_arguments=arguments)
    assert said(*events, Finish(reason), settings=settings)[-2:] == [f"finish {word}", "done"]


@pytest.mark.parametrize(
    ("choice", "word", "reason", "finish"),
    [
        ("name:f", "stop", "stop", "stop"),
        ("name:f", "tool_calls", "stop", "tool_calls"),
        ("required", "stop", "stop", "tool_calls"),
        ("auto", "stop", "stop", "tool_calls"),
        ("name:f", "stop", "length", "length"),
    ],
)
@pytest.mark.parametrize("arguments", ["live", "buffered"])
def test_c12_a_named_call_may_end_with_stop(choice, word, reason, finish, arguments):
    settings = Settings(tool_arguments=arguments, finish_reason_named=word)
    request = Request("m", choice=choice)
    body = said(CallStart(0, "", "f"), WHOLE, Finish(reason), settings=settings, request=request)
    assert body[-2] == f"finish {finish}"
    turn = Turn((Call("f"),), reason)
    whole = answer([turn], request, settings, answer_id="x", created=1, ids=names())
    assert whole["choices"][0]["finish_reason"] == finish


@pytest.mark.parametrize("arguments", ["live", "buffered"])
def test_c12_a_cut_call_alone_is_no_call(arguments):
    events = CallStart(0, "", "f"), CallArgs(0, '{"a'), CUT, Finish("stop")
    assert said(*events, settings=Settings(tool_arguments=arguments))[-2] == "finish stop"


def test_c13_the_usage_comes_after_the_finish_and_is_null_before():
    body = written(Content("a"), Usage(3, 4, 2, 1), Finish("stop"), settings=Settings(include_usage=True))
    assert lines(body)[-3:] == ["finish stop", "usage 3+4", "done"]
    *before, last = chunks(body)
    assert all(chunk["usage"] is None for chunk in before)
    assert last["choices"] == []


def test_c14_the_usage_adds_up_whatever_is_unknown():
    def usage(*counts):
        body = written(*([Usage(*counts)] if counts else []), Finish("stop"), settings=Settings(include_usage=True))
        return chunks(body)[-1]["usage"]

    assert usage(3, 4, 2, 1) == {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert usage(1, 1, 9, 9)["completion_tokens_details"] == {"reasoning_tokens": 1}
    assert usage(None, None)["total_tokens"] == usage()["total_tokens"] == 0


def test_c15_a_stream_that_was_never_finished_has_no_good_end():
    stream = writer()
    stream.write([Content("a")])
    assert lines(stream.close()) == ["error the answer ended before it was finished"]


def test_c16_choices_appear_in_order_and_end_together():
    stream = writer(Request(n=3), Settings(include_usage=True))
    body = stream.write([Content("c")], 2) + stream.write([Content("a"), Usage(5, 1), Finish("stop")], 0)
    body += stream.write([Usage(5, 2), Finish("length")], 2) + stream.write([Usage(5, 3), Finish("stop")], 1)
    body += stream.close()
    assert lines(body) == [
        "role",
        "1> role",
        "2> role",
        "2> content 'c'",
        "content 'a'",
        "finish stop",
        "2> finish length",
        "1> finish stop",
        "usage 5+6",
        "done",
    ]


@dataclass
class Logprob:
    token: str
    logprob: float
    bytes: tuple[int, ...] = ()
    top: tuple = ()


def test_c17_log_probabilities_ride_on_the_content():
    stream = writer()
    stream.open()
    held = stream.write([], logprobs=[Logprob("<", -0.5)])
    body = stream.write([Content("<é")], logprobs=[Logprob("é", -1.0, (195, 169), (Logprob("e", float("-inf")),))])
    assert held == b""
    assert chunks(body)[0]["choices"][0]["logprobs"] == {
        "content": [
            {"token": "<", "logprob": -0.5, "bytes": [60], "top_logprobs": []},
            {
                "token": "é",
                "logprob": -1.0,
                "bytes": [195, 169],
                "top_logprobs": [{"token": "e", "logprob": -9999.0, "bytes": [101]}],
            },
        ],
        "refusal": None,
    }
    assert chunks(stream.write([Content("x")]))[0]["choices"][0]["logprobs"] is None
    again = chunks(stream.write([Content("y")], logprobs=[Logprob("y", -0.5)]))[0]["choices"][0]
    assert [token["token"] for token in again["logprobs"]["content"]] == ["y"]


def test_c17_log_probabilities_of_markup_are_dropped():
    for markup in ([Reasoning("r", part=1)], [CallStart(0, "", "f", 1), WHOLE]):
        stream = writer()
        stream.write([Content("a")])
        stream.write([], logprobs=[Logprob("<", 0.0)])
        body = stream.write([*markup, Content("b", part=2)])
        assert chunks(body)[-1]["choices"][0]["logprobs"] is None


def test_c21_an_error_ends_the_stream_at_once():
    stream = writer(Request(n=2))
    body = stream.write([Content("a"), Finish("error", error=Broken("it died", hint="restart it"))])
    assert lines(body)[2:] == ["content 'a'", "error it died (restart it)"]
    assert stream.ended
    assert stream.close() == stream.write([Content("b")], 1) == b""
    assert set(chunks(body)[-1]["error"]) == {"message", "type", "param", "code"}


def test_c21_an_error_after_the_finish_still_shows_no_good_end():
    stream = writer()
    stream.write([Content("a"), Finish("stop")])
    assert lines(stream.error(Broken("x"))) == ["error x"]
    assert stream.close() == b""


@pytest.mark.parametrize(
    ("finish", "message"),
    [
        (Finish("cancelled"), "the request was cancelled"),
        (Finish("error"), "the answer failed"),
        (Finish("error", error=RequestError("too long", param="messages")), "too long"),
        (Finish("error", error=KeyError("secret")), "an internal error; the server's log has the details"),
    ],
)
def test_c21_every_bad_finish_is_an_error(finish, message):
    assert said(finish) == ["role", f"error {message}"]


def test_s03_a_ping_is_a_comment():
    assert writer().ping("12/200 tokens") == b": 12/200 tokens\n\n"


def test_the_last_chunk_carries_further_facts():
    facts = {"timings": {"predicted_ms": 1.5}, "id": "forged", "choices": []}
    plain = chunks(written(Finish("stop", "END"), extra=facts))[-1]
    assert plain["timings"] == {"predicted_ms": 1.5}
    assert plain["id"] == "chatcmpl-1"
    assert plain["choices"][0]["stop_reason"] == "END"
    with_usage = chunks(written(Usage(1, 1), Finish("stop"), settings=Settings(include_usage=True), extra=facts))
    assert "timings" not in with_usage[-2]
    assert with_usage[-1]["timings"] == {"predicted_ms": 1.5}
    assert with_usage[-1]["choices"] == []


def test_c25_old_clients_get_one_function_call():
    second = CallStart(1, "", "g"), CallEnd(1, complete=True, valid=True)
    events = CallStart(0, "", "f"), CallArgs(0, '{"a"'), CallArgs(0, ":1}"), WHOLE, *second, Finish("stop")
    assert said(*events, settings=Settings(functions=True))[1:] == [
        "function_call {'name': 'f', 'arguments': '{\"a\":1}'}",
        "finish function_call",
        "done",
    ]


@pytest.mark.parametrize("kind", ["content", "reasoning", "arguments", "name"])
def test_s02_half_characters_at_the_edges_of_pieces_are_never_joined(kind):
    make = {
        "content": lambda: [Content("a\ud83d"), Content("\ude00b")],
        "reasoning": lambda: [Reasoning("a\ud83d"), Reasoning("\ude00b")],
        "arguments": lambda: [CallStart(0, "", "f"), CallArgs(0, "a\ud83d"), CallArgs(0, "\ude00b"), WHOLE],
        "name": lambda: [CallStart(0, "", "a\ud83d\ude00b"), WHOLE],
    }[kind]
    body = written(*make(), Finish("stop"))
    text = body.decode()
    assert text.count("\ufffd") == 2
    lines(body)


# --- what must hold for every turn


@examples()
@given(
    turns(),
    st.sampled_from(["live", "buffered"]),
    st.sampled_from(["reasoning_content", "reasoning", "none", "inline"]),
)
def test_every_legal_turn_keeps_all_rules_and_equals_its_answer(events, arguments, field):
    request = Request(model="m")
    how = Settings(include_usage=True, tool_arguments=arguments, reasoning_field=field)
    body = written(*events, settings=how)
    whole = answer([fold(events)], request, how, answer_id="chatcmpl-1", created=7, ids=names())
    asked = {"stream_options": {"include_usage": True}}
    assert check_chat_stream(body, request=asked) == []
    assert check_chat_answer(whole, request=asked) == []
    assert compare(body, whole) == []


@examples(4)
@given(turns(broken=True))
def test_the_official_client_sees_what_the_answer_says(events):
    how = Settings(include_usage=True, tool_arguments="buffered")
    body = written(*events, settings=how)
    whole = answer([fold(events)], Request(model="m"), how, answer_id="chatcmpl-1", created=7, ids=names())
    ChatCompletion.model_validate(json.loads(wire.dump(whole)), strict=True)
    streamed = completion(body).model_dump()
    choice, other = streamed["choices"][0], whole["choices"][0]
    assert choice["finish_reason"] == other["finish_reason"]
    assert (choice["message"]["content"] or "") == (other["message"]["content"] or "")
    assert choice["message"].get("reasoning_content") == other["message"].get("reasoning_content")
    shown = [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in choice["message"]["tool_calls"] or []
    ]
    given_out = other["message"].get("tool_calls", [])
    assert shown == [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in given_out]
    assert streamed["usage"]["total_tokens"] == whole["usage"]["total_tokens"]


@examples(4)
@given(turns(broken=True), st.randoms())
def test_s05_the_bytes_do_not_depend_on_what_is_written_together(events, random):
    stream, body, rest = writer(), b"", list(events)
    while rest:
        size = random.randrange(1, 4)
        body += stream.write(rest[:size])
        rest = rest[size:]
    assert body + stream.close() == written(*events)


@examples(2)
@given(turns(), st.integers(1, 50))
def test_what_is_written_reads_back_as_the_same_turn(events, size):
    body = written(*events, settings=Settings(include_usage=True))
    reader = Reader()
    back = [event for i in range(0, len(body), size) for event in reader.feed(body[i : i + size])] + reader.close()
    turn, other = fold(events), fold(back)
    assert other.content == wire.clean(turn.content)
    assert other.reasoning == wire.clean(turn.reasoning)
    assert other.finish == turn.finish
    assert [(c.name, c.arguments, c.complete, c.valid) for c in other.calls] == [
        (c.name, wire.clean(c.arguments) or ("{}" if c.complete else ""), c.complete, c.valid) for c in turn.calls
    ]
    assert (other.usage.prompt, other.usage.completion) == (turn.usage.prompt or 0, turn.usage.completion or 0)


# --- cost


def test_a_token_costs_one_quoting_and_no_dict(monkeypatch):
    stream = writer()
    stream.write([Content("a"), Reasoning("b", part=1), CallStart(0, "", "f", 2)])
    monkeypatch.setattr(wire, "dump", None)
    assert lines(stream.write([CallArgs(0, "x")] * 3)) == ["args 0 'x'"] * 3


def test_a_stream_is_freed_as_soon_as_it_is_dropped():
    gc.disable()
    try:
        stream = writer()
        stream.write([Content("a"), CallStart(0, "", "f", 1), WHOLE, Finish("stop")])
        choice = weakref.ref(stream._choices[0])
        del stream
        assert choice() is None
    finally:
        gc.enable()
