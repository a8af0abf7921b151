from __future__ import annotations

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Message, Text
from dragoman.protocols.chat import Settings, read_request
from dragoman.protocols.chat_request import REASONING_FIELDS

USER = {"role": "user", "content": "hi"}


def read(**fields):
    return read_request({"model": "m", "messages": [USER], **fields})


def asked(**fields):
    return read(**fields)[0]


def refused(**fields) -> RequestError:
    with pytest.raises(RequestError) as caught:
        read(**fields)
    assert caught.value.param in caught.value.message
    assert caught.value.code
    assert caught.value.status == 400
    return caught.value


def test_the_least_request():
    request, settings = read()
    assert request.model == "m"
    assert request.messages == (Message("user", (Text("hi"),)),)
    assert (request.tools, request.choice, request.parallel) == ((), "none", True)
    assert (request.limit, request.stop, request.schema, request.thinking) == (None, (), None, None)
    assert (request.n, request.logprobs, request.continue_last) == (1, None, False)
    assert settings == Settings()


@pytest.mark.parametrize("data", [[], "x", None, 3])
def test_a_request_is_an_object(data):
    with pytest.raises(RequestError, match="must be a JSON object"):
        read_request(data)


@pytest.mark.parametrize("fields", [{"messages": []}, {"messages": None}])
def test_messages_must_be_there(fields):
    assert refused(**fields).code == "missing_required_parameter"


def test_s09_unknown_fields_are_ignored():
    assert read(client_metadata={"a": 1}, some_new_thing=[1]) == read()


def test_c32_fields_without_meaning_here_are_ignored():
    fields = {
        "store": True,
        "metadata": {"a": "b"},
        "user": "u",
        "safety_identifier": "s",
        "prompt_cache_key": "k",
        "prompt_cache_retention": "24h",
        "service_tier": "auto",
        "modalities": ["text"],
        "prediction": {"type": "content", "content": "x"},
        "verbosity": "low",
        "moderation": {},
    }
    assert read(**fields) == read()


def test_c32_a_search_that_is_not_done_is_told():
    request, settings = read(web_search_options={})
    assert (request, settings.ignored) == (read()[0], ("web_search_options",))


def test_null_is_absent():
    keys = ["tools", "tool_choice", "stop", "n", "max_tokens", "temperature", "response_format", "stream", "logprobs"]
    keys += ["stream_options", "seed", "logit_bias", "reasoning_effort", "parallel_tool_calls", "chat_template_kwargs"]
    assert read(**dict.fromkeys(keys)) == read()


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"model": 3}, "model", "must be a string; it is an integer"),
        ({"stream": "yes"}, "stream", "must be a boolean; it is a string"),
        ({"n": 0}, "n", "from 1 to 128; it is 0"),
        ({"n": 1.5}, "n", "must be an integer; it is a number"),
        ({"n": True}, "n", "must be an integer; it is a boolean"),
        ({"n": 10**400}, "n", "from 1 to 128"),
        ({"max_tokens": 0}, "max_tokens", "at least 1"),
        ({"max_tokens": -2}, "max_tokens", "at least -1; it is -2"),
        ({"max_completion_tokens": "x"}, "max_completion_tokens", "must be an integer"),
        ({"stop": ["a"] * 5}, "stop", "up to 4 strings; it holds 5"),
        ({"stop": ["a", 1]}, "stop[1]", "must be a string; it is an integer"),
        ({"stop": {}}, "stop", "must be an array; it is an object"),
        ({"stream_options": []}, "stream_options", "must be an object"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage", "must be a boolean"),
        ({"top_logprobs": 2}, "top_logprobs", "needs logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs", "from 0 to 20"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "must be text, json_object or json_schema"),
        ({"response_format": {}}, "response_format.type", "is missing"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", "is missing"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": []}}},
            "response_format.json_schema.schema",
            "must be an object; it is an array",
        ),
        ({"guided_json": "{"}, "guided_json", "must be a JSON schema"),
        ({"guided_json": "[]"}, "guided_json", "must be an object"),
        ({"modalities": ["text", "audio"]}, "modalities[1]", "not offered"),
        ({"guided_regex": "a+"}, "guided_regex", "response_format"),
        ({"structured_outputs": {"choice": ["a"]}}, "structured_outputs.choice", "response_format"),
        ({"chat_template": "{{ x }}"}, "chat_template", "the model's own is used"),
        ({"tool_arguments": "later"}, "tool_arguments", "one of live, buffered; it is 'later'"),
        ({"reasoning_field": "thoughts"}, "reasoning_field", "inline; it is 'thoughts'"),
        ({"continue_final_message": True}, "messages[0].role", "must be assistant"),
        ({"include_reasoning": "no"}, "include_reasoning", "must be a boolean"),
    ],
)
def test_c21_what_is_wrong_is_named_with_its_place(fields, param, words):
    error = refused(**fields)
    assert error.param == param
    assert words in error.message


def test_what_is_legal_but_not_offered_says_so():
    with pytest.raises(UnsupportedFeature):
        read(modalities=["audio"])


def test_c13_streams_and_their_usage():
    settings = read(stream=True, stream_options={"include_usage": True, "include_obfuscation": False})[1]
    assert (settings.stream, settings.include_usage) == (True, True)


@pytest.mark.parametrize(
    ("stop", "read_as"), [("a", ("a",)), (["a", "b"], ("a", "b")), ("", ()), (["", "x"], ("x",)), ([], ())]
)
def test_c19_stop_is_one_or_a_few(stop, read_as):
    assert asked(stop=stop).stop == read_as


@pytest.mark.parametrize(
    ("fields", "schema"),
    [
        ({"response_format": {"type": "text"}}, None),
        ({"response_format": {"type": "json_object"}}, {}),
        ({"response_format": {"type": "json_object", "schema": {"type": "array"}}}, {"type": "array"}),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, {}),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"a": 1}, "strict": True}}}, {"a": 1}),
        ({"json_schema": {"a": 1}}, {"a": 1}),
        ({"guided_json": '{"a": 1}'}, {"a": 1}),
        ({"structured_outputs": {"json": {"a": 1}}}, {"a": 1}),
        ({"response_format": {"type": "text"}, "guided_json": {"a": 1}}, None),
    ],
)
def test_c20_the_form_of_the_answer(fields, schema):
    assert asked(**fields).schema == schema


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"max_tokens": 5}, 5),
        ({"max_tokens": 5, "max_completion_tokens": 7}, 7),
        ({"max_tokens": 5, "max_completion_tokens": None}, 5),
        ({"n_predict": 3}, 3),
        ({"max_tokens": -1}, None),
        ({"max_tokens": 5.0}, 5),
    ],
)
def test_c27_the_newer_limit_wins(fields, limit):
    assert asked(**fields).limit == limit


def test_c17_log_probabilities():
    request, settings = read(logprobs=True, top_logprobs=3)
    assert (request.logprobs, settings.logprobs) == (3, True)
    assert asked(logprobs=True).logprobs == 0
    assert asked(logprobs=False, top_logprobs=0).logprobs is None


def test_c26_calls_one_at_a_time():
    assert asked(parallel_tool_calls=False).parallel is False


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "reasoning_content"),
        ({"reasoning_field": "both"}, "both"),
        ({"include_reasoning": False}, "none"),
        ({"include_reasoning": True}, "reasoning_content"),
        ({"separate_reasoning": False}, "inline"),
        ({"reasoning_format": "none"}, "inline"),
        ({"reasoning_format": "hidden"}, "none"),
        ({"reasoning_format": "deepseek"}, "reasoning_content"),
        ({"reasoning_format": "auto"}, "reasoning_content"),
        ({"reasoning": {"exclude": True}}, "none"),
    ],
)
def test_c06_where_reasoning_goes(fields, field):
    assert read(**fields)[1].reasoning_field == field
    assert field in REASONING_FIELDS


def test_the_servers_own_settings_hold_until_the_request_says_otherwise():
    server = Settings(reasoning_field="reasoning", tool_arguments="buffered", stats=True)
    data = {"messages": [USER]}
    assert read_request(data, server)[1] == server
    settings = read_request({**data, "reasoning_field": "none", "tool_arguments": "live", "stats": False}, server)[1]
    assert (settings.reasoning_field, settings.tool_arguments, settings.stats) == ("none", "live", False)
    assert server == Settings(reasoning_field="reasoning", tool_arguments="buffered", stats=True)


def test_c28_template_variables_are_kept():
    fields = {"chat_template_kwargs": {"enable_thinking": False, "x": 1}, "documents": [{"text": "d"}]}
    request = asked(**fields)
    assert request.template_kwargs == {"enable_thinking": False, "x": 1, "documents": [{"text": "d"}]}
    assert request.thinking is False


def test_what_was_not_understood_is_reported():
    assert read(reasoning_effort="extreme")[1].ignored == ("reasoning_effort",)
    assert read(reasoning_effort="high")[1].ignored == ()


@pytest.mark.parametrize("fields", [{"continue_final_message": True}, {"prefix": True}, {"partial": True}])
def test_an_answer_may_be_continued(fields):
    last = {"role": "assistant", "content": "Once"}
    if "continue_final_message" not in fields:
        last |= fields
        fields = {}
    assert asked(messages=[USER, last], **fields).continue_last is True
    assert asked(messages=[USER, {"role": "assistant", "content": "Once"}]).continue_last is False


def test_c25_old_functions_are_tools_one_at_a_time():
    request, settings = read(functions=[{"name": "f", "parameters": {"type": "object"}}], function_call={"name": "f"})
    assert [tool.name for tool in request.tools] == ["f"]
    assert (request.choice, request.parallel, settings.functions) == ("name:f", False, True)
