from __future__ import annotations

import json

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Message, Reasoning, Text, Tool
from dragoman.protocols.messages_api import Settings, read_request

HI = [{"role": "user", "content": "hi"}]
TOOL = {"name": "f", "input_schema": {"type": "object"}, "eager_input_streaming": True}


def read(defaults=None, **fields):
    return read_request({"model": "m", "max_tokens": 9, "messages": HI, **fields}, defaults)


def test_m17_a_plain_request():
    request, settings = read()
    assert (request.model, request.limit, request.choice, request.n) == ("m", 9, "none", 1)
    assert request.messages == (Message("user", (Text("hi"),)),)
    assert settings == Settings()


def test_m17_a_missing_limit_is_no_limit():
    assert read(max_tokens=None)[0].limit is None


def test_m10_as_one_agent_sends_it():
    """Everything that a coding agent's request holds, and nothing of it fails."""
    data = {
        "stream": True,
        "max_tokens": 32000,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: a"}, {"type": "text", "text": "You code."}],
        "messages": [*HI, {"role": "system", "content": "Be careful."}],
        "tools": [{"name": "Bash", "description": "Runs.", "input_schema": {"type": "object"}}],
        "thinking": {"type": "adaptive", "display": "updates"},
        "output_config": {"effort": "high"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "metadata": {"user_id": json.dumps({"device": "x"})},
        "service_tier": "auto",
        "betas": ["interleaved-thinking-2025-05-14"],
        "container": None,
        "diagnostics": {},
    }
    request, settings = read(**data)
    assert [message.role for message in request.messages] == ["system", "user", "system"]
    assert (request.thinking, request.choice, request.tools[0].name) == ("high", "auto", "Bash")
    assert (settings.stream, settings.thinking, settings.ignored) == (True, "full", ())


def test_m22_stop_strings_and_sampling():
    request, _ = read(stop_sequences=["a", "", "b", "c", "d", "e"], top_k=5, temperature=0.5, top_p=0.9, seed=1)
    assert request.stop == ("a", "b", "c", "d", "e")
    assert request.sampling == {"top_k": 5, "temperature": 0.5, "top_p": 0.9, "seed": 1}


@pytest.mark.parametrize(
    "fields",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}},
        {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
    ],
)
def test_m20_the_answers_schema(fields):
    assert read(**fields)[0].schema == {"type": "object"}


def test_m19_tools_that_want_their_pieces_get_them_unless_the_server_holds_all():
    assert read(tools=[TOOL])[0].tools == (Tool("f", parameters={"type": "object"}),)
    assert read(tools=[TOOL])[1].eager == {"f"}
    assert read(Settings(tool_arguments="buffered"), tools=[TOOL])[1].eager == frozenset()


def test_m19_what_is_left_out_is_told():
    settings = read(tools=[TOOL, {"type": "bash_20250124", "name": "bash"}], thinking={"type": "deep"})[1]
    assert settings.ignored == ("thinking.type", "tools[1]")


def test_m21_a_last_message_of_the_assistant_is_the_beginning_of_the_answer():
    begun = {"role": "assistant", "content": "The answer is ("}
    request, _ = read(messages=[*HI, begun])
    assert request.continue_last
    assert request.messages[-1] == Message("assistant", (Text("The answer is ("),))
    assert not read()[0].continue_last
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ""}]}
    assert read(messages=[*HI, thought])[0].messages[-1].parts == (Reasoning("hm"),)


def test_m21_a_call_cannot_be_continued():
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
    with pytest.raises(RequestError, match="tool_result"):
        read(messages=[*HI, use])


def test_the_servers_own_settings_stay():
    _, settings = read(Settings(key=b"k", stats=True))
    assert (settings.key, settings.stats) == (b"k", True)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"stop_sequences": "END"}, "stop_sequences"),
        ({"stop_sequences": [3]}, "stop_sequences[0]"),
        ({"temperature": 9}, "temperature"),
        ({"messages": "hi"}, "messages"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"mcp_servers": [{"type": "url"}]}, "mcp_servers"),
        ({"system": 3}, "system"),
    ],
)
def test_m17_what_cannot_be_is_refused_by_name(fields, param):
    with pytest.raises(RequestError) as caught:
        read(**fields)
    assert caught.value.param == param


def test_mcp_servers_are_not_offered():
    with pytest.raises(UnsupportedFeature):
        read(mcp_servers=[{"type": "url", "url": "http://x"}])
    assert read(mcp_servers=[])[0].model == "m"


@pytest.mark.parametrize("data", [[], "x", None])
def test_a_request_is_an_object(data):
    with pytest.raises(RequestError, match="JSON object"):
        read_request(data)
