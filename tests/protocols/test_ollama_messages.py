from __future__ import annotations

import base64

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Call, Media, Message, Reasoning, Result, Text
from dragoman.protocols.fields import Fields
from dragoman.protocols.ollama_messages import read_messages

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n....").decode()


def read(*messages):
    return read_messages(Fields({"messages": list(messages)}))


def refused(*messages):
    with pytest.raises(RequestError) as caught:
        read(*messages)
    return caught.value.param


def call(name, **arguments):
    return {"function": {"name": name, "arguments": arguments}}


def test_o08_roles_and_texts():
    said = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]
    assert read(*said) == tuple(Message(item["role"], (Text(item["content"]),)) for item in said)
    assert read({"role": "user"}) == (Message("user"),)


@pytest.mark.parametrize(
    ("data", "mime"),
    [
        (PNG, "image/png"),
        ("/9j/4AAQ", "image/jpeg"),
        ("R0lGODlh", "image/gif"),
        ("UklGRgAA", "image/webp"),
        ("AAAA", "image/png"),
    ],
)
def test_o08_images_have_no_prefix(data, mime):
    (message,) = read({"role": "user", "content": "What?", "images": [data]})
    assert message.parts == (Media("image", f"data:{mime};base64,{data}", mime), Text("What?"))


def test_o08_an_image_with_a_prefix_keeps_it():
    (message,) = read({"role": "user", "images": ["data:image/bmp;base64,AAAA"]})
    assert message.parts == (Media("image", "data:image/bmp;base64,AAAA", "image/bmp"),)


@pytest.mark.parametrize("image", ["not base64!", 7, ""])
def test_o08_another_image_is_refused(image):
    assert refused({"role": "user", "images": [image]}) == "messages[0].images[0]"


def test_o08_what_the_assistant_did():
    said = {"role": "assistant", "content": "a", "thinking": "t", "tool_calls": [{**call("f", x=1), "id": "c"}]}
    (message,) = read(said)
    assert message.parts == (Reasoning("t"), Text("a"), Call("f", '{"x":1}', "c"))


def test_o08_arguments_may_be_a_text():
    (message,) = read({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": '{"x": '}}]})
    assert message.parts == (Call("f", '{"x": ', "call_0", valid=False),)


def test_o09_results_without_ids_go_by_name_and_order():
    messages = read(
        {"role": "assistant", "tool_calls": [call("f", x=1), call("g"), call("f", x=2)]},
        {"role": "tool", "content": "G", "tool_name": "g"},
        {"role": "tool", "content": "F1", "tool_name": "f"},
        {"role": "tool", "content": "F2", "tool_name": "f"},
    )
    assert [part.id for part in messages[0].parts] == ["call_0", "call_1", "call_2"]
    assert [message.parts[0] for message in messages[1:]] == [
        Result("call_1", (Text("G"),), "g"),
        Result("call_0", (Text("F1"),), "f"),
        Result("call_2", (Text("F2"),), "f"),
    ]


def test_o09_results_without_a_name_go_by_order():
    messages = read(
        {"role": "assistant", "tool_calls": [call("f"), call("g")]},
        {"role": "tool", "content": "F"},
        {"role": "tool", "content": "G"},
        {"role": "tool", "content": "?"},
    )
    found = [(message.parts[0].id, message.parts[0].name) for message in messages[1:]]
    assert found == [("call_0", "f"), ("call_1", "g"), ("", "")]


def test_o09_an_id_that_no_call_was_given_leaves_it_to_the_name():
    messages = read(
        {"role": "assistant", "tool_calls": [call("f"), call("g")]},
        {"role": "tool", "content": "G", "tool_name": "g", "tool_call_id": "call_2"},
        {"role": "tool", "content": "F", "tool_name": "f", "tool_call_id": "call_1"},
    )
    assert [message.parts[0].id for message in messages[1:]] == ["call_1", "call_0"]
    assert [message.parts[0].name for message in messages[1:]] == ["g", "f"]


def test_o09_an_id_decides():
    messages = read(
        {"role": "assistant", "tool_calls": [{**call("f"), "id": "a"}, {**call("f"), "id": "b"}]},
        {"role": "tool", "content": "B", "tool_name": "f", "tool_call_id": "b"},
        {"role": "tool", "content": "?", "tool_name": "f", "tool_call_id": "z"},
    )
    assert [message.parts[0].id for message in messages[1:]] == ["b", "z"]


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"content": "a"}, "messages[0].role"),
        ({"role": "boss", "content": "a"}, "messages[0].role"),
        ({"role": "user", "content": ["a"]}, "messages[0].content"),
        ({"role": "assistant", "tool_calls": [{}]}, "messages[0].tool_calls[0].function.name"),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": [1]}}]},
         "messages[0].tool_calls[0].function.arguments"),
    ],
)  # fmt: skip
def test_o07_what_is_wrong_is_named(message, param):
    assert refused(message) == param
