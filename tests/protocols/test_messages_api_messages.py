from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Call, Message, Result, Text
from dragoman.protocols.fields import Fields
from dragoman.protocols.messages_api_messages import read_messages

HI = {"role": "user", "content": "hi"}
USER = Message("user", (Text("hi"),))


def read(*messages, system=None):
    return list(read_messages(Fields({"messages": list(messages), "system": system}), b""))


def use(call_id, name="f"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(call_id, text="ok", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}


@pytest.mark.parametrize(
    ("system", "texts"),
    [
        ("be brief", ["be brief"]),
        (
            [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "b"}],
            ["a", "b"],
        ),
        ([{"type": "text", "text": "x-anthropic-billing-header: v=1;"}, {"type": "text", "text": "b"}], ["b"]),
        ("", None),
        ([], None),
        (None, None),
    ],
)
def test_m17_the_system_prompt_is_text_or_blocks(system, texts):
    first = [] if texts is None else [Message("system", tuple(map(Text, texts)))]
    assert read(HI, system=system) == [*first, USER]


def test_m17_a_system_message_may_stand_in_the_middle():
    found = read(HI, {"role": "system", "content": "now"}, HI, system="first")
    assert [message.role for message in found] == ["system", "user", "system", "user"]


def test_m18_results_come_first_then_the_text_of_the_user():
    calls = {"role": "assistant", "content": [{"type": "text", "text": "ok"}, use("a", "f"), use("b", "g")]}
    answers = {"role": "user", "content": [{"type": "text", "text": "go on"}, result("b", "2"), result("a", "1")]}
    assert read(HI, calls, answers) == [
        USER,
        Message("assistant", (Text("ok"), Call("f", "{}", "a"), Call("g", "{}", "b"))),
        Message("tool", (Result("b", (Text("2"),), "g"),)),
        Message("tool", (Result("a", (Text("1"),), "f"),)),
        Message("user", (Text("go on"),)),
    ]


def test_m18_results_alone_are_no_message_of_the_user():
    assert [message.role for message in read(HI, {"role": "user", "content": [result("x")]})] == ["user", "tool"]


def test_m17_results_of_hosted_tools_stand_behind_their_calls():
    said = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "text", "text": "found"},
    ]
    found = read(HI, {"role": "assistant", "content": said}, HI)
    assert [message.role for message in found] == ["user", "assistant", "tool", "assistant", "user"]
    assert found[2].parts[0].name == "web_search"


def test_m21_an_empty_beginning_of_the_answer_is_none():
    assert read(HI, {"role": "assistant", "content": ""}) == [USER]
    assert read(HI, {"role": "assistant", "content": []}, HI) == [USER, Message("assistant"), USER]


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ([3], "messages[0]"),
        ([{"content": "hi"}], "messages[0].role"),
        ([{"role": "tool", "content": "hi"}], "messages[0].role"),
        ([HI, {"role": "user"}], "messages[1].content"),
        ([{"role": "user", "content": 3}], "messages[0].content"),
    ],
)
def test_m17_what_cannot_be_read_is_named(messages, param):
    with pytest.raises(RequestError) as caught:
        read(*messages)
    assert caught.value.param == param
