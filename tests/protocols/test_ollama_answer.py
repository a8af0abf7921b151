from __future__ import annotations

import json

import pytest
from ollama import ChatResponse, GenerateResponse

from dragoman.checks import check_ollama_answer
from dragoman.errors import Broken, Cancelled
from dragoman.events import Usage
from dragoman.messages import Call, Message, Reasoning, Request, Text, Turn
from dragoman.protocols import ollama, ollama_generate, wire
from dragoman.protocols.ollama import Settings

EXTRA = {"seconds": {"first": 0.25, "total": 1.0}}


def whole(*parts, finish="stop", protocol=ollama, settings=None, request=None, **more):
    turn = Turn(parts, finish, usage=Usage(3, 4))
    request = request or Request(model="m", messages=(Message("user", (Text("Hi"),)),))
    made = protocol.answer(
        [turn], request, settings or Settings(), answer_id="x", created=7, ids=lambda: "made", extra=EXTRA, **more
    )
    made = json.loads(wire.dump(made))
    assert check_ollama_answer(made) == []
    (ChatResponse if protocol is ollama else GenerateResponse).model_validate(made, strict=True)
    return made


def test_o03_all_fields_of_an_answer():
    assert whole(Reasoning("r"), Text("a")) == {
        "model": "m",
        "created_at": "1970-01-01T00:00:07Z",
        "message": {"role": "assistant", "content": "a", "thinking": "r"},
        "done": True,
        "done_reason": "stop",
        "total_duration": 1_000_000_000,
        "load_duration": 0,
        "prompt_eval_count": 3,
        "prompt_eval_duration": 250_000_000,
        "eval_count": 4,
        "eval_duration": 750_000_000,
    }


def test_o03_generate_has_a_response_and_a_context():
    made = whole(Reasoning("r"), Text("a"), protocol=ollama_generate)
    assert (made["response"], made["thinking"]) == ("a", "r")
    assert made["context"]
    assert "message" not in made


def test_o04_whole_calls_and_no_others():
    cut = Call("g", '{"x', complete=False, valid=False)
    made = whole(Call("f", '{"x": 1}', "c"), Call("f", "[1]", valid=False), cut, finish="length")
    assert made["message"]["tool_calls"] == [
        {"id": "c", "index": 0, "function": {"index": 0, "name": "f", "arguments": {"x": 1}}},
        {"id": "made", "index": 1, "function": {"index": 1, "name": "f", "arguments": {"_raw": "[1]"}}},
    ]
    assert made["done_reason"] == "length"
    assert "tool_calls" not in whole(cut)["message"]


def test_o05_thinking_is_shown_if_it_is_wanted():
    assert "thinking" not in whole(Text("a"))["message"]
    assert "thinking" not in whole(Reasoning("r"), settings=Settings(reasoning_field="none"))["message"]


def test_o08_log_probabilities():
    made = whole(Text("a"), logprobs=[[]])
    assert made["logprobs"] == []
    assert "logprobs" not in whole(Text("a"))


@pytest.mark.parametrize(
    ("finish", "error", "raised"),
    [("error", ValueError("x"), ValueError), ("error", None, Broken), ("cancelled", None, Cancelled)],
)
def test_o07_a_failed_turn_has_no_answer(finish, error, raised):
    facts = {"answer_id": "x", "created": 7, "ids": lambda: ""}
    for protocol in (ollama, ollama_generate):
        with pytest.raises(raised):
            protocol.answer([Turn(finish=finish, error=error)], Request(), Settings(), **facts)


@pytest.mark.parametrize("protocol", [ollama, ollama_generate])
def test_o10_nothing_asked(protocol):
    made = protocol.answer([], Request(model="m"), Settings(idle="unload"), answer_id="x", created=7, ids=lambda: "")
    assert (made["done"], made["done_reason"]) == (True, "unload")
    assert check_ollama_answer(made) == []
