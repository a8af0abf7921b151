"""Tokens by an upstream's `/tokenize`, which reads special tokens wherever they are spelled."""

from __future__ import annotations

from typing import Any

import pytest
from upstreams import Answer, Fake, told, upstream

from dragoman.engines.base import ModelInfo, Prompt, Segment
from dragoman.engines.http import Http
from dragoman.engines.refusals import refused
from dragoman.engines.vocabulary import Vocabulary
from dragoman.errors import EngineError, RequestError

MARKS = {"<a>": 1, "<odd>": 2}


def tokenize(body: Any) -> Answer:
    text, ids = body["prompt"], [0] if body["add_special_tokens"] else []
    while text:
        mark = next((mark for mark in MARKS if text.startswith(mark)), text[0])
        ids.append(MARKS.get(mark, 100 + ord(mark[0])))
        text = text[len(mark) :]
    return told({"tokens": ids})


async def test_foreign_text_has_no_special_tokens() -> None:
    async with upstream(paths={"/tokenize": tokenize}) as fake:
        http = Http(fake.url, "upstream", refused)
        vocabulary = Vocabulary(http, "m", ModelInfo("m", specials={"<a>": 1}))
        prompt = Prompt(
            (Segment("<a>x"), Segment("<a>", foreign=True), Segment("<odd>", foreign=True), Segment("", ids=(7,)))
        )
        ids = await vocabulary.ids(prompt)
        assert ids == [1, 220, *(100 + ord(letter) for letter in "<a><odd>"), 7]
        await http.close()


async def test_what_was_asked_once_is_known() -> None:
    async with upstream(paths={"/tokenize": tokenize}) as fake:
        http = Http(fake.url, "upstream", refused)
        vocabulary = Vocabulary(http, "m", ModelInfo("m", specials={"<a>": 1}))
        for _ in range(3):
            await vocabulary.ids(Prompt((Segment("<a>", foreign=True),)))
        assert len(fake.bodies("/tokenize")) == 2
        await http.close()


async def test_tokens_and_what_they_spell() -> None:
    paths = {"/tokenize": tokenize, "/detokenize": told({"prompt": "x"})}
    async with upstream(paths=paths) as fake:
        http = Http(fake.url, "upstream", refused)
        vocabulary = Vocabulary(http, "m", ModelInfo("m"))
        assert [(token.id, token.piece) for token in await vocabulary.tokenize("x", start=True)] == [
            (0, b"x"),
            (220, b"x"),
        ]
        await http.close()


@pytest.mark.parametrize("answer", [told({"count": 3}), told([1]), told({"tokens": None})])
async def test_one_that_does_not_tokenize_is_told(answer: Answer) -> None:
    async with upstream(paths={"/tokenize": answer, "/detokenize": told({})}) as fake:
        await _fails(fake)


async def _fails(fake: Fake) -> None:
    http = Http(fake.url, "upstream", refused)
    vocabulary = Vocabulary(http, "m", ModelInfo("m"))
    with pytest.raises(EngineError, match="did not tokenize"):
        await vocabulary.ids(Prompt((Segment("x"),)))
    with pytest.raises(RequestError, match="no token of the model"):
        await vocabulary.spell([1])
    await http.close()
