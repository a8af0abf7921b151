"""The older Completions, asked by the official client, and what is told of texts and tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import openai
import pytest

from dragoman.checks import check_error
from dragoman.engines.base import Token
from dragoman.engines.script import Script
from dragoman.errors import RequestError

from .conftest import USER, WEATHER, Answer, Running, call, running

PATH = "/v1/completions"
CALL = '<think>\nLet me see.\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
TURNS: tuple[dict[str, Any], ...] = (
    {"when": {"user": "marks"}, "output": CALL + "<|im_end|>"},
    {"when": {"user": "break"}, "output": "one two three", "after": 2, "error": "the machine caught fire"},
    {"when": {"user": "long"}, "output": "word " * 40},
    {"when": {"user": "twice"}, "output": ["first<|im_end|>", "second<|im_end|>"]},
    {"output": " upon a time there was a parrot.<|im_end|>"},
)
TOLD = " upon a time there was a parrot."


class Spelling:
    """Tokens that are characters."""

    async def tokenize(self, text: str, *, special: bool = True, start: bool = False) -> Sequence[Token]:
        return [Token(1, b"")] * start + [Token(ord(char), char.encode()[:2]) for char in text]

    async def spell(self, ids: Sequence[int]) -> str:
        if min(ids) < 0:
            raise RequestError("one of these ids is no token of the model")
        return "".join(map(chr, ids))


class Telling(Script):
    """A script that tells its tokens."""

    tokenizer = Spelling()


def script(kind: type[Script] = Telling, **more: Any) -> Script:
    return kind({"model": "demo", "dialect": "hermes-json", "turn": list(TURNS), **more})


@pytest.fixture(scope="module")
def server():
    with running(script(context=2048)) as started:
        yield started


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as asking:
        yield asking


async def post(server: Running, path: str, body: Any, status: int = 200) -> Answer:
    answer = await call(server, "POST", path, json=body)
    assert answer.status == status, answer.body
    if status != 200:
        assert not [*check_error(answer.json)]
    return answer


def added(chunks: Sequence[Any], index: int = 0) -> tuple[str, str | None]:
    """The text and the finish of a choice."""
    choices = [choice for chunk in chunks for choice in chunk.choices if choice.index == index]
    return "".join(choice.text for choice in choices), choices[-1].finish_reason


def test_l01_a_whole_answer(client):
    made = client.completions.create(model="demo", prompt="Once")
    assert (made.object, made.model, made.id[:5]) == ("text_completion", "demo", "cmpl-")
    (choice,) = made.choices
    assert (choice.index, choice.text, choice.finish_reason, choice.logprobs) == (0, TOLD, "stop", None)
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (1, 9)


async def test_l01_a_stream(server, client):
    chunks = list(client.completions.create(model="demo", prompt="Once", stream=True))
    assert added(chunks) == (TOLD, "stop")
    assert {(chunk.object, chunk.id) for chunk in chunks} == {("text_completion", chunks[0].id)}
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices].count(None) == len(chunks) - 1
    answer = await post(server, PATH, {"prompt": "Once", "stream": True})
    assert answer.data[-1] == "[DONE]"
    assert "usage" not in answer.chunks[-1]


def test_l01_usage_is_the_last_chunk(client):
    options = {"include_usage": True}
    chunks = list(client.completions.create(model="demo", prompt="Once", stream=True, stream_options=options))
    assert (chunks[-1].choices, chunks[-1].usage.total_tokens) == ([], 10)
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_l01_no_dialect_is_decoded(client, server):
    made = client.completions.create(model="demo", prompt="marks <|im_start|>", max_tokens=100)
    assert made.choices[0].text == CALL
    assert server.engine.asked[-1][0].text == "marks <|im_start|>"
    assert server.engine.asked[-1][1].grammar == ""


@pytest.mark.parametrize("stream", [True, False])
def test_l01_several_prompts_and_answers(client, stream):
    made = client.completions.create(model="demo", prompt=["Once", "Once more"], n=2, stream=stream)
    chunks = list(made) if stream else [made]
    assert [added(chunks, index) for index in range(4)] == [(TOLD, "stop")] * 4
    if not stream:
        assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (1 + 2, 4 * 9)


def test_l01_the_answers_differ(client):
    made = client.completions.create(model="demo", prompt="twice", n=2)
    assert sorted(choice.text for choice in made.choices) == ["first", "second"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("prompt", ["Once", list(map(ord, "Once"))])
def test_l01_echo(client, prompt, stream):
    made = client.completions.create(model="demo", prompt=prompt, echo=True, stream=stream)
    assert added(list(made) if stream else [made]) == ("Once" + TOLD, "stop")
    made = client.completions.create(model="demo", prompt=prompt, echo=True, max_tokens=0, stream=stream)
    assert added(list(made) if stream else [made]) == ("Once", "length")


@pytest.mark.parametrize("stream", [True, False])
def test_l01_a_stop_string(client, stream):
    made = client.completions.create(model="demo", prompt="Once", stop=[" there"], stream=stream)
    chunks = list(made) if stream else [made]
    assert added(chunks) == (" upon a time", "stop")
    assert chunks[-1].choices[0].stop_reason == " there"


def test_l01_the_limit(client):
    made = client.completions.create(model="demo", prompt="Once", max_tokens=2)
    assert (made.choices[0].text, made.choices[0].finish_reason) == (" upon a", "length")
    assert client.completions.create(model="demo", prompt="long").usage.completion_tokens == 16
    everything = client.completions.create(model="demo", prompt="long", extra_body={"max_tokens": -1})
    assert everything.choices[0].finish_reason == "stop"


def test_l01_log_probabilities_in_their_older_form(client):
    for stream in (True, False):
        made = client.completions.create(model="demo", prompt="Once", logprobs=1, stream=stream)
        shapes = [choice.logprobs for chunk in (made if stream else [made]) for choice in chunk.choices]
        shapes = [shape for shape in shapes if shape]
        assert "".join(token for shape in shapes for token in shape.tokens) == TOLD
        assert [at for shape in shapes for at in shape.text_offset][:3] == [0, 5, 7]
        assert shapes[0].top_logprobs[0] == {" upon": 0.0}
        assert shapes[0].token_logprobs[0] == 0.0
    bare = client.completions.create(model="demo", prompt="Once", logprobs=0).choices[0].logprobs
    assert bare.top_logprobs is None


def test_l01_tokens_as_a_prompt(client, server):
    client.completions.create(model="demo", prompt=[list(map(ord, "Once")), list(map(ord, "more"))])
    segments = sorted((asked[0].segments[0].text, asked[0].segments[0].ids) for asked in server.engine.asked[-2:])
    assert segments == [("Once", tuple(map(ord, "Once"))), ("more", tuple(map(ord, "more")))]


async def test_l01_tokens_where_the_engine_does_not_know_them():
    with running(script(Script)) as bare:
        for path, body in (
            (PATH, {"prompt": [1, 2]}),
            ("/tokenize", {"content": "a"}),
            ("/detokenize", {"tokens": [1]}),
        ):
            answer = await post(bare, path, body, 501)
            assert "script" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "prompt"),
        ({"messages": USER}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [[]]}, "prompt[0]"),
        ({"prompt": [1, "x"]}, "prompt[1]"),
        ({"prompt": {"a": 1}}, "prompt"),
        ({"prompt": "x", "suffix": "y"}, "suffix"),
        ({"prompt": "x", "best_of": 3}, "best_of"),
        ({"prompt": "x", "echo": True, "logprobs": 1}, "logprobs"),
        ({"prompt": "x", "max_tokens": 0}, "max_tokens"),
        ({"prompt": ["x"] * 100, "n": 2}, "n"),
        ({"prompt": "x", "temperature": 9}, "temperature"),
        ({"prompt": "x", "stop": [1]}, "stop[0]"),
    ],
)
async def test_l01_what_cannot_be_done_is_refused(server, body, param):
    assert (await post(server, PATH, body, 400)).json["error"]["param"] == param


def test_l01_an_engine_that_fails(client):
    with pytest.raises(openai.APIError, match="caught fire"):
        list(client.completions.create(model="demo", prompt="break", stream=True))
    with pytest.raises(openai.InternalServerError, match="caught fire"):
        client.completions.create(model="demo", prompt="break")


async def test_l01_the_path_has_two_spellings(server):
    assert (await post(server, "/completions", {"prompt": "Once"})).json["choices"][0]["text"] == TOLD


async def test_l01_a_schema_is_kept(server):
    await post(server, PATH, {"prompt": "Once", "response_format": {"type": "json_object"}})
    assert server.engine.asked[-1][1].grammar


async def test_l03_embeddings_are_refused_with_a_reason(server, client):
    with pytest.raises(openai.InternalServerError, match="no model here makes embeddings") as caught:
        client.embeddings.create(model="demo", input="x")
    assert caught.value.status_code == 501


# --- texts and tokens


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"content": "hi"}, {"tokens": [104, 105], "count": 2, "max_model_len": 2048}),
        ({"content": "hi", "add_special": True}, {"tokens": [1, 104, 105], "count": 3, "max_model_len": 2048}),
        ({"prompt": "hi"}, {"tokens": [1, 104, 105], "count": 3, "max_model_len": 2048}),
        ({"prompt": "hi", "add_special_tokens": False, "return_token_strs": True},
         {"tokens": [104, 105], "count": 2, "max_model_len": 2048, "token_strs": ["h", "i"]}),
        ({"content": "h🦜", "with_pieces": True},
         {"tokens": [{"id": 104, "piece": "h"}, {"id": 129436, "piece": [240, 159]}], "count": 2, "max_model_len": 2048}),
        ({"content": ""}, {"tokens": [], "count": 0, "max_model_len": 2048}),
    ],
)  # fmt: skip
async def test_l07_tokenize(server, body, told):
    assert (await post(server, "/tokenize", body)).json == told


async def test_l08_tokenize_a_conversation(server):
    tokens = (await post(server, "/tokenize", {"messages": USER})).json["tokens"]
    prompt = (await post(server, "/apply-template", {"messages": USER})).json["prompt"]
    assert "".join(map(chr, tokens)) == prompt
    assert prompt.endswith("<|im_start|>assistant\n")


async def test_l07_detokenize(server):
    answer = await post(server, "/detokenize", {"tokens": [104, 105]})
    assert answer.json == {"content": "hi", "prompt": "hi"}


async def test_l07_apply_template_shows_the_tools(server):
    answer = await post(server, "/v1/apply-template", {"messages": USER, "tools": [WEATHER]})
    assert json.dumps("get_weather") in answer.json["prompt"]


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {}, "content"),
        ("/tokenize", {"content": 7}, "content"),
        ("/detokenize", {}, "tokens"),
        ("/detokenize", {"tokens": ["x"]}, "tokens[0]"),
        ("/detokenize", {"tokens": [-1]}, None),
        ("/apply-template", {}, "messages"),
    ],
)
async def test_l04_what_is_wrong_is_named(server, path, body, param):
    assert (await post(server, path, body, 400)).json["error"]["param"] == param
