"""Embeddings with nothing made up: a real model that writes and one that embeds, as the settings name them."""

from __future__ import annotations

from collections.abc import Iterator

import ollama
import openai
import pytest

from dragoman.server.config import Config
from dragoman.server.engine import build

from .conftest import Running, running

pytestmark = pytest.mark.engine

TEXTS = ["The cat sleeps on the sofa.", "A kitten is napping on the couch.", "The stock market fell sharply today."]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    pytest.importorskip("xllamacpp")
    settings = {"model": "smollm2", "embedding_model": "smollm2", "ctx": 512, "embedding_ctx": 64, "threads": 1}
    with running(*build(Config(**settings)), **settings) as started:
        yield started


def near(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_l03_like_sentences_are_nearer_than_unlike_ones(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
        found = client.embeddings.create(model="text-embedding-3-small", input=TEXTS)
        cat, kitten, stock = (item.embedding for item in found.data)
        assert near(cat, kitten) > max(near(cat, stock), near(kitten, stock))
        assert near(cat, cat) == pytest.approx(1, abs=1e-4)
        assert found.model == "smollm2-embedding"
        with pytest.raises(openai.BadRequestError, match="model takes 64"):
            client.embeddings.create(model="any", input="word " * 100)


def test_o11_ollamas_client(server):
    with ollama.Client(host=server.url) as client:
        found = client.embed("smollm2-embedding", TEXTS)
        cat, kitten, stock = found.embeddings
        assert near(cat, kitten) > max(near(cat, stock), near(kitten, stock))
        assert found.prompt_eval_count > 10
        assert found.total_duration > 0
        assert client.embed("smollm2-embedding", "word " * 100).prompt_eval_count == 64
        assert client.embeddings("smollm2-embedding", TEXTS[0]).embedding == pytest.approx(cat, abs=1e-2)


def test_the_model_that_writes_still_answers_to_every_name(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
        talk = [{"role": "user", "content": "Say hello."}]
        answer = client.chat.completions.create(model="gpt-4o", messages=talk, max_tokens=3)
        assert (answer.model, bool(answer.choices)) == ("smollm2", True)
