"""Tokens told and taken, on a real model."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.engines.base import Options, Piece, Prompt, Segment, tokenizer
from dragoman.engines.embedded import Embedded
from dragoman.engines.script import Script
from dragoman.errors import RequestError, UnsupportedFeature

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

GREEDY = Options(limit=6, sampling={"temperature": 0, "seed": 1})
HELLO = "<|im_start|>user\nSay hi<|im_end|>\n<|im_start|>assistant\n"


async def said(engine: Embedded, *segments: Segment) -> str:
    stream = engine.stream(Prompt(segments), GREEDY)
    items: list[Any] = [item async for batch in stream for item in batch]
    return "".join(item.text for item in items if isinstance(item, Piece))


async def test_tokens_spell_their_text(real: Embedded) -> None:
    tokens = await tokenizer(real).tokenize("Grüße 🦜<|im_end|>")
    assert b"".join(token.piece for token in tokens) == "Grüße 🦜<|im_end|>".encode()
    assert tokens[-1].id == 2
    assert await tokenizer(real).spell([token.id for token in tokens]) == "Grüße 🦜<|im_end|>"


async def test_special_tokens_are_read_only_if_wanted(real: Embedded) -> None:
    assert 2 not in [token.id for token in await tokenizer(real).tokenize("<|im_end|>", special=False)]


async def test_a_prompt_of_tokens_is_the_prompt_of_its_text(real: Embedded) -> None:
    ids = [token.id for token in await tokenizer(real).tokenize(HELLO, start=True)]
    assert await said(real, Segment("", ids=ids)) == await said(real, Segment(HELLO)) != ""
    assert await real.tokens.ids(Prompt((Segment(HELLO), Segment("", ids=ids)))) == ids * 2


@pytest.mark.parametrize("ids", [[-1], [2**40], [10**9]])
async def test_what_is_no_token_is_the_clients_error(real: Embedded, ids: list[int]) -> None:
    with pytest.raises(RequestError):
        await tokenizer(real).spell(ids)


async def test_an_engine_without_tokens_says_so() -> None:
    with pytest.raises(UnsupportedFeature, match="script"):
        tokenizer(Script({"turn": []}))
