from __future__ import annotations

import math

import pytest

from dragoman.engines.embedding import Wanted, embedder, finished, too_long
from dragoman.engines.script import Script
from dragoman.errors import Broken, RequestError

ALL = Wanted()


def test_a_vector_gets_the_length_of_one():
    (row,) = finished([[3, 4]], ALL, "m", "e")
    assert list(row) == [0.6, 0.8]


def test_what_the_engine_normalised_goes_on_as_it_is():
    given = [0.6000001, 0.8]
    (row,) = finished([given], ALL, "m", "e")
    assert list(row) == given


def test_a_vector_of_nothing_stays_nothing():
    assert [list(row) for row in finished([[0.0, 0.0]], ALL, "m", "e")] == [[0.0, 0.0]]


@pytest.mark.parametrize(
    "row",
    [None, [], "text", [1, "a"], [None, 1.0], {"a": 1}, [float("nan")], [float("inf"), 1.0], [[1.0]], [True, None]],
)
def test_what_is_no_vector_is_the_engines_fault(row):
    with pytest.raises(Broken, match="no vector") as caught:
        finished([[1.0], row], ALL, "m", "e")
    assert caught.value.engine == "e"


@pytest.mark.parametrize(
    "model",
    [
        "nomic-embed-text", "nomic-embed-text:latest", "nomic-embed-text-v1.5.Q8_0", "nomic-ai/nomic-embed-text-v2-moe",
        "embeddinggemma:300m", "google/embeddinggemma-300m", "Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding:4b",
        "jina-embeddings-v3", "mxbai-embed-large-v1", "snowflake-arctic-embed-l-v2.0", "snowflake-arctic-embed2",
        "text-embedding-3-small",
    ],
)  # fmt: skip
def test_a_model_that_was_trained_for_it_is_cut_and_has_the_length_of_one_again(model):
    (row,) = finished([[0.5, 0.5, 0.5, 0.5]], Wanted(dimensions=2), model, "e")
    assert len(row) == 2
    assert math.isclose(math.hypot(*row), 1)


@pytest.mark.parametrize(
    "model",
    ["smollm2", "bge-m3", "all-MiniLM-L6-v2", "nomic-embed-text-v1", "text-embedding-ada-002", "jina-embeddings-v2"],
)
def test_any_other_is_not_cut(model):
    with pytest.raises(RequestError, match="mean nothing when they are cut") as caught:
        finished([[1.0, 0.0]], Wanted(dimensions=1), model, "e")
    assert (caught.value.param, caught.value.status) == ("dimensions", 400)
    assert len(finished([[1.0, 0.0]], Wanted(dimensions=2), model, "e")[0]) == 2


def test_no_vector_grows():
    with pytest.raises(RequestError, match="at most 2"):
        finished([[1.0, 0.0]], Wanted(dimensions=3), "text-embedding-3-small", "e")


def test_an_engine_says_that_it_embeds():
    assert embedder(Script({"dialect": "hermes-json", "turn": []})) is None


def test_what_is_too_long_is_told_in_tokens():
    assert (too_long(5, 4).code, "5 tokens" in str(too_long(5, 4))) == ("context_length_exceeded", True)
