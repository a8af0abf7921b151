from __future__ import annotations

import json

import pytest
from openai.types.chat import ChatCompletion

from dragoman.checks import check_chat_answer
from dragoman.errors import Broken, Cancelled
from dragoman.events import Usage
from dragoman.messages import Call, Message, Reasoning, Request, Text, Tool, Turn
from dragoman.protocols import wire
from dragoman.protocols.chat import Settings, TokenLogprob, answer
from dragoman.protocols.chat_tools import FREE_TEXT


def whole(*turns, request=None, settings=None, **more):
    request = request or Request(model="m")
    made = answer(turns, request, settings or Settings(), answer_id="chatcmpl-1", created=7, ids=lambda: "made", **more)
    ChatCompletion.model_validate(json.loads(wire.dump(made)), strict=True)
    return made


def message(*parts, finish="stop", settings=None, request=None):
    made = whole(Turn(parts, finish, usage=Usage(1, 1)), settings=settings, request=request)
    assert check_chat_answer(made) == []
    return made["choices"][0]["message"]


def test_c23_all_fields_of_a_plain_answer():
    assert whole(Turn((Text("hi"),), "stop", usage=Usage(3, 4, 2, 1))) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "refusal": None, "content": "hi"},
                "logprobs": None,
                "finish_reason": "stop",
            },
        ],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 4,
            "total_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def test_c23_content_is_null_only_beside_calls():
    assert message()["content"] == ""
    assert message(Reasoning("r"))["content"] == ""
    assert message(Call("f"))["content"] is None
    assert message(Text("a"), Call("f"))["content"] == "a"


def test_c23_calls_are_absent_if_there_are_none():
    assert "tool_calls" not in message(Text("a"))
    assert message(Call("f", '{"a": 1}', "id1"))["tool_calls"] == [
        {"id": "id1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
    ]


def test_c14_usage_is_always_there():
    assert whole(Turn((Text("a"),)))["usage"]["total_tokens"] == 0


def test_parts_of_one_kind_are_joined_by_a_newline():
    made = message(Reasoning("r"), Text("a"), Reasoning("s"), Text("b"), Text("no", "refusal"))
    assert made == {
        "role": "assistant",
        "content": "a\nb",
        "reasoning_content": "r\ns",
        "refusal": "no",
    }


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("reasoning_content", {"content": "a", "reasoning_content": "r"}),
        ("reasoning", {"content": "a", "reasoning": "r"}),
        ("both", {"content": "a", "reasoning_content": "r", "reasoning": "r"}),
        ("none", {"content": "a"}),
        ("inline", {"content": "<think>\nr\n</think>\n\na"}),
    ],
)
def test_c06_reasoning_goes_by_the_name_that_is_set(field, shown):
    made = message(Reasoning("r"), Text("a"), settings=Settings(reasoning_field=field))
    assert made == {"role": "assistant", "refusal": None, **shown}


def test_c12_the_finish_is_that_of_the_whole_calls():
    def finish(*parts, reason):
        return whole(Turn(parts, reason))["choices"][0]["finish_reason"]

    cut = Call("f", '{"a', complete=False, valid=False)
    assert finish(Call("f"), reason="stop") == "tool_calls"
    assert finish(Call("f"), reason="length") == "length"
    assert finish(cut, reason="tool_calls") == "stop"
    assert finish(reason="filter") == "content_filter"


def test_c22_a_cut_call_is_left_out_and_a_bad_one_is_not():
    cut = Call("f", '{"a', complete=False, valid=False, missing='":1}')
    assert "tool_calls" not in message(cut, finish="length")
    (call,) = whole(Turn((Call("g", "cd /tmp", valid=False), cut), "length"))["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "g", "arguments": "cd /tmp"}


def test_c10_ids_are_new_in_the_conversation():
    request = Request(messages=(Message("assistant", (Call("f", id="old"),)),))
    calls = message(Call("f", id="old"), Call("f", id="new"), request=request)["tool_calls"]
    assert [call["id"] for call in calls] == ["made", "new"]


def test_c16_a_choice_for_each_turn():
    made = whole(Turn((Text("a"),), usage=Usage(5, 1)), Turn((Text("b"),), "length", usage=Usage(5, 2)))
    assert [(c["index"], c["message"]["content"], c["finish_reason"]) for c in made["choices"]] == [
        (0, "a", "stop"),
        (1, "b", "length"),
    ]
    assert made["usage"]["total_tokens"] == 8


def test_c17_log_probabilities():
    made = whole(Turn((Text("a"),)), logprobs=[[TokenLogprob("a", -0.5)]])
    assert made["choices"][0]["logprobs"]["content"] == [
        {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
    ]


def test_c25_an_old_client_gets_its_old_form():
    made = whole(Turn((Call("f", "{}"), Call("g")), "tool_calls"), settings=Settings(functions=True))["choices"][0]
    assert made["message"]["function_call"] == {"name": "f", "arguments": "{}"}
    assert "tool_calls" not in made["message"]
    assert made["finish_reason"] == "function_call"


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ('{"input": "ls"}', {"type": "custom", "custom": {"name": "sh", "input": "ls"}}),
        ('{"input": 3}', {"type": "function", "function": {"name": "sh", "arguments": '{"input": 3}'}}),
        ("ls", {"type": "function", "function": {"name": "sh", "arguments": "ls"}}),
    ],
)
def test_c31_a_custom_call_has_its_free_text(arguments, call):
    request = Request(tools=(Tool("sh", parameters=FREE_TEXT, kind="custom"),))
    made = whole(Turn((Call("sh", arguments),)), request=request)
    assert made["choices"][0]["message"]["tool_calls"] == [{"id": "made", **call}]


def test_further_facts_ride_along_but_hide_nothing():
    made = whole(Turn((Text("a"),), stop="END"), extra={"timings": {"a": 1}, "id": "forged"})
    assert (made["timings"], made["id"]) == ({"a": 1}, "chatcmpl-1")
    assert made["choices"][0]["stop_reason"] == "END"


@pytest.mark.parametrize(
    ("turn", "cls"),
    [
        (Turn((Text("a"),), "error", error=Broken("x")), Broken),
        (Turn((Text("a"),), "error"), Broken),
        (Turn((), "cancelled"), Cancelled),
    ],
)
def test_c21_a_failed_turn_has_no_good_looking_answer(turn, cls):
    with pytest.raises(cls):
        whole(turn)


def test_s02_half_characters_are_replaced():
    made = message(Reasoning("\ud83d"), Text("a\ud83d"), Call("f", '{"a": "\ude00"}'))
    assert made["content"] == "a\ufffd"
    assert made["reasoning_content"] == "\ufffd"
    assert made["tool_calls"][0]["function"]["arguments"] == '{"a": "\ufffd"}'
