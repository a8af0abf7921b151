from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.messages import Message, Raw, Text, Tool
from dragoman.protocols import ollama, ollama_generate
from dragoman.protocols.ollama import Settings
from dragoman.protocols.ollama_context import pack

HI = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}


def chat(**fields):
    return ollama.read_request({"model": "m", "messages": HI, **fields})


def generate(**fields):
    return ollama_generate.read_request({"model": "m", "prompt": "Hi", **fields})


def refused(read, **fields):
    with pytest.raises(RequestError) as caught:
        read(**fields)
    return caught.value.param


def test_o01_a_stream_unless_it_is_not_wanted():
    assert chat()[1].stream
    assert generate()[1].stream
    assert not chat(stream=False)[1].stream
    assert chat(stream=None)[1].stream


def test_a_whole_request():
    request, settings = chat(tools=[TOOL], keep_alive="5m", options={"temperature": 0.5, "num_predict": 7, "stop": "x"})
    assert request.model == "m"
    assert request.messages == (Message("user", (Text("Hi"),)),)
    assert request.tools == (Tool("f", "d", {"type": "object"}),)
    assert (request.choice, request.limit, request.stop) == ("auto", 7, ("x",))
    assert request.sampling == {"temperature": 0.5}
    assert settings == Settings()


@pytest.mark.parametrize("read", [chat, generate])
@pytest.mark.parametrize(
    ("think", "thinking", "field"),
    [
        (None, None, "reasoning_content"),
        (True, True, "reasoning_content"),
        (False, False, "none"),
        ("low", "low", "reasoning_content"),
        ("medium", "medium", "reasoning_content"),
        ("high", "high", "reasoning_content"),
        ("max", "high", "reasoning_content"),
    ],
)
def test_o05_think(read, think, thinking, field):
    request, settings = read(think=think)
    assert (request.thinking, settings.reasoning_field) == (thinking, field)


def test_o05_the_server_may_hide_all_thinking():
    settings = ollama.read_request({"messages": HI, "think": True}, Settings(reasoning_field="none"))[1]
    assert settings.reasoning_field == "none"


@pytest.mark.parametrize("think", ["much", 7, [True]])
def test_o05_another_wish_is_refused(think):
    assert refused(chat, think=think) == "think"


def test_o08_options():
    options = {
        "num_predict": 5, "temperature": 0.1, "top_p": 0.2, "top_k": 3, "min_p": 0.4, "seed": 5, "stop": ["a", "b", "c", "d", "e"],
        "repeat_penalty": 1.1, "repeat_last_n": 64, "presence_penalty": 0.1, "frequency_penalty": 0.2,
    }  # fmt: skip
    request = chat(options=options)[0]
    assert (request.limit, request.stop) == (5, ("a", "b", "c", "d", "e"))
    assert request.sampling == {key: value for key, value in options.items() if key not in ("num_predict", "stop")}


@pytest.mark.parametrize("limit", [-1, -2, 0, None])
def test_o08_no_limit(limit):
    assert chat(options={"num_predict": limit})[0].limit is None


def test_o08_options_that_the_server_decides_are_reported():
    settings = chat(options={"num_ctx": 4096, "num_gpu": 1, "tfs_z": 1, "bad\nname": 1})[1]
    assert settings.ignored == ("options.num_ctx", "options.tfs_z")


def test_o08_a_wrong_option_is_named():
    assert refused(chat, options={"temperature": "hot"}) == "options.temperature"
    assert refused(generate, options={"stop": [1]}) == "options.stop[0]"
    assert refused(chat, options=[1]) == "options"


@pytest.mark.parametrize(
    ("form", "schema"), [("json", {}), ("", None), (None, None), ({"type": "object"}, {"type": "object"})]
)
def test_o08_format(form, schema):
    assert chat(format=form)[0].schema == schema


def test_o08_another_format_is_refused():
    assert refused(chat, format="yaml") == "format"


def test_o08_log_probabilities():
    assert chat()[0].logprobs is None
    assert chat(logprobs=True)[0].logprobs == 0
    assert chat(logprobs=True, top_logprobs=3)[0].logprobs == 3


def test_o08_a_last_message_of_the_assistant_is_continued():
    assert chat(messages=[*HI, {"role": "assistant", "content": "We"}])[0].continue_last
    assert not chat()[0].continue_last
    call = {"function": {"name": "f", "arguments": {}}}
    assert not chat(messages=[*HI, {"role": "assistant", "content": "", "tool_calls": [call]}])[0].continue_last


def test_o08_generate_has_a_system_text_and_a_history():
    request = generate(system="Be brief.")[0]
    assert request.messages == (Message("system", (Text("Be brief."),)), Message("user", (Text("Hi"),)))
    before = [Message("system", (Text("Old."),)), Message("user", (Text("A"),)), Message("assistant", (Text("B"),))]
    request = generate(context=pack(before))[0]
    assert request.messages == (*before, Message("user", (Text("Hi"),)))
    request = generate(context=pack(before), system="New.")[0]
    assert request.messages[:2] == (Message("system", (Text("New."),)), before[1])


def test_o08_a_raw_prompt_is_no_message():
    request = generate(raw=True)[0]
    assert (request.prompts, request.messages) == ((Raw("Hi"),), ())


@pytest.mark.parametrize("more", [{"system": "x"}, {"context": [1]}, {"images": ["AAAA"]}])
def test_o08_a_raw_prompt_stands_alone(more):
    assert refused(generate, raw=True, **more) == next(iter(more))


@pytest.mark.parametrize("key", ["suffix", "template"])
def test_o08_what_would_change_the_meaning_is_refused(key):
    assert refused(generate, **{key: "x"}) == key
    generate(**{key: ""})


@pytest.mark.parametrize(
    ("keep_alive", "idle"),
    [(None, "load"), ("5m", "load"), (-1, "load"), (0, "unload"), ("0", "unload"), ("0s", "unload")],
)
def test_o10_nothing_asked(keep_alive, idle):
    assert chat(messages=[], keep_alive=keep_alive)[1].idle == idle
    assert generate(prompt="", keep_alive=keep_alive)[1].idle == idle
    assert chat(keep_alive=keep_alive)[1].idle == ""


def test_o10_no_messages_at_all():
    assert ollama.read_request({"model": "m"})[1].idle == "load"
    assert ollama_generate.read_request({"model": "m"})[1].idle == "load"


def test_the_request_must_be_an_object():
    with pytest.raises(RequestError, match="JSON object"):
        ollama.read_request([])
