from __future__ import annotations

import json

import pytest
from anthropic.types import Message as Official

from dragoman.checks import check_messages_answer
from dragoman.errors import Broken, Cancelled
from dragoman.events import Usage
from dragoman.messages import Call, Message, Reasoning, Request, Text, Turn
from dragoman.protocols import wire
from dragoman.protocols.messages_api import Settings, answer, recall, verify

KEY = b"key"


def whole(*parts, finish="stop", stop="", request=None, settings=None, usage=None, **more):
    turn = Turn(parts, finish, stop, usage=usage)
    how = settings or Settings(key=KEY)
    asked = request or Request(model="m")
    made = answer([turn], asked, how, answer_id="msg_1", created=7, ids=lambda: "toolu_made", **more)
    made = json.loads(wire.dump(made))
    Official.model_validate(made, strict=True)
    assert check_messages_answer(made) == []
    return made


def test_m14_all_fields_of_an_answer():
    made = whole(
        Reasoning("r"), Text("hi"), Call("f", '{"a": 1}', "call_1"), finish="tool_calls", usage=Usage(9, 4, 2, 3)
    )
    signature = made["content"][0].pop("signature")
    assert verify("r", signature, KEY)
    assert made == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "r"},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 6,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 3,
            "output_tokens": 4,
            "output_tokens_details": {"thinking_tokens": 2},
        },
    }


def test_m14_nothing_said_is_no_block():
    assert whole(Text(""), Reasoning(""))["content"] == []


@pytest.mark.parametrize("text", ["cd /tmp", "[1]", '{"a": Infinity}'])
def test_m14_input_is_always_an_object(text):
    assert whole(Call("f", text, valid=False))["content"][0]["input"] == {"_raw": text}
    assert whole(Call("f", ""))["content"][0]["input"] == {}


def test_m07_a_cut_call_is_left_out():
    made = whole(Text("a"), Call("f", '{"a', complete=False, valid=False), finish="length")
    assert [block["type"] for block in made["content"]] == ["text"]
    assert made["stop_reason"] == "model_context_window_exceeded"


def test_m10_a_stop_string_is_told():
    made = whole(Text("a"), stop="EN\ud83dD")
    assert (made["stop_reason"], made["stop_sequence"]) == ("stop_sequence", "EN\ufffdD")
    made = whole(Call("f"), stop="END")
    assert (made["stop_reason"], made["stop_sequence"]) == ("tool_use", None)


def test_m04_ids_are_new_in_the_conversation():
    request = Request(messages=(Message("assistant", (Call("f", id="old"),)),))
    blocks = whole(Call("f", id="old"), Call("f", id="new"), request=request)["content"]
    assert [block["id"] for block in blocks] == ["toolu_made", "new"]


def test_m23_thoughts_are_shown_as_asked():
    assert whole(Reasoning("r"), settings=Settings(thinking="none"))["content"] == []
    (block,) = whole(Reasoning("r"), settings=Settings(thinking="omitted", key=KEY))["content"]
    assert block["thinking"] == ""
    assert recall(block["signature"], KEY) == "r"


def test_further_facts_ride_along_but_hide_nothing():
    made = whole(Text("a"), extra={"timings": {"a": 1}, "id": "forged"})
    assert (made["timings"], made["id"]) == ({"a": 1}, "msg_1")


@pytest.mark.parametrize(
    ("turn", "cls"),
    [
        (Turn((Text("a"),), "error", error=Broken("x")), Broken),
        (Turn((Text("a"),), "error"), Broken),
        (Turn((), "cancelled"), Cancelled),
    ],
)
def test_m13_a_failed_turn_has_no_good_looking_answer(turn, cls):
    with pytest.raises(cls):
        answer([turn], Request(), Settings(), answer_id="x", created=0, ids=str)


def test_s02_half_characters_are_replaced():
    made = whole(Reasoning("\ud83d"), Text("a\ud83d"), Call("f", '{"a": "\ude00"}'))
    assert [block.get("thinking") or block.get("text") or block["input"] for block in made["content"]] == [
        "\ufffd",
        "a\ufffd",
        {"a": "\ufffd"},
    ]
