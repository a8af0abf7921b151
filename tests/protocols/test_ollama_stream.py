from __future__ import annotations

import gc
import itertools
import json
import weakref
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ollama import ChatResponse, GenerateResponse
from strategies import examples, turns

from dragoman.checks import check_ollama_answer, check_ollama_stream, compare_ollama
from dragoman.errors import Broken, RequestError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Message, Raw, Request, Text
from dragoman.protocols import ollama, ollama_generate, wire
from dragoman.protocols.ollama import Settings
from dragoman.protocols.ollama_context import unpack
from dragoman.syntax.fold import fold

WHOLE = CallEnd(0, complete=True, valid=True)
CUT = CallEnd(0, complete=False, valid=False, missing='"}')
END = Finish("stop")
EXTRA = {"seconds": {"first": 0.25, "total": 1.0}}


def names():
    counter = itertools.count()
    return lambda: f"made_{next(counter)}"


def writer(request=None, settings=None, protocol=ollama):
    request, settings = request or Request(model="m"), settings or Settings()
    return protocol.Writer(request, settings, answer_id="x", created=7, ids=names())


def written(*events, request=None, settings=None, protocol=ollama, extra=EXTRA):
    stream = writer(request, settings, protocol)
    body = stream.write(events) + stream.close(extra)
    assert check_ollama_stream(body) == []
    kind = ChatResponse if protocol is ollama else GenerateResponse
    for line in body.splitlines():
        if b'"error"' not in line:
            kind.model_validate_json(line)
    return body


def lines(*events, **options):
    return [json.loads(line) for line in written(*events, **options).splitlines()]


def messages(*events, **options):
    return [line["message"] for line in lines(*events, **options)]


def test_o01_every_line_is_one_object_and_ends():
    body = written(Content("a\nb\r\u2028"), Content("\ud800"), END)
    assert body.endswith(b"}\n")
    assert [json.loads(line)["done"] for line in body.split(b"\n")[:-1]] == [False, False, True]
    assert "\ufffd" in body.decode()
    assert writer().headers["content-type"] == "application/x-ndjson"


def test_o01_there_is_no_keep_alive():
    assert writer().ping("x") == b""


def test_o02_every_line_has_its_fields():
    first, last = lines(Content("a"), Usage(3, 4), END)
    assert first == {
        "model": "m",
        "created_at": "1970-01-01T00:00:07Z",
        "message": {"role": "assistant", "content": "a"},
        "done": False,
    }
    assert last == {
        "model": "m",
        "created_at": "1970-01-01T00:00:07Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        "total_duration": 1_000_000_000,
        "load_duration": 0,
        "prompt_eval_count": 3,
        "prompt_eval_duration": 250_000_000,
        "eval_count": 4,
        "eval_duration": 750_000_000,
    }


def test_o02_generate_has_its_text_elsewhere():
    first, thought, last = lines(Content("a"), Reasoning("r", part=1), END, protocol=ollama_generate)
    assert (first["response"], "message" in first) == ("a", False)
    assert (thought["response"], thought["thinking"]) == ("", "r")
    assert (last["response"], last["done"]) == ("", True)


def test_o03_nothing_follows_the_last_line():
    stream = writer()
    stream.write([Content("a"), END])
    assert stream.write([Content("b")]) == b""
    assert json.loads(stream.close())["done"] is True
    assert stream.write([Content("b")]) == stream.close() == stream.error(ValueError()) == b""
    assert stream.ended


def test_o03_the_engines_own_times_are_told_where_there_are_any():
    timings = {"prompt_ms": 20.5, "predicted_ms": 1.5, "predicted_n": 3}
    last = lines(END, extra={**EXTRA, "timings": timings, "model": "hidden", "other": 1})[-1]
    assert (last["prompt_eval_duration"], last["eval_duration"]) == (20_500_000, 1_500_000)
    assert (last["model"], last["other"], "timings" in last, "seconds" in last) == ("m", 1, False, False)


def test_o03_unknown_counts_are_numbers_too():
    assert lines(END, extra=None)[-1]["eval_count"] == 0
    assert lines(END, extra={"timings": {"prompt_ms": 5, "predicted_ms": 5}})[-1]["total_duration"] == 10_000_000


def test_o03_a_prompt_that_takes_the_whole_time_leaves_none_for_the_answer():
    last = lines(END, extra={"seconds": {"total": 0.5}})[-1]
    assert (last["prompt_eval_duration"], last["eval_duration"]) == (500_000_000, 0)


def test_o03_generate_gives_out_the_conversation():
    request = Request(model="m", messages=(Message("user", (Text("Hi"),)),))
    events = Reasoning("r"), Content("Hello", part=1), Content(" you", part=1), Content("!", part=2), END
    last = lines(*events, request=request, protocol=ollama_generate)[-1]
    assert unpack(last["context"], "context") == (
        Message("user", (Text("Hi"),)),
        Message("assistant", (Text("Hello you\n!"),)),
    )


def test_o03_a_raw_prompt_has_no_context():
    request = Request(model="m", prompts=(Raw("Hi"),))
    assert "context" not in lines(Content("a"), END, request=request, protocol=ollama_generate)[-1]


def test_o04_calls_come_whole():
    events = [
        CallStart(0, "call_a", "ping", 1),
        CallArgs(0, '{"n"'),
        CallArgs(0, ": 1}"),
        WHOLE,
        CallStart(1, "", "pong", 2),
        WHOLE,
        Finish("tool_calls"),
    ]
    *calls, last = lines(*events)
    assert [line["message"]["tool_calls"] for line in calls] == [
        [{"id": "call_a", "index": 0, "function": {"index": 0, "name": "ping", "arguments": {"n": 1}}}],
        [{"id": "made_0", "index": 1, "function": {"index": 1, "name": "pong", "arguments": {}}}],
    ]
    assert last["done_reason"] == "stop"


@pytest.mark.parametrize("arguments", ['{"n": ', "[1]", "nothing", "9" * 5000, "[" * 5000, '{"x": 1e999}'])
def test_o04_arguments_that_are_no_object_are_shown_as_they_are(arguments):
    end = CallEnd(0, complete=True, valid=False)
    (call,) = messages(CallStart(0, "c", "f"), CallArgs(0, arguments), end, END)[0]["tool_calls"]
    shown = call["function"]["arguments"]
    assert shown in ({"_raw": arguments}, {"x": None})


def test_o04_a_cut_call_is_dropped():
    events = CallStart(0, "c", "f"), CallArgs(0, '{"city": "Os'), CUT, Finish("length")
    (last,) = lines(*events)
    assert last["done_reason"] == "length"
    assert "tool_calls" not in last["message"]


def test_o04_an_id_that_was_used_before_is_made_anew():
    request = Request(model="m", messages=(Message("assistant", (Call("f", id="c"),)),))
    (call,) = messages(CallStart(0, "c", "f"), WHOLE, END, request=request)[0]["tool_calls"]
    assert call["id"] == "made_0"


def test_o05_thinking_is_apart():
    events = Reasoning("Let me "), Reasoning("look."), Content("Hi", part=1), END
    assert messages(*events)[:-1] == [
        {"role": "assistant", "content": "", "thinking": "Let me "},
        {"role": "assistant", "content": "", "thinking": "look."},
        {"role": "assistant", "content": "Hi"},
    ]


def test_o05_without_thinking_none_is_shown():
    events = Reasoning("Let me look."), Content("Hi", part=1), END
    assert [m["content"] for m in messages(*events, settings=Settings(reasoning_field="none"))] == ["Hi", ""]


def test_blocks_of_a_kind_are_joined_by_a_newline():
    events = [
        Reasoning("r"),
        Content("a", part=1),
        Reasoning("s", part=2),
        Content("b", part=3),
        CallStart(0, "c", "f", 4),
        WHOLE,
        Content("no", part=5, phase="refusal"),
        END,
    ]
    said = messages(*events)
    assert "".join(message["content"] for message in said) == "a\nb\nno"
    assert "".join(message.get("thinking", "") for message in said) == "r\ns"


def test_empty_pieces_and_notices_make_no_line():
    assert len(lines(Content(""), Reasoning(""), Notice("x"), Content("a"), Content(""), END)) == 2


@pytest.mark.parametrize(
    ("reason", "word"), [("stop", "stop"), ("tool_calls", "stop"), ("length", "length"), ("filter", "stop")]
)
def test_o06_the_reason(reason, word):
    assert lines(Finish(reason))[-1]["done_reason"] == word


@pytest.mark.parametrize(
    ("finish", "text"),
    [
        (Finish("error", error=RequestError("too long")), "too long"),
        (Finish("error", error=KeyError("secret")), "an internal error; the server's log has the details"),
        (Finish("error"), "the answer failed"),
        (Finish("cancelled"), "the request was cancelled"),
    ],
)
def test_o07_an_error_is_the_last_line(finish, text):
    stream = writer()
    body = stream.write([Content("a"), finish])
    assert json.loads(body.splitlines()[-1]) == {"error": text}
    assert check_ollama_stream(body) == []
    assert stream.close() == b""


def test_o07_an_end_without_a_finish_is_an_error():
    stream = writer()
    stream.write([Content("a")])
    assert json.loads(stream.close()) == {"error": str(Broken("the answer ended before it was finished"))}


def test_o08_log_probabilities_ride_on_the_text():
    tokens = [Sure("a"), Sure("b")]
    stream = writer(Request(logprobs=0))
    line = json.loads(stream.write([Content("ab")], 0, tokens))
    assert [token["token"] for token in line["logprobs"]] == ["a", "b"]
    ChatResponse.model_validate(line)
    assert stream.write([Reasoning("r", part=1)], 0, tokens).count(b"logprobs") == 0
    assert stream.write([Content("c", part=2)]).count(b"logprobs") == 0


@dataclass
class Sure:
    token: str
    logprob: float = 0.0
    bytes: tuple[int, ...] = ()
    top: tuple = ()


def test_o10_a_request_that_asks_nothing_has_one_line():
    stream = writer(settings=Settings(idle="load"))
    line = json.loads(stream.close())
    assert (line["done"], line["done_reason"], line["message"]["content"]) == (True, "load", "")


@pytest.mark.parametrize("protocol", [ollama, ollama_generate])
@examples(20)
@given(turns(broken=True), st.booleans())
def test_s08_a_stream_adds_up_to_the_answer(protocol, events, hidden):
    asked = Request(model="m", messages=(Message("user", (Text("Hi"),)),))
    settings = Settings(reasoning_field="none" if hidden else "reasoning_content")
    if protocol is ollama_generate:
        events = [event for event in events if not isinstance(event, CallStart | CallArgs | CallEnd)]
    stream = writer(asked, settings, protocol)
    body = b"".join(stream.write([event]) for event in events) + stream.close(EXTRA)
    whole = protocol.answer([fold(events)], asked, settings, answer_id="x", created=7, ids=names(), extra=EXTRA)
    whole = json.loads(wire.dump(whole))
    assert check_ollama_stream(body) == []
    assert check_ollama_answer(whole) == []
    assert compare_ollama(body, whole) == []


def test_a_token_costs_one_quoting_and_no_dict(monkeypatch):
    stream = writer()
    stream.write([Content("a"), Reasoning("b", part=1)])
    monkeypatch.setattr(wire, "dump", None)
    assert stream.write([Reasoning("x", part=1)] * 3).count(b'"thinking":"x"') == 3


def test_a_writer_is_freed_at_once():
    gc.disable()
    try:
        stream = writer()
        stream.write([Content("a"), END])
        gone = weakref.ref(stream)
        del stream
        assert gone() is None
    finally:
        gc.enable()
