from __future__ import annotations

import asyncio

import pytest

from dragoman.engines.base import ModelInfo
from dragoman.engines.embedding import Wanted
from dragoman.engines.fitted import vectors
from dragoman.engines.tokens import Tokens
from dragoman.errors import Broken, RequestError
from dragoman.messages import Raw

SPECIALS = {"<s>": 1, "</s>": 2, "<|user|>": 3}


class Link:
    """A llama.cpp whose tokens are letters, between a token that begins and one that ends, and whose vectors are lengths."""

    engine = "test"

    def __init__(self, missing=0):
        self.asked, self.missing = [], missing

    async def json(self, path, data=None):
        self.asked.append((path, data))
        if path == "/tokenize":
            assert (data["parse_special"], data["add_special"]) == (False, True)
            ids = [1, *map(ord, data["content"]), 2]
            return {"tokens": ids}
        rows = [{"index": place, "embedding": [float(len(one)), 0.0]} for place, one in enumerate(data["input"])]
        return {"data": rows[self.missing :], "usage": {"prompt_tokens": sum(map(len, data["input"]))}}

    @property
    def sent(self):
        return [one for path, data in self.asked if path == "/v1/embeddings" for one in data["input"]]


class Plain(Tokens):
    async def tokenize(self, text, *, special=True, start=False):
        from dragoman.engines.base import Token

        answer = await self._asked(text, special=special, start=start)
        return [Token(token, b"") for token in answer]


async def made(*inputs, wanted=None, context=10, link=None, model=""):
    link = link or Link()
    info = ModelInfo("m", specials=SPECIALS, context=context)
    given = [Raw(one) if isinstance(one, str) else Raw(ids=tuple(one)) for one in inputs]
    places = asyncio.Semaphore(1)
    found = await vectors(link, Plain(link, info), info, given, wanted or Wanted(), places=places, model=model)
    return found, link


async def test_a_text_goes_as_it_is_where_it_surely_fits():
    found, link = await made("abc", [7, 8])
    assert link.sent == ["abc", [7, 8]]
    assert link.asked[0][1] == {"input": ["abc", [7, 8]]}
    assert (len(found.rows), found.tokens) == (2, 5)


async def test_where_there_are_several_models_it_is_named():
    assert (await made("abc", model="x.gguf"))[1].asked[0][1]["model"] == "x.gguf"


async def test_a_special_token_in_a_text_is_spelled_with_ordinary_ones():
    _, link = await made("<s>", context=99)
    assert link.sent == [[1, *map(ord, "<s>"), 2]]


async def test_what_may_be_too_long_is_counted():
    _, link = await made("abcdefgh")
    assert link.sent == [[1, *map(ord, "abcdefgh"), 2]]


async def test_what_is_too_long_is_refused_or_cut():
    with pytest.raises(RequestError, match="11 tokens, and the model takes 10") as caught:
        await made("abcdefghi")
    assert caught.value.code == "context_length_exceeded"
    _, link = await made("abcdefghi", [5] * 12, wanted=Wanted(truncate=True))
    assert link.sent == [[1, *map(ord, "abcdefgh"), 2], [5] * 10]  # what ends a text stays at its end


async def test_many_texts_go_in_groups_and_come_back_in_order():
    found, link = await made(*("x" * (place % 5 + 1) for place in range(35)))
    assert [len(data["input"]) for _, data in link.asked] == [16, 16, 3]
    assert len(found.rows) == 35
    assert found.tokens == sum(place % 5 + 1 for place in range(35))


async def test_too_few_vectors_are_the_engines_fault():
    with pytest.raises(Broken, match="no vectors"):
        await made("a", "b", link=Link(missing=1))
