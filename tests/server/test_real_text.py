"""Ollama's API and the older Completions with nothing made up: a real model, the official clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import ollama
import openai
import pytest

from dragoman.checks import check_ollama_answer, check_ollama_stream
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find

from .conftest import Running, call, running

pytestmark = pytest.mark.engine

HELLO = [{"role": "user", "content": "Say hello."}]
GREEDY: Any = {"temperature": 0, "seed": 1, "num_predict": 6}
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Paris", "Oslo"]}},
    "required": ["city"],
    "additionalProperties": False,
}
RAW = "<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    pytest.importorskip("xllamacpp")
    with running(Embedded(find("smollm2"), name="smollm2", context=1024)) as started:
        yield started


@pytest.fixture
def client(server):
    with ollama.Client(host=server.url) as asking:
        yield asking


@pytest.fixture
def older(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as asking:
        yield asking


async def test_o01_a_stream_and_an_answer_say_the_same(server):
    body = {"model": "smollm2", "messages": HELLO, "options": GREEDY}
    streamed = await call(server, "POST", "/api/chat", json=body)
    whole = (await call(server, "POST", "/api/chat", json={**body, "stream": False})).json
    assert check_ollama_stream(streamed.body, request=body, marks=["<|im_end|>"]) == []
    assert check_ollama_answer(whole, request=body, marks=["<|im_end|>"]) == []
    lines = [json.loads(line) for line in streamed.body.splitlines()]
    assert "".join(line["message"]["content"] for line in lines) == whole["message"]["content"] != ""
    assert (lines[-1]["eval_count"], lines[-1]["done_reason"]) == (whole["eval_count"], whole["done_reason"])


def test_o03_the_engines_own_times_are_told(client):
    answer = client.chat("smollm2", HELLO, options=GREEDY)
    assert answer.total_duration >= answer.prompt_eval_duration + answer.eval_duration > 0
    assert answer.prompt_eval_count > 10
    assert 0 < answer.eval_count <= 6


def test_o08_a_schema_is_kept(client):
    answer = client.chat("smollm2", HELLO, format=CITY, options={"temperature": 0, "num_predict": 40})
    assert json.loads(answer.message.content)["city"] in ("Paris", "Oslo")


def test_o08_the_conversation_goes_on_from_its_context(client):
    first = client.generate("smollm2", "My name is Ada.", options=GREEDY)
    second = client.generate("smollm2", "What is my name?", context=first.context, options=GREEDY)
    assert second.prompt_eval_count > first.prompt_eval_count + 5


def test_o08_raw_is_what_the_template_would_have_made(client, server):
    templated = client.chat("smollm2", HELLO, options=GREEDY).message.content
    prompt = (
        f"<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n{RAW}"
    )
    assert client.generate("smollm2", prompt, raw=True, options=GREEDY).response == templated


def test_o11_the_model_is_shown(client):
    shown = client.show("smollm2")
    assert shown.modelinfo["general.architecture"] == "llama"
    assert shown.modelinfo["llama.context_length"] == 1024
    assert "tools" in shown.capabilities
    assert "thinking" not in shown.capabilities
    assert client.list().models[0].size > 50_000_000


def test_l01_text_and_tokens_are_the_same_prompt(older, server):
    tokens = older.post("/tokenize", body={"content": RAW}, cast_to=dict[str, Any])["tokens"]
    settings: Any = {"model": "smollm2", "max_tokens": 8, "temperature": 0, "seed": 1}
    by_text = older.completions.create(prompt=RAW, **settings)
    by_ids = older.completions.create(prompt=tokens, echo=True, **settings)
    assert by_ids.choices[0].text == RAW + by_text.choices[0].text
    assert by_text.usage.prompt_tokens == len(tokens)


def test_l01_a_stream_with_log_probabilities(older):
    settings: Any = {"model": "smollm2", "prompt": RAW, "max_tokens": 6, "temperature": 0, "logprobs": 2}
    chunks = [choice for chunk in older.completions.create(stream=True, **settings) for choice in chunk.choices]
    whole = older.completions.create(**settings).choices[0]
    assert "".join(chunk.text for chunk in chunks) == whole.text
    tokens = [token for chunk in chunks if chunk.logprobs for token in chunk.logprobs.tokens]
    assert tokens == whole.logprobs.tokens
    assert "".join(tokens) == whole.text
    assert all(len(beside) == 2 for beside in whole.logprobs.top_logprobs)


async def test_l01_an_empty_prompt_is_one_too(server):
    answer = await call(server, "POST", "/v1/completions", json={"prompt": "", "max_tokens": 3})
    assert answer.status == 200
    assert answer.json["choices"][0]["finish_reason"] in ("stop", "length")


async def test_l07_tokens_there_and_back(server):
    text = "Grüße, 🦜 <|im_end|>"
    tokens = (await call(server, "POST", "/tokenize", json={"content": text, "with_pieces": True})).json["tokens"]
    pieces = [token["piece"] for token in tokens]
    spelled = b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces)
    assert spelled.decode() == text
    ids = [token["id"] for token in tokens]
    assert (await call(server, "POST", "/detokenize", json={"tokens": ids})).json["content"] == text
    assert (await call(server, "POST", "/detokenize", json={"tokens": [10**9]})).status == 400


async def test_s07_a_client_that_leaves_frees_the_engine(server):
    body = {"prompt": "Once upon a time", "max_tokens": -1, "stream": True, "ignore_eos": True}
    async with (
        aiohttp.ClientSession() as session,
        session.post(server.url + "/v1/completions", json=body) as response,
    ):
        await response.content.readany()
        response.close()
    while server.service.open:
        await call(server, "GET", "/health")
