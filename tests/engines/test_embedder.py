"""A real model in the mode for vectors."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from dragoman.engines import gguf
from dragoman.engines.base import Options, Prompt
from dragoman.engines.embedder import LocalEmbedder
from dragoman.engines.embedding import Wanted
from dragoman.errors import RequestError, Unreachable, UnsupportedFeature
from dragoman.messages import Raw

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="module")]

CAT, KITTEN = "The cat sleeps on the sofa.", "A kitten is napping on the couch."
STOCK, SHARES = "The stock market fell sharply today.", "Shares dropped on the exchange this morning."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model(smollm2: Path) -> AsyncIterator[LocalEmbedder]:
    engine = LocalEmbedder(smollm2, name="vectors", context=64, threads=1)
    await engine.start()
    yield engine
    await engine.stop()


def near(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_vectors_have_the_length_of_one_and_know_what_is_alike(model):
    found = await model.embed([Raw(text) for text in (CAT, KITTEN, STOCK, SHARES)], Wanted())
    cat, kitten, stock, shares = found.rows
    assert all(math.isclose(math.hypot(*row), 1, abs_tol=1e-4) for row in found.rows)
    assert near(cat, kitten) > max(near(cat, stock), near(cat, shares), near(kitten, stock), near(kitten, shares))
    assert near(stock, shares) > max(near(cat, stock), near(cat, shares))
    assert found.tokens == sum([len(await model.tokens.tokenize(text)) for text in (CAT, KITTEN, STOCK, SHARES)])


async def test_a_text_and_its_tokens_have_one_vector(model):
    ids = tuple(token.id for token in await model.tokens.tokenize(CAT, start=True))
    text, tokens = (await model.embed([Raw(CAT), Raw(ids=ids)], Wanted())).rows
    assert near(text, tokens) > 0.9999


async def test_a_special_token_in_a_text_is_not_read_as_one(model):
    spelled = await model.embed([Raw("<|im_start|>")], Wanted())
    real = await model.embed([Raw(ids=(model.info.specials["<|im_start|>"],))], Wanted())
    assert spelled.tokens > real.tokens == 1


async def test_what_is_too_long_is_refused_or_cut(model):
    with pytest.raises(RequestError, match="model takes 64"):
        await model.embed([Raw("word " * 70)], Wanted())
    assert (await model.embed([Raw("word " * 70)], Wanted(truncate=True))).tokens == 64


async def test_a_token_that_is_none_is_refused(model):
    with pytest.raises(RequestError):
        await model.embed([Raw(ids=(10**6,))], Wanted())


async def test_its_vectors_are_not_cut(model):
    with pytest.raises(RequestError, match="cut"):
        await model.embed([Raw("a")], Wanted(dimensions=64))
    assert len((await model.embed([Raw("a")], Wanted(dimensions=576))).rows[0]) == 576


async def test_it_does_not_write(model):
    assert (model.info.writes, model.info.embeds, model.info.template) == (False, True, "")
    with pytest.raises(UnsupportedFeature, match="writes no text"):
        model.stream(Prompt(()), Options())


async def test_a_model_that_ranks_is_refused(smollm2, monkeypatch):
    known = gguf.read(smollm2)
    monkeypatch.setattr(gguf, "read", lambda _: replace(known, pooling=4))
    with pytest.raises(Unreachable, match="ranks texts"):
        await LocalEmbedder(smollm2).start()


async def test_a_model_that_says_how_is_believed(smollm2):
    engine = LocalEmbedder(smollm2)
    engine._describe(replace(gguf.read(smollm2), pooling=3))
    assert engine.settings["pooling"] == ""
    assert engine.settings["context"] == engine.settings["batch"] == engine.info.context == 2048
