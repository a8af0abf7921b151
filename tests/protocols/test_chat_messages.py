from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Call, Media, Message, Reasoning, Result, Text
from dragoman.protocols.chat_messages import is_object, read_messages, used_ids
from dragoman.protocols.fields import Fields

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}


def read(*messages):
    return read_messages(Fields({"messages": list(messages)}))


def parts(**message):
    return read(message)[0].parts


def refused(*messages) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read(*messages)
    assert caught.value.param in caught.value.message
    return caught.value


@pytest.mark.parametrize("role", ["system", "developer", "user"])
def test_c24_roles(role):
    assert read({"role": role, "content": "x"}) == (Message("user" if role == "user" else "system", (Text("x"),)),)


def test_c24_system_messages_may_stand_anywhere():
    roles = ["system", "user", "system", "user", "user", "assistant", "developer"]
    assert [m.role for m in read(*({"role": role, "content": "x"} for role in roles))] == [
        role.replace("developer", "system") for role in roles
    ]


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_c24_content_may_be_parts_in_every_role(role):
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert parts(role=role, content=content) == (Text("a"), Text("b"))
    (result,) = parts(role="tool", tool_call_id="x", content=content)
    assert result.parts == (Text("a"), Text("b"))


@pytest.mark.parametrize(
    ("part", "read_as"),
    [
        ({"type": "text", "text": ""}, Text("")),
        ({"type": "input_text", "text": "a"}, Text("a")),
        ("bare", Text("bare")),
        ({"type": "refusal", "refusal": "no"}, Text("no", "refusal")),
        (
            {"type": "image_url", "image_url": {"url": "http://x/y.png", "detail": "low"}},
            Media("image", "http://x/y.png"),
        ),
        ({"type": "image_url", "image_url": "http://x"}, Media("image", "http://x")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            Media("image", "data:image/png;base64,AA==", "image/png"),
        ),
        ({"type": "video_url", "video_url": {"url": "http://v"}}, Media("video", "http://v")),
        (
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}},
            Media("audio", "data:audio/mp3;base64,AA", "audio/mp3"),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}},
            Media("file", "data:application/pdf;base64,AA", "application/pdf", "a.pdf"),
        ),
        (
            {"type": "file", "file": {"file_data": "AA"}},
            Media("file", "data:application/octet-stream;base64,AA", "application/octet-stream"),
        ),
        ({"type": "thinking", "thinking": "hm"}, Reasoning("hm")),
        (
            {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"type": "text", "text": "m"}]},
            Reasoning("hm"),
        ),
        ({"type": "reasoning", "text": "hm"}, Reasoning("hm")),
    ],
)
def test_c24_parts(part, read_as):
    assert parts(role="user", content=[part]) == (read_as,)


@pytest.mark.parametrize(
    ("message", "param", "words"),
    [
        ("hi", "messages[0]", "must be an object; it is a string"),
        ({"content": "x"}, "messages[0].role", "is missing"),
        (
            {"role": "model", "content": "x"},
            "messages[0].role",
            "developer, user, assistant, tool, function; it is 'model'",
        ),
        ({"role": 3, "content": "x"}, "messages[0].role", "must be a string"),
        ({"role": "user"}, "messages[0].content", "is missing"),
        ({"role": "user", "content": None}, "messages[0].content", "is missing"),
        ({"role": "user", "content": 3}, "messages[0].content", "a string or a list of parts; it is an integer"),
        ({"role": "user", "content": ["a", 1]}, "messages[0].content[1]", "an object with a type"),
        ({"role": "user", "content": ["a", {"type": "tool_use"}]}, "messages[0].content[1].type", "it is 'tool_use'"),
        ({"role": "user", "content": [{}]}, "messages[0].content[0].type", "is missing"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text", "is missing"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
            "messages[0].content[0].image_url.url",
            "is missing",
        ),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]},
            "messages[0].content[0].file.file_id",
            "file_data",
        ),
        ({"role": "assistant", "tool_calls": {}}, "messages[0].tool_calls", "must be an array"),
        ({"role": "assistant", "tool_calls": [{}]}, "messages[0].tool_calls[0].function", "is missing"),
        (
            {"role": "assistant", "tool_calls": [{"function": {}}]},
            "messages[0].tool_calls[0].function.name",
            "is missing",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": [1]}}]},
            "messages[0].tool_calls[0].function.arguments",
            "must be a string of JSON; it is an array",
        ),
        ({"role": "tool", "tool_call_id": 1, "content": "x"}, "messages[0].tool_call_id", "must be a string"),
    ],
)
def test_c24_what_cannot_be_read_is_named(message, param, words):
    error = refused(message)
    assert error.param == param
    assert words in error.message


def test_the_place_counts_messages():
    assert refused({"role": "user", "content": "a"}, {"role": "x", "content": "b"}).param == "messages[1].role"


@pytest.mark.parametrize("content", ["", None, [], "absent"])
def test_c29_content_may_be_missing_beside_calls(content):
    message = {"role": "assistant", "tool_calls": [CALL], "content": content}
    if content == "absent":
        del message["content"]
    assert parts(**message) == (Call("f", '{"a": 1}', "c1"),)


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "r"},
        {"reasoning": "r"},
        {"reasoning_text": "r"},
        {"thinking": "r"},
        {"reasoning_content": "", "reasoning": "r"},
        {"reasoning_content": "r", "reasoning": "r"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "r"}]},
        {
            "reasoning_details": [
                {"type": "reasoning.summary", "summary": "r"},
                {"type": "reasoning.encrypted", "data": "x"},
            ]
        },
    ],
)
def test_c29_earlier_reasoning_under_all_its_names(fields):
    assert parts(role="assistant", content="a", **fields) == (Reasoning("r"), Text("a"))


@pytest.mark.parametrize(
    "fields", [{"reasoning": {}}, {"reasoning_details": None}, {"reasoning_details": "x"}, {"reasoning": None}]
)
def test_c29_no_reasoning(fields):
    assert parts(role="assistant", content="a", **fields) == (Text("a"),)


@pytest.mark.parametrize(
    ("arguments", "read_as", "valid"),
    [
        ('{"a": 1}', '{"a": 1}', True),
        ({"a": 1}, '{"a":1}', True),
        ("", "{}", True),
        (None, "{}", True),
        ('{"a": ', '{"a": ', False),
        ("[1]", "[1]", False),
    ],
)
def test_history_arguments_are_taken_as_they_are(arguments, read_as, valid):
    (call,) = parts(role="assistant", tool_calls=[{"id": "x", "function": {"name": "f", "arguments": arguments}}])
    assert (call.arguments, call.valid) == (read_as, valid)


def test_an_earlier_refusal():
    assert parts(role="assistant", content=None, refusal="no") == (Text("no", "refusal"),)


def test_c25_an_old_function_call():
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    messages = read(call, {"role": "function", "name": "f", "content": "1"})
    assert messages == (Message("assistant", (Call("f"),)), Message("tool", (Result("", (Text("1"),), "f"),)))


def test_c31_a_custom_call():
    call = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": 'a "b"'}}
    assert parts(role="assistant", tool_calls=[call]) == (Call("sh", '{"input":"a \\"b\\""}', "c"),)


def test_c30_results_belong_to_calls_by_id_in_any_order():
    two = [{**CALL, "id": "a"}, {**CALL, "id": "b", "function": {"name": "g", "arguments": "{}"}}]
    messages = read(
        {"role": "assistant", "tool_calls": two},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "tool", "tool_call_id": "a", "content": None},
        {"role": "tool", "tool_call_id": "unknown", "content": "3", "name": "h"},
    )
    assert [message.parts[0] for message in messages[1:]] == [
        Result("b", (Text("2"),), "g"),
        Result("a", (), "f"),
        Result("unknown", (Text("3"),), "h"),
    ]


def test_c30_a_result_without_id_takes_the_first_open_call():
    two = [{**CALL, "id": "a"}, {**CALL, "id": "b"}]
    messages = read({"role": "assistant", "tool_calls": two}, *[{"role": "tool", "content": "x"}] * 3)
    assert [message.parts[0].id for message in messages[1:]] == ["a", "b", ""]


def test_used_ids_are_those_of_all_calls():
    messages = read({"role": "assistant", "tool_calls": [CALL]}, {"role": "assistant", "function_call": {"name": "f"}})
    assert used_ids(messages) == {"c1"}


@pytest.mark.parametrize(
    ("text", "is_one"), [("{}", True), (' {"a": [1]} ', True), ("[]", False), ("", False), ("{" * 99999, False)]
)
def test_is_object(text, is_one):
    assert is_object(text) is is_one
