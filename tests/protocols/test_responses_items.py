from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Call, Media, Message, Reasoning, Result, Text
from dragoman.protocols.fields import Fields
from dragoman.protocols.responses_items import item_list, read_items
from dragoman.protocols.responses_tools import Offer
from dragoman.protocols.seal import seal


def read(*items, instructions=None, offer=None):
    given = items[0] if len(items) == 1 and isinstance(items[0], str) else list(items)
    return list(read_items(Fields({"input": given, "instructions": instructions}), offer or Offer())[0])


def user(*parts):
    return Message("user", parts)


def said(*parts):
    return Message("assistant", parts)


def test_r19_a_string_is_the_users_message():
    assert read("Hi") == [user(Text("Hi"))]


@pytest.mark.parametrize(
    ("role", "read_as"),
    [("user", "user"), ("system", "system"), ("developer", "system"), ("assistant", "assistant")],
)
def test_r19_roles(role, read_as):
    assert read({"role": role, "content": "a"}) == [Message(read_as, (Text("a"),))]
    assert read({"type": "message", "role": role, "content": [{"type": "input_text", "text": "a"}]}) == [
        Message(read_as, (Text("a"),))
    ]


@pytest.mark.parametrize(
    ("part", "read_as"),
    [
        ({"type": "input_text", "text": "a"}, Text("a")),
        ({"type": "output_text", "text": "a", "annotations": []}, Text("a")),
        ({"type": "text", "text": "a"}, Text("a")),
        ("a", Text("a")),
        ({"type": "refusal", "refusal": "no"}, Text("no", "refusal")),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"},
            Media("image", "data:image/png;base64,AA", "image/png"),
        ),
        ({"type": "input_image", "image_url": {"url": "http://x/y.png"}}, Media("image", "http://x/y.png")),
        (
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"},
            Media("file", "data:application/pdf;base64,AA", "application/pdf", "a.pdf"),
        ),
        ({"type": "input_file", "file_url": "https://x/a.pdf"}, Media("file", "https://x/a.pdf")),
        (
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}},
            Media("audio", "data:audio/mp3;base64,AA", "audio/mp3"),
        ),
    ],
)
def test_r19_parts(part, read_as):
    assert read({"role": "user", "content": [part]}) == [user(read_as)]


def test_r20_instructions_come_first():
    assert read("Hi", instructions="Be kind.") == [Message("system", (Text("Be kind."),)), user(Text("Hi"))]
    listed = [{"type": "message", "content": [{"type": "input_text", "text": "Be kind."}]}]
    assert read("Hi", instructions=listed)[0] == Message("system", (Text("Be kind."),))


def test_r19_what_the_assistant_said_in_a_row_is_one_message():
    items = (
        {"role": "user", "content": "Weather?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a":1}'},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": ""},
        {"type": "function_call_output", "call_id": "c2", "output": "two"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "one"}]},
        {"role": "assistant", "phase": "final_answer", "content": "Warm."},
    )
    assert read(*items) == [
        user(Text("Weather?")),
        said(Reasoning("Hm."), Text("I look.", "commentary"), Call("f", '{"a":1}', "c1"), Call("g", "{}", "c2")),
        Message("tool", (Result("c2", (Text("two"),), "g"),)),
        Message("tool", (Result("c1", (Text("one"),), "f"),)),
        said(Text("Warm.", "final")),
    ]


def test_r19_a_custom_call_and_its_output():
    items = (
        {"type": "custom_tool_call", "call_id": "c1", "name": "sh", "input": 'say "a"'},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"},
    )
    assert read(*items) == [
        said(Call("sh", '{"input":"say \\"a\\""}', "c1")),
        Message("tool", (Result("c1", (Text("a"),), "sh"),)),
    ]


def test_r19_a_local_shell_call_and_its_output():
    items = (
        {"type": "local_shell_call", "id": "s", "call_id": "c1", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "c1", "output": "a.txt"},
    )
    assert read(*items) == [
        said(Call("local_shell", '{"type":"exec","command":["ls"]}', "c1")),
        Message("tool", (Result("c1", (Text("a.txt"),), "local_shell"),)),
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"content": [{"type": "reasoning_text", "text": "think"}], "summary": [{"type": "summary_text", "text": "no"}]},
        {"summary": [], "encrypted_content": seal("think")},
        {"summary": [{"type": "summary_text", "text": "think"}], "encrypted_content": "gAAA"},
    ],
)
def test_r10_reasoning_is_taken_back_in_every_form(item):
    assert read({"type": "reasoning", **item}) == [said(Reasoning("think"))]


def test_r10_reasoning_that_says_nothing_is_nothing():
    assert read("Hi")[0] in read({"role": "user", "content": "Hi"}, {"type": "reasoning", "summary": []})


def test_r19_unknown_items_are_left_out_and_told():
    listed = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "files", "tools": []}
    items = [{"type": "compaction", "encrypted_content": "x"}, {"role": "user", "content": "Hi"}, listed]
    messages, ignored = read_items(Fields({"input": items}), Offer())
    assert list(messages) == [user(Text("Hi"))]
    assert ignored == ["input[0]", "input[2]"]


CALLED = {"type": "mcp_call", "id": "mcp_1", "server_label": "files", "name": "read", "arguments": '{"path":"a"}'}
ASKED = {**CALLED, "type": "mcp_approval_request", "id": "mcpr_1"}
ANSWERED = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"}


@pytest.mark.parametrize(
    ("facts", "text", "failed"),
    [
        ({"output": "text"}, "text", False),
        ({"output": "", "error": None}, "", False),
        ({"output": None, "error": "no such file"}, "no such file", True),
        ({"error": {"type": "http_error", "code": 404, "message": "gone"}}, "gone", True),
        ({"error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "a"}]}}, "a", True),
        ({"error": {"code": 3}}, '{"code":3}', True),
    ],
)
def test_r19_a_call_at_an_mcp_server_is_a_call_and_its_result(facts, text, failed):
    call, result = read({**CALLED, **facts})
    assert call == said(Call("read", '{"path":"a"}', "mcp_1"))
    assert result == Message("tool", (Result("mcp_1", (Text(text),) if text else (), "read", failed),))


def test_r19_a_call_at_an_mcp_server_without_an_end_has_no_result():
    assert read({**CALLED, "output": None}) == [said(Call("read", '{"path":"a"}', "mcp_1"))]


def test_r19_a_server_of_tools_is_a_namespace_where_one_is_offered():
    offer = Offer(spaces={"files.read": ("files", "read")})
    assert read(CALLED, offer=offer)[0] == said(Call("files.read", '{"path":"a"}', "mcp_1"))


def test_r19_an_approved_call_stands_there_once():
    call, result = read(
        ASKED, {**ANSWERED, "approve": True}, {**CALLED, "approval_request_id": "mcpr_1", "output": "x"}
    )
    assert call == said(Call("read", '{"path":"a"}', "mcpr_1"))
    assert result == Message("tool", (Result("mcpr_1", (Text("x"),), "read"),))


@pytest.mark.parametrize(
    ("reason", "text"),
    [({}, "The user did not allow this call."), ({"reason": "no"}, "The user did not allow this call: no")],
)
def test_r19_a_call_that_was_not_allowed_failed(reason, text):
    call, result = read(ASKED, {**ANSWERED, "approve": False, **reason})
    assert call.parts[0].id == "mcpr_1"
    assert result == Message("tool", (Result("mcpr_1", (Text(text),), "read", error=True),))


def test_r30_a_call_that_was_approved_must_have_been_made():
    with pytest.raises(RequestError, match="cannot be made here") as caught:
        read(ASKED, {**ANSWERED, "approve": True})
    assert caught.value.param == "input[1].approve"


def test_r21_a_call_of_a_namespace_is_known_by_the_offered_name():
    offer = Offer(spaces={"net.ping": ("net", "ping")})
    call = {"type": "function_call", "call_id": "c", "name": "ping", "namespace": "net", "arguments": "{}"}
    assert read(call, offer=offer) == [said(Call("net.ping", "{}", "c"))]


def test_r19_invalid_arguments_are_kept_as_they_are():
    (message,) = read({"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a'})
    assert message.parts == (Call("f", '{"a', "c", valid=False),)


@pytest.mark.parametrize(
    ("data", "param"),
    [
        ({}, "input"),
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": 3}, "input"),
        ({"input": ["Hi"]}, "input[0]"),
        ({"input": [{}]}, "input[0].type"),
        ({"input": [{"role": "robot", "content": ""}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": 3}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [3]}]}, "input[0].content[0]"),
        ({"input": [{"role": "user", "content": [{"type": "x"}]}]}, "input[0].content[0].type"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        ({"input": [{"type": "function_call", "name": "f"}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call", "call_id": "c"}]}, "input[0].name"),
        ({"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": 3}]}, "input[0].arguments"),
        ({"input": [{"type": "function_call_output", "output": ""}]}, "input[0].call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].output"),
    ],
)
def test_r30_what_is_wrong_is_named(data, param):
    with pytest.raises(RequestError) as caught:
        read_items(Fields(data), Offer())
    assert caught.value.param == param
    assert caught.value.status == 400


def test_r25_an_input_as_items():
    assert item_list("Hi") == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    ]
    assert item_list([1]) == [1]
    assert item_list(None) == []


def test_r26_input_items_have_ids_and_their_whole_form():
    items = [
        "Hi",
        {"role": "assistant", "content": "a"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]
    user_, said_, result = item_list([{"role": "user", "content": items[0]}, *items[1:]], "resp_abc")
    assert user_ == {
        "id": "msg_abc8000",
        "type": "message",
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_text", "text": "Hi"}],
    }
    assert said_["content"] == [{"type": "output_text", "annotations": [], "text": "a"}]
    assert (result["id"], result["output"]) == ("item_abc8002", "x")
    assert item_list([{"id": "msg_own", "role": "user", "content": []}], "resp_abc")[0]["id"] == "msg_own"
