from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.errors import RequestError
from dragoman.messages import Message, Request, Text
from dragoman.protocols.responses import Settings, read_request

TOOL = {"type": "function", "name": "f", "parameters": {"type": "object"}}


def read(defaults=None, **data):
    return read_request({"model": "m", "input": "Hi", **data}, defaults)


def request(**data):
    return read(**data)[0]


def settings(**data):
    return read(**data)[1]


def test_a_plain_request():
    assert request() == Request("m", (Message("user", (Text("Hi"),)),), choice="none")
    told = settings()
    assert (told.stream, told.store, told.background, told.summary, told.sealed) == (False, True, False, False, False)


def test_r23_forms_of_text():
    assert request(text={"format": {"type": "text"}}).schema is None
    assert request(text={"format": {"type": "json_object"}}).schema == {}
    form = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}
    asked, told = read(text={"format": form, "verbosity": "low"})
    assert asked.schema == {"type": "object"}
    assert told.echo["text"] == {"format": {**form, "description": None}, "verbosity": "low"}
    nested = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    assert request(text={"format": nested}).schema == {"type": "object"}


def test_r24_limits_and_sampling():
    asked = request(max_output_tokens=5, temperature=0.5, top_p=0.9, parallel_tool_calls=False, seed=3)
    assert (asked.limit, asked.parallel) == (5, False)
    assert asked.sampling == {"temperature": 0.5, "top_p": 0.9, "seed": 3}
    assert request(max_output_tokens=-1).limit is None


def test_r11_no_limit_is_no_limit():
    assert request().limit is None


@pytest.mark.parametrize(
    ("data", "logprobs"),
    [
        ({}, None),
        ({"top_logprobs": 2}, 2),
        ({"top_logprobs": 0}, None),
        ({"include": ["message.output_text.logprobs"]}, 0),
    ],
)
def test_r24_log_probabilities(data, logprobs):
    assert request(**data).logprobs == logprobs


@pytest.mark.parametrize("key", ["summary", "generate_summary"])
def test_r10_a_summary_is_asked_for(key):
    assert settings(reasoning={key: "auto"}).summary
    assert not settings(reasoning={key: None}).summary
    assert settings(reasoning={key: "auto"}).echo["reasoning"] == {"effort": None, "summary": "auto"}


def test_r10_encrypted_content_is_asked_for():
    assert settings(include=["reasoning.encrypted_content"]).sealed


@pytest.mark.parametrize(("effort", "thinking"), [("none", False), ("low", "low"), ("xhigh", "high"), (None, None)])
def test_r24_effort(effort, thinking):
    assert request(reasoning={"effort": effort}).thinking == thinking


def test_r14_the_echo_has_every_key():
    told = settings(tools=[TOOL], tool_choice="required", metadata={"a": "b"}, instructions="Be.", user="u")
    assert told.echo == {
        "previous_response_id": None,
        "instructions": "Be.",
        "tools": [{**TOOL, "description": None, "strict": False}],
        "tool_choice": "required",
        "truncation": "disabled",
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "top_logprobs": 0,
        "temperature": 1.0,
        "reasoning": {"effort": None, "summary": None},
        "max_output_tokens": None,
        "max_tool_calls": None,
        "store": True,
        "background": False,
        "service_tier": "default",
        "metadata": {"a": "b"},
        "safety_identifier": None,
        "prompt_cache_key": None,
        "user": "u",
    }


def test_r14_allowed_tools_are_echoed_with_their_mode():
    choice = {"type": "allowed_tools", "tools": [{"type": "function", "name": "f"}]}
    assert settings(tools=[TOOL], tool_choice=choice).echo["tool_choice"] == {"mode": "auto", **choice}


def test_r25_store_and_r28_background():
    assert not settings(store=False).store
    assert settings(background=True).background
    assert settings(previous_response_id="resp_1").previous == "resp_1"
    with pytest.raises(RequestError) as caught:
        read(background=True, store=False)
    assert caught.value.param == "background"


def test_r27_truncation():
    assert settings(truncation="auto").truncation == "auto"
    assert settings().truncation == "disabled"


def test_r29_and_s9_unknown_fields_are_ignored():
    told = settings(
        stream_options={"include_obfuscation": True},
        client_metadata={},
        prompt_cache_key="k",
        include=["x.y"],
        store=False,
    )
    assert told.ignored == ("include[0]",)


def test_s9_what_was_not_understood_is_told():
    told = settings(
        tools=[{"type": "web_search"}],
        reasoning={"effort": "?"},
        input=[{"type": "x"}, {"role": "user", "content": "a"}],
    )
    assert told.ignored == ("tools[0]", "reasoning", "input[0]")


def test_the_servers_settings_are_the_defaults():
    defaults = Settings(tool_arguments="buffered", reasoning_field="none", responses_names="open-responses")
    told = read(defaults)[1]
    assert (told.tool_arguments, told.reasoning_field, told.responses_names) == ("buffered", "none", "open-responses")
    assert read(defaults, tool_arguments="live")[1].tool_arguments == "live"


@pytest.mark.parametrize(
    ("data", "param"),
    [
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"max_output_tokens": "many"}, "max_output_tokens"),
        ({"temperature": 9}, "temperature"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"text": {"format": {"type": "json_schema", "schema": 3}}}, "text.format.schema"),
        ({"truncation": "some"}, "truncation"),
        ({"stream": "yes"}, "stream"),
        ({"previous_response_id": 3}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"metadata": []}, "metadata"),
        ({"top_logprobs": 21}, "top_logprobs"),
        ({"max_tool_calls": 0}, "max_tool_calls"),
        ({"tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    ],
)
def test_r30_what_is_wrong_is_named(data, param):
    with pytest.raises(RequestError) as caught:
        read(**data)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_r30_a_request_is_an_object():
    with pytest.raises(RequestError, match="JSON object"):
        read_request(["Hi"])


FIELDS = re.findall(
    r"\w+",
    """
    input instructions type role content text phase summary encrypted_content call_id id name namespace arguments output
    action image_url file_data file_id input_audio data tools parameters format syntax definition description strict
    tool_choice mode reasoning effort include truncation store background previous_response_id max_output_tokens schema
    top_logprobs temperature metadata stream json_schema function url
    """,
)
WORDS = ("user", "assistant", "message", "reasoning", "function_call", "function_call_output", "function", "custom",
         "namespace", "allowed_tools", "grammar", "lark", "json_schema", "input_text", "input_image", "f", "", "\ud800")  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 2**64), st.floats(allow_nan=False), st.sampled_from(WORDS))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)


@examples(4)
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6))
def test_r30_whatever_json_comes_it_is_read_or_refused(data):
    with suppress(RequestError):
        read_request(data)
    with suppress(RequestError):
        read_request({"input": "Hi", **data})
