from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from chatlines import chunks
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Completion
from strategies import examples, pieces

from dragoman.errors import Broken
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Raw, Request
from dragoman.protocols import wire
from dragoman.protocols.completions import Settings, Writer, answer
from dragoman.syntax.fold import fold

FACTS = {"answer_id": "cmpl-1", "created": 7, "ids": lambda: ""}
END = Finish("stop")


@dataclass
class Sure:
    token: str
    logprob: float = -0.5
    bytes: tuple[int, ...] = ()
    top: tuple = ()


def request(*prompts, **more):
    return Request(model="m", prompts=tuple(map(Raw, prompts)) or (Raw("P"),), **more)


def written(*events, asked=None, settings=None, extra=None):
    stream = Writer(asked or request(), settings or Settings(), **FACTS)
    body = stream.write(events) + stream.close(extra)
    for chunk in chunks(body):
        if "error" not in chunk:
            for choice in chunk["choices"]:  # the client's type is that of a whole answer
                choice["finish_reason"] = choice["finish_reason"] or "stop"
            Completion.model_validate(chunk)
    return body


def choices(*events, **options):
    return [choice for chunk in chunks(written(*events, **options)) for choice in chunk["choices"]]


def texts(*events, **options):
    return [choice["text"] for choice in choices(*events, **options)]


def test_l01_every_chunk_has_its_fields():
    body = written(Content("a"), Usage(1, 2), END)
    names = {"id": "cmpl-1", "object": "text_completion", "created": 7, "model": "m"}
    assert chunks(body) == [
        {**names, "choices": [{"index": 0, "text": "a", "logprobs": None, "finish_reason": None}]},
        {**names, "choices": [{"index": 0, "text": "", "logprobs": None, "finish_reason": "stop"}]},
    ]
    assert body.endswith(b"data: [DONE]\n\n")


def test_l01_the_prompt_is_echoed_in_its_own_chunk():
    assert texts(Content("a"), END, settings=Settings(echo=True)) == ["P", "a", ""]
    assert texts(END, asked=request("")) == [""]


def test_l01_only_text_is_written():
    events = Content(""), Notice("x"), Reasoning("r"), CallStart(0, "", "f"), CallArgs(0, "{}")
    assert texts(*events, CallEnd(0, complete=True, valid=True), END) == [""]


@pytest.mark.parametrize(
    ("reason", "word"), [("stop", "stop"), ("tool_calls", "stop"), ("length", "length"), ("filter", "content_filter")]
)
def test_l01_the_finish(reason, word):
    assert choices(Finish(reason))[-1]["finish_reason"] == word


def test_l01_the_stop_string_is_told():
    assert choices(Finish("stop", "END"))[-1]["stop_reason"] == "END"


def test_l01_usage_if_asked_for():
    body = written(Usage(3, 4), END, settings=Settings(include_usage=True), extra={"timings": {"a": 1}, "id": "no"})
    first, last = chunks(body)
    assert first["usage"] is None
    assert (last["choices"], last["usage"]["total_tokens"], last["timings"], last["id"]) == ([], 7, {"a": 1}, "cmpl-1")
    assert chunks(written(END, extra={"timings": 1}))[-1]["timings"] == 1


def test_l01_usage_counts_each_prompt_once():
    stream = Writer(request("a", "b", n=2), Settings(include_usage=True), **FACTS)
    body = b"".join(stream.write([Usage(3, 5, 0, 1), END], index) for index in range(4)) + stream.close()
    usage = chunks(body)[-1]["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (6, 20, 26)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 2}


def test_l01_log_probabilities():
    stream = Writer(request(logprobs=1), Settings(), **FACTS)
    (first,) = chunks(stream.write([Content("ab")], 0, [Sure("a", top=(Sure("a"), Sure("x", -9))), Sure("b")]))
    assert first["choices"][0]["logprobs"] == {
        "tokens": ["a", "b"],
        "token_logprobs": [-0.5, -0.5],
        "top_logprobs": [{"a": -0.5, "x": -9}, {}],
        "text_offset": [0, 1],
    }
    (second,) = chunks(stream.write([Content("c")], 0, [Sure("c")]))
    assert second["choices"][0]["logprobs"]["text_offset"] == [2]


def test_l01_an_error_ends_it():
    body = written(Content("a"), Finish("error", error=Broken("it broke")))
    assert chunks(body)[-1]["error"]["message"] == "it broke"
    assert b"[DONE]" not in body
    stream = Writer(request(), Settings(), **FACTS)
    assert b"before it was finished" in stream.close()
    assert stream.write([Content("a")]) == stream.ping() == b""


def test_l01_a_failed_turn_has_no_answer():
    turns = [fold([Finish("error", error=Broken("it broke"))])]
    with pytest.raises(Broken):
        answer(turns, request(), Settings(), **FACTS)


@examples(20)
@given(st.data(), st.text(max_size=30), st.booleans())
def test_s08_a_stream_adds_up_to_the_answer(data, text, echo):
    asked, settings = request("P", "Q"), Settings(echo=echo, include_usage=True)
    stream = Writer(asked, settings, **FACTS)
    turns = [
        [*(Content(piece) for piece in data.draw(pieces(text))), Usage(3, 4), Finish(reason)]
        for reason in ("stop", "length")
    ]
    body = b"".join(stream.write(events, index) for index, events in enumerate(turns)) + stream.close()
    whole = json.loads(wire.dump(answer(list(map(fold, turns)), asked, settings, **FACTS)))
    Completion.model_validate(whole)
    said = [choice for chunk in chunks(body) for choice in chunk["choices"]]
    for index, choice in enumerate(whole["choices"]):
        mine = [item for item in said if item["index"] == index]
        assert "".join(item["text"] for item in mine) == choice["text"]
        assert mine[-1]["finish_reason"] == choice["finish_reason"]
    assert chunks(body)[-1]["usage"] == whole["usage"]
