from __future__ import annotations

import json

import pytest

from dragoman.errors import Broken, Refused, RequestError
from dragoman.events import CallEnd, Content, Finish, Reasoning, Usage
from dragoman.messages import Call
from dragoman.protocols.chat import Reader, TokenLogprob
from dragoman.syntax.fold import fold


def chunk(content=None, finish=None, **more):
    delta = more.pop("delta", {} if content is None else {"content": content})
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def body(*items, done=True):
    lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return "".join(f"data: {line}\n\n" for line in (*lines, *(["[DONE]"] if done else []))).encode()


def read(*items, done=True):
    reader = Reader(engine="test")
    return [*reader.feed(body(*items, done=done)), *reader.close()]


def test_a_plain_answer():
    assert read(chunk(delta={"role": "assistant", "content": ""}), chunk("a"), chunk("b"), chunk(finish="stop")) == [
        Content("a"),
        Content("b"),
        Finish("stop"),
    ]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "reasoning_text"])
def test_c06_reasoning_under_every_name(key):
    assert read(chunk(delta={key: "r"}), chunk("a", "stop")) == [Reasoning("r"), Content("a", part=1), Finish("stop")]


def test_c06_reasoning_under_two_names_is_taken_once():
    assert read(chunk(delta={"reasoning_content": "r", "reasoning": "r"}), chunk(finish="stop"))[0] == Reasoning("r")


def test_reasoning_as_parts_of_the_content():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}, {"type": "text", "text": "a"}]
    assert read(chunk(parts, "stop"))[:2] == [Reasoning("r"), Content("a", part=1)]


def test_null_fields_are_absent():
    nulls = {
        "role": None,
        "content": None,
        "tool_calls": None,
        "function_call": None,
        "reasoning": None,
        "refusal": None,
    }
    assert read(chunk(delta=nulls), chunk("a"), chunk(delta=None), chunk(finish="stop", usage=None)) == [
        Content("a"),
        Finish("stop"),
    ]


def test_a_call_and_its_finish():
    item = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    for finish in ("tool_calls", "stop", "function_call"):
        turn = fold(read(chunk(delta={"tool_calls": [item]}), chunk(finish=finish)))
        assert (turn.calls, turn.finish) == ((Call("f", "{}", "a"),), "tool_calls")


def test_c12_tool_calls_without_any_is_a_stop():
    assert read(chunk("a", "tool_calls"))[-1] == Finish("stop")


def test_c22_the_limit_cuts_a_call():
    item = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a": "b'}}
    assert read(chunk(delta={"tool_calls": [item]}), chunk(finish="length"))[-2:] == [
        CallEnd(0, complete=False, valid=False, missing='"}'),
        Finish("length"),
    ]


def test_an_old_function_call():
    deltas = [{"function_call": {"name": "f", "arguments": '{"a"'}}, {"function_call": {"arguments": ":1}"}}]
    turn = fold(read(*(chunk(delta=delta) for delta in deltas), chunk(finish="function_call")))
    assert turn.calls == (Call("f", '{"a":1}'),)


@pytest.mark.parametrize(
    ("word", "reason"),
    [("stop", "stop"), ("eos", "stop"), ("length", "length"), ("max_tokens", "length"), ("content_filter", "filter")],
)
def test_finish_words_of_others(word, reason):
    assert read(chunk("a", word))[-1] == Finish(reason)


@pytest.mark.parametrize("word", ["error", "abort", "insufficient_system_resource"])
def test_a_finish_that_is_no_end_is_an_error(word):
    finish = read(chunk("a", word))[-1]
    assert isinstance(finish.error, Refused)
    assert word in finish.error.message


def test_the_stop_string_that_matched():
    for key in ("stop_reason", "matched_stop"):
        item = chunk("a", "stop")
        item["choices"][0][key] = "END"
        assert read(item)[-1] == Finish("stop", "END")
    item["choices"][0][key] = 128009
    assert read(item)[-1] == Finish("stop")


def test_a_stream_that_breaks_off_never_ends_well():
    *events, finish = read(chunk("Hal"), done=False)
    assert events == [Content("Hal")]
    assert finish.reason == "error"
    assert isinstance(finish.error, Broken)
    assert finish.error.engine == "test"


def test_a_stream_that_ends_properly_but_says_not_why_tells_what_was_seen():
    item = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    assert read(chunk("Hal"))[-1] == Finish("stop")
    assert read(chunk(delta={"tool_calls": [item]}))[-1] == Finish("tool_calls")
    cut = {**item, "function": {"name": "f", "arguments": '{"a": "b'}}
    *_, end, finish = read(chunk(delta={"tool_calls": [cut]}))
    assert (end.complete, finish) == (False, Finish("stop"))


def test_a_stream_that_says_nothing_at_all_is_broken():
    (finish,) = read()
    assert isinstance(finish.error, Broken)


def test_why_it_ends_is_known_before_its_end():
    reader = Reader()
    reader.feed(body(chunk("a"), done=False))
    assert not reader.finished
    reader.feed(body(chunk(finish="stop"), done=False))
    assert reader.finished
    assert not reader.ended


def test_c15_a_finish_without_the_last_mark_is_enough():
    assert read(chunk("a", "stop"), done=False) == [Content("a"), Finish("stop")]


def test_an_open_call_is_closed_when_the_stream_breaks():
    item = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a'}}
    events = read(chunk(delta={"tool_calls": [item]}), done=False)
    assert events[-2] == CallEnd(0, complete=False, valid=False, missing='"}')
    assert events[-1].reason == "error"


def test_c21_an_error_in_the_middle_keeps_its_words():
    error = {
        "error": {"code": 400, "message": "request (9 tokens) exceeds the context", "type": "exceed_context_size_error"}
    }
    *events, finish = read(chunk("A"), error, chunk("B"), chunk(finish="stop"))
    assert events == [Content("A")]
    assert isinstance(finish.error, RequestError)
    assert finish.error.message == "request (9 tokens) exceeds the context"


@pytest.mark.parametrize(
    "lines",
    [
        b'data: {"object":"error","message":"no"}\n\n',
        b'event: error\ndata: {"message":"no"}\n\n',
        b'data: {"error":"no"}\n\n',
        b'data: {"error":{"message":"no"},"choices":[]}\n\n',
    ],
)
def test_c21_every_shape_of_an_error(lines):
    (finish,) = Reader().feed(lines)
    assert isinstance(finish.error, Refused)
    assert finish.error.message == "no"


@pytest.mark.parametrize("line", ['{"choices": [', "nonsense", "[" * 99_999, "3", "[]"])
def test_what_is_no_chunk_breaks_the_stream(line):
    *events, finish = read(chunk("a"), line, chunk("b", "stop"))
    assert events == [Content("a")]
    assert isinstance(finish.error, Broken)


def test_an_endless_line_breaks_the_stream():
    reader = Reader()
    events = [event for _ in range(20) for event in reader.feed(b"x" * 1_000_000)]
    assert isinstance(events[0].error, Broken)
    assert len(events) == 1


@pytest.mark.parametrize(
    "data", [{}, {"choices": None}, {"choices": [None]}, {"choices": [{}]}, {"choices": [{"delta": "x"}]}]
)
def test_empty_chunks_say_nothing(data):
    assert read(data, chunk("a", "stop")) == [Content("a"), Finish("stop")]


def test_c13_the_usage_is_the_last_that_was_told():
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    details = {"completion_tokens_details": {"reasoning_tokens": 1}, "prompt_tokens_details": {"cached_tokens": 2}}
    events = read(
        chunk("a", usage={"prompt_tokens": 3, "completion_tokens": 1}),
        chunk(finish="stop"),
        {"choices": [], "usage": {**usage, **details}},
        {"choices": [], "usage": None},
        {"choices": [], "usage": {}},
    )
    assert events[1:] == [Usage(3, 4, 1, 2), Finish("stop")]


def test_usage_may_be_anything():
    assert read(chunk("a", "stop", usage={"prompt_tokens": "3", "prompt_tokens_details": 3})) == [
        Content("a"),
        Finish("stop"),
    ]


def test_further_facts_are_kept():
    reader = Reader()
    reader.feed(body(chunk("a", timings={"n": 1}), chunk(finish="stop", timings={"n": 2}, system_fingerprint="x")))
    assert reader.extra == {"timings": {"n": 2}}


def test_c17_log_probabilities_and_finish_in_one_chunk():
    item = chunk("2", "length")
    token = {"token": "2", "logprob": -0.1, "bytes": [50], "top_logprobs": [{"token": "3", "logprob": -2}]}
    item["choices"][0]["logprobs"] = {"content": [token, None], "refusal": None}
    reader = Reader()
    assert reader.feed(body(item)) == [Content("2"), Finish("length")]
    assert reader.logprobs[0] == TokenLogprob("2", -0.1, (50,), (TokenLogprob("3", -2),))


def test_c16_one_choice_is_read():
    two = {"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]}
    ends = {"choices": [{"index": index, "delta": {}, "finish_reason": "stop"} for index in (0, 1)]}
    assert Reader(0).feed(body(two, ends)) == [Content("a"), Finish("stop")]
    assert Reader(1).feed(body(two, ends)) == [Content("b"), Finish("stop")]


def test_a_whole_answer_reads_like_its_stream():
    message = {"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": None}
    reader = Reader()
    events = reader.read(
        {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}
    )
    assert [*events, *reader.close()] == [Reasoning("r"), Content("a", part=1), Usage(prompt=1), Finish("stop")]


def test_after_the_end_nothing_comes():
    reader = Reader()
    reader.feed(body(chunk("a", "stop")))
    assert reader.ended
    assert reader.feed(body(chunk("b"))) == reader.read(chunk("b")) == reader.close() == []


def test_every_cut_reads_the_same():
    stream = body(chunk("é😀"), chunk(finish="stop"))
    for cut in range(len(stream)):
        reader = Reader()
        assert [*reader.feed(stream[:cut]), *reader.feed(stream[cut:])] == [Content("é😀"), Finish("stop")]
