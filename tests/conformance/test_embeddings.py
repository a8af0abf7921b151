"""Embeddings as LangChain and LiteLLM ask for them; the clients of OpenAI and Ollama stand beside the endpoints' own tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import litellm
import openai
import pytest
from measures import Measures

from dragoman.messages import Raw

from ..server.conftest import Running, running

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what a client imports is its own affair
    from langchain_openai import OpenAIEmbeddings
    from pydantic import SecretStr

pytestmark = pytest.mark.filterwarnings("ignore:.* on TypedDict class .* `ReadOnly`:UserWarning")


@pytest.fixture
def server() -> Iterator[Running]:
    with running(Measures()) as started:
        yield started


def test_langchain(server: Running):
    """It cuts texts into tokens of another model by itself, unless it is told not to."""
    with openai.DefaultHttpxClient() as http:
        given = {"base_url": server.url + "/v1", "api_key": SecretStr("none"), "http_client": http}
        client = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False, **given)
        assert [len(row) for row in client.embed_documents(["ab", "c"])] == [3, 3]
    assert server.engine.asked[-1][0] == (Raw("ab"), Raw("c"))


def test_litellm(server: Running):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client:
        found = litellm.embedding("openai/vectors", ["ab", "c"], client=client)
    assert [len(item["embedding"]) for item in found.data] == [3, 3]
    assert found.usage.prompt_tokens == 6
