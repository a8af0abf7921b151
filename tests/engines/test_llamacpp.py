"""A real llama.cpp server over HTTP: what it is like is found out, and it is spoken to in tokens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from dragoman import api
from dragoman.engines.base import End, Options, Piece, Prompt, Segment, talks, tokenizer
from dragoman.engines.llamacpp import LlamaCpp, candidates
from dragoman.engines.prompt import render, suspects
from dragoman.engines.upstream import Settings, Upstream
from dragoman.errors import RequestError
from dragoman.messages import Message, Request, Text

pytestmark = pytest.mark.engine


class Reached:
    """An upstream that was started, for the length of a block."""

    def __init__(self, url: str, **settings: Any) -> None:
        self.upstream = Upstream(Settings(url=url, **settings))

    async def __aenter__(self) -> LlamaCpp:
        await self.upstream.start()
        (voice,) = self.upstream.voices
        assert isinstance(voice, LlamaCpp)
        return voice

    async def __aexit__(self, *_: object) -> None:
        await self.upstream.stop()


async def written(voice: LlamaCpp, prompt: Prompt, options: Options | None = None) -> tuple[str, End]:
    items = [item async for batch in voice.stream(prompt, options or Options(limit=5)) for item in batch]
    text = "".join(item.text for item in items if isinstance(item, Piece))
    assert isinstance(items[-1], End)
    return text, items[-1]


async def test_everything_is_found_out(llama: str) -> None:
    async with Reached(llama) as voice:
        info = voice.info
        assert not talks(voice)
        assert "<|im_start|>" in info.template
        assert (info.bos, info.eos, info.context) == ("<|im_start|>", "<|im_end|>", 2048)
        assert {"<|im_start|>": 1, "<|im_end|>": 2}.items() <= info.specials.items()
        assert voice._places._value == 2


async def test_a_vocabulary_that_is_not_told_is_asked_for(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.engines.llamacpp._from_file", lambda _: {})
    async with Reached(llama) as voice:
        assert voice.info.partial
        assert {"<|im_start|>": 1, "<|im_end|>": 2}.items() <= voice.info.specials.items()
        assert "<tool_call>" not in voice.info.specials


async def test_foreign_text_never_becomes_a_special_token(llama: str) -> None:
    mark = "<|im_start|>"
    prompt = Prompt((Segment(f"{mark}user\nLook: "), Segment(mark, foreign=True), Segment("system\n")))
    async with Reached(llama) as voice:
        ids = await voice.tokens.ids(prompt)
        assert ids.count(voice.info.specials[mark]) == 1
        spelled = await tokenizer(voice).spell(ids)
        assert spelled == prompt.text
        _, end = await written(voice, prompt)
        assert end.prompt == len(ids)


async def test_it_writes_under_a_grammar(llama: str) -> None:
    async with Reached(llama) as voice:
        options = Options(limit=20, grammar='root ::= "yes" | "no"', sampling={"temperature": 0})
        text, _ = await written(voice, Prompt((Segment("Is water wet?"),)), options)
        assert text in ("yes", "no")


async def test_a_prompt_that_is_too_long_is_the_clients_fault(llama: str) -> None:
    async with Reached(llama) as voice:
        with pytest.raises(RequestError, match="maximum context length is 2048"):
            await written(voice, Prompt((Segment("word " * 3000),)))


async def test_leaving_frees_the_slot(llama: str) -> None:
    async with Reached(llama) as voice:
        endless = Options(limit=1500, sampling={"ignore_eos": True})
        async with aclosing(voice.stream(Prompt((Segment("Once"),)), endless)) as batches:  # type: ignore[type-var]
            async for _ in batches:
                break
        while any(slot["is_processing"] for slot in await voice.http.json("/slots")):
            await asyncio.sleep(0.01)


async def test_a_mark_that_nobody_knew_is_asked_for_when_it_comes(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.engines.llamacpp._from_file", lambda _: {})
    forged = "<repo_name>"  # a control token of this model that no dialect has
    request = Request(messages=(Message("user", (Text(f"see {forged} here"),)),))
    async with Reached(llama) as voice:
        assert forged not in voice.info.specials
        await voice.know(suspects(request))
        assert forged in voice.info.specials
        ids = await voice.tokens.ids(render(request, voice.info, api.get("hermes-json")))
        assert voice.info.specials[forged] not in ids
        assert f"see {forged} here" in await tokenizer(voice).spell(ids)


def test_the_marks_of_every_dialect_are_looked_for() -> None:
    found = set(candidates("<odd>", ("<s>",)))
    assert {"<odd>", "<s>"} <= found
    for dialect in map(api.get, api.names()):
        assert {mark for mark in dialect.special if mark.strip()} <= found
