from __future__ import annotations

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Call, Media, Reasoning, Result, Text
from dragoman.protocols.fields import Fields
from dragoman.protocols.messages_api import sign
from dragoman.protocols.messages_api_blocks import read_blocks

KEY = b"key"
PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBO"}


def read(*blocks):
    return list(read_blocks(Fields({"content": list(blocks)}, "messages[0]"), "content", KEY))


def test_m17_a_string_is_one_text():
    assert list(read_blocks(Fields({"content": "hi"}), "content", KEY)) == [Text("hi")]
    assert list(read_blocks(Fields({"content": ""}), "content", KEY)) == []
    assert read("hi", {"type": "text", "text": "there", "cache_control": {"type": "ephemeral"}}) == [
        Text("hi"),
        Text("there"),
    ]


@pytest.mark.parametrize(
    ("source", "media"),
    [
        (PIXEL, Media("image", "data:image/png;base64,iVBO", "image/png")),
        ({"type": "url", "url": "http://x/y.png"}, Media("image", "http://x/y.png")),
    ],
)
def test_m17_images(source, media):
    assert read({"type": "image", "source": source}) == [media]


@pytest.mark.parametrize(
    ("block", "parts"),
    [
        (
            {"type": "document", "title": "T", "context": "C", "source": {"type": "text", "data": "hi"}},
            [Text("T\nC"), Text("hi")],
        ),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "a"}]}}, [Text("a")]),
        ({"type": "document", "source": {"type": "content", "content": "a"}}, [Text("a")]),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVB"}},
            [Media("file", "data:application/pdf;base64,JVB", "application/pdf")],
        ),
        (
            {"type": "search_result", "title": "T", "source": "S", "content": [{"type": "text", "text": "a"}]},
            [Text("T\nS"), Text("a")],
        ),
        ({"type": "tool_reference", "tool_name": "f"}, [Text("The tool f is available.")]),
    ],
)
def test_m17_documents_and_search_results(block, parts):
    assert read(block) == parts


def test_m06_thoughts_come_back_with_any_signature_or_none():
    for signature in (sign("hm", KEY), "foreign", "", None):
        assert read({"type": "thinking", "thinking": "hm", "signature": signature}) == [
            Reasoning("hm", signature or ""),
        ]


def test_m06_a_thought_that_was_omitted_is_known_again():
    signature = sign("hm", KEY, carry=True)
    assert read({"type": "thinking", "thinking": "", "signature": signature}) == [Reasoning("hm", signature)]
    assert read({"type": "redacted_thinking", "data": signature}) == [Reasoning("hm", signature)]
    assert read({"type": "thinking", "thinking": "", "signature": "foreign"}) == []
    assert read({"type": "redacted_thinking", "data": "foreign"}) == []


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ({"a": "é"}, Call("f", '{"a":"é"}', "toolu_1")),
        ({}, Call("f", "{}", "toolu_1")),
        (None, Call("f", "{}", "toolu_1")),
        ('{"a": 1}', Call("f", '{"a": 1}', "toolu_1")),
        ('{"a', Call("f", '{"a', "toolu_1", valid=False)),
    ],
)
def test_m17_calls(given, call):
    assert read({"type": "tool_use", "id": "toolu_1", "name": "f", "input": given}) == [call]


def test_m17_results_with_text_and_images():
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a"}]}
    assert read(block) == [Result("t", (Text("a"),))]
    block["content"].append({"type": "image", "source": PIXEL})
    assert read(block)[0].parts == (Text("a"), Media("image", "data:image/png;base64,iVBO", "image/png"))
    assert read({"type": "tool_result", "tool_use_id": "t", "content": "a"}) == [Result("t", (Text("a"),))]
    assert read({"type": "tool_result", "tool_use_id": "t"}) == [Result("t")]


@pytest.mark.parametrize(
    ("content", "text"),
    [("no such file", "Error: no such file"), ("Error: no", "Error: no"), (None, "Error"), ("", "Error")],
)
def test_m18_an_error_is_visible_in_the_text(content, text):
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": True}
    assert read(block) == [Result("t", (Text(text),), error=True)]


def test_m17_hosted_tools_in_the_history_are_calls_and_results():
    found = {"type": "web_search_result", "url": "http://x", "title": "T", "encrypted_content": "secret"}
    call, result = read(
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]},
    )
    assert call == Call("web_search", '{"query":"q"}', "s")
    (part,) = result.parts
    assert result.id == "s"
    assert "http://x" in part.text
    assert "secret" not in part.text
    failed = {"type": "web_search_tool_result", "tool_use_id": "s", "content": {"error_code": "unavailable"}}
    assert read(failed) == [Result("s", (Text('{"error_code":"unavailable"}'),))]
    assert read({"type": "mcp_tool_result", "tool_use_id": "s", "content": "a"}) == [Result("s", (Text("a"),))]


@pytest.mark.parametrize(
    ("block", "param"),
    [
        (3, "messages[0].content[0]"),
        ({}, "messages[0].content[0].type"),
        ({"type": "video"}, "messages[0].content[0].type"),
        ({"type": "text"}, "messages[0].content[0].text"),
        ({"type": "text", "text": 3}, "messages[0].content[0].text"),
        ({"type": "image"}, "messages[0].content[0].source.type"),
        ({"type": "image", "source": {"type": "base64", "media_type": "x"}}, "messages[0].content[0].source.data"),
        ({"type": "tool_use", "id": "t"}, "messages[0].content[0].name"),
        ({"type": "tool_use", "id": "t", "name": "f", "input": [1]}, "messages[0].content[0].input"),
        ({"type": "tool_result", "content": "a"}, "messages[0].content[0].tool_use_id"),
        ({"type": "tool_result", "tool_use_id": "t", "content": [3]}, "messages[0].content[0].content[0]"),
    ],
)
def test_m17_what_cannot_be_read_is_named(block, param):
    with pytest.raises(RequestError) as caught:
        read(block)
    assert caught.value.param == param


@pytest.mark.parametrize(
    "block", [{"type": "image", "source": {"type": "file", "file_id": "f"}}, {"type": "container_upload"}]
)
def test_m17_files_of_the_service_are_not_offered(block):
    with pytest.raises(UnsupportedFeature):
        read(block)


def test_m17_content_is_a_string_or_a_list():
    with pytest.raises(RequestError) as caught:
        list(read_blocks(Fields({"content": {"a": 1}}), "content", KEY))
    assert caught.value.param == "content"
