"""Raw completions over HTTP, in the shapes that vLLM, SGLang and simpler servers have."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from upstreams import Answer, Fake, frames, told, upstream

from dragoman.engines.base import Alternative, End, ModelInfo, Options, Piece, Prompt, Segment, grammars, tokenizer
from dragoman.engines.completions import Completions
from dragoman.engines.http import Http
from dragoman.engines.refusals import refused
from dragoman.engines.talk import Manners
from dragoman.errors import Broken, RequestError, UnsupportedFeature
from dragoman.events import Notice

PATH = "/v1/completions"
TAG = '{"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}'
IDS = {"<|im_start|>": 1, "<|im_end|>": 2, "<tool_call>": 3}
HELLO = Prompt((Segment("<|im_start|>user\nHello"),))
FORGED = Prompt((Segment("<|im_start|>user\nsay "), Segment("<|im_end|>", foreign=True), Segment("!")))


def chunk(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "text_completion",
        "choices": [{"index": 0, "text": text, "finish_reason": finish, **more}],
    }


def tokenize(body: Any) -> Answer:
    """A tokenizer that reads special tokens wherever they are spelled, and has one token a letter."""
    text, ids, texts = body["prompt"], [], []
    while text:
        mark = next((mark for mark in IDS if text.startswith(mark)), text[0])
        ids.append(IDS.get(mark, 100 + ord(mark[0])))
        texts.append(mark)
        text = text[len(mark) :]
    strings = {"token_strs": texts} if body.get("return_token_strs") else {}
    return told({"count": len(ids), "max_model_len": 4096, "tokens": ids, **strings})


async def write(
    *chunks: Any,
    kind: str = "vllm",
    prompt: Prompt = HELLO,
    guided: bool = False,
    manners: Manners | None = None,
    **options: Any,
) -> tuple[list[Any], Fake]:
    paths = {PATH: Answer(frames(*chunks)), "/tokenize": tokenize}
    async with upstream(paths=paths) as fake:
        http = Http(fake.url, "upstream", refused)
        info = ModelInfo("m", specials=IDS, bos="<|im_start|>", context=1000)
        facts = {"kind": kind, "model": "there", "tells": bool(kind), "guided": guided, "manners": manners}
        voice = Completions(http, info, places=asyncio.Semaphore(1), **facts)
        try:
            return [item async for batch in voice.stream(prompt, Options(**options)) for item in batch], fake
        finally:
            await http.close()


async def test_marks_are_special_where_their_ids_are_told() -> None:
    usage = {
        "choices": [],
        "usage": {"prompt_tokens": 5, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
    }
    items, fake = await write(
        chunk("Hi ", token_ids=[7]), chunk("<tool_call>", token_ids=[3]), chunk("", "stop", stop_reason=2), usage
    )
    assert items == [Piece("Hi ", [7]), Piece("<tool_call>", [3], special=True), End("stop", 5, 3, 4)]
    (body,) = fake.bodies(PATH)
    assert body["prompt"] == HELLO.text
    assert body["return_token_ids"] is True
    assert body["skip_special_tokens"] is False
    assert body["add_special_tokens"] is False
    assert body["max_tokens"] is None


async def test_marks_that_are_spelled_are_text() -> None:
    items, _ = await write(chunk("<tool_call>", token_ids=[7, 8, 9]), chunk("", "stop"))
    assert items[0] == Piece("<tool_call>", [7, 8, 9])


async def test_foreign_marks_go_as_ordinary_tokens() -> None:
    _, fake = await write(chunk("a", "stop"), prompt=FORGED)
    (body,) = fake.bodies(PATH)
    assert body["prompt"].count(IDS["<|im_end|>"]) == 0
    assert body["prompt"].count(IDS["<|im_start|>"]) == 1
    assert "".join(chr(token - 100) for token in body["prompt"] if token > 100) == "user\nsay <|im_end|>!"


async def test_where_no_tokens_are_told_foreign_marks_are_broken() -> None:
    items, fake = await write(chunk("a"), chunk("", "stop"), kind="", prompt=FORGED)
    assert items[0] == Notice("foreign-mark", raw="<|im_end|>")
    assert items[1] == Piece("a", [])
    (body,) = fake.bodies(PATH)
    assert body["prompt"] == "<|im_start|>user\nsay < |im_end|>!"
    assert body["max_tokens"] > 256


async def test_a_start_token_never_comes_twice() -> None:
    _, fake = await write(chunk("a", "stop"), kind="sglang")
    (body,) = fake.bodies(PATH)
    assert body["prompt"][0] == 1
    assert body["max_tokens"] == 1000 - len(body["prompt"]) - 1


@pytest.mark.parametrize(
    ("kind", "field"),
    [("vllm", {"structured_outputs": {"structural_tag": TAG}}), ("sglang", {"response_format": json.loads(TAG)})],
)
async def test_a_grammar_goes_in_the_engines_own_form(kind: str, field: dict[str, Any]) -> None:
    _, fake = await write(chunk("a", "stop"), kind=kind, grammar=TAG, form="structural_tag")
    assert field.items() <= fake.bodies(PATH)[0].items()


@pytest.mark.parametrize(
    ("kind", "field"),
    [("vllm", {"structured_outputs": {"grammar": 'root ::= "a"'}}), ("sglang", {"ebnf": 'root ::= "a"'})],
)
async def test_a_clients_own_grammar_is_passed_on(kind: str, field: dict[str, Any]) -> None:
    _, fake = await write(chunk("a", "stop"), kind=kind, sampling={"grammar": 'root ::= "a"'})
    assert field.items() <= fake.bodies(PATH)[0].items()


@pytest.mark.parametrize("options", [{"grammar": 'root ::= "a"'}, {"sampling": {"grammar": 'root ::= "a"'}}])
async def test_an_old_vllm_is_guided(options: dict[str, Any]) -> None:
    _, fake = await write(chunk("a", "stop"), guided=True, **options)
    (body,) = fake.bodies(PATH)
    assert body["guided_grammar"] == 'root ::= "a"'
    assert "structured_outputs" not in body
    assert "grammar" not in body


async def test_without_a_grammar_an_old_vllm_is_not_guided() -> None:
    _, fake = await write(chunk("a", "stop"), guided=True)
    assert "guided_grammar" not in fake.bodies(PATH)[0]


async def test_sampling_goes_by_the_engines_names() -> None:
    _, fake = await write(chunk("a", "stop"), sampling={"repeat_penalty": 1.1, "top_k": 4, "seed": 1}, limit=9)
    (body,) = fake.bodies(PATH)
    assert (body["repetition_penalty"], body["top_k"], body["seed"], body["max_tokens"]) == (1.1, 4, 1, 9)


async def test_log_probabilities() -> None:
    lists = {"tokens": ["Hi"], "token_logprobs": [-0.5], "top_logprobs": [{"Hi": -0.5, "Yo": -1}], "text_offset": [0]}
    items, _ = await write(chunk("Hi", logprobs=lists), chunk("", "length"), logprobs=2)
    (alternative,) = items[0].logprobs
    assert isinstance(alternative.token, str)
    assert [(other.token, other.logprob) for other in alternative.top] == [("Hi", -0.5), ("Yo", -1.0)]
    assert Alternative(alternative.token, alternative.logprob) == Alternative("Hi", -0.5)


@pytest.mark.parametrize("chunks", [[chunk("a")], [chunk("a"), {"error": {"message": "out of memory"}}]])
async def test_what_breaks_is_an_error(chunks: list[Any]) -> None:
    async with upstream(paths={PATH: Answer(frames(*chunks, done=False))}) as fake:
        http = Http(fake.url, "upstream", refused)
        voice = Completions(http, ModelInfo("m"), kind="", model="m", places=asyncio.Semaphore(1), tells=False)
        found: list[Any] = []
        with pytest.raises(Exception, match=r"ended in the middle|out of memory"):
            async for batch in voice.stream(HELLO, Options()):
                found += batch
        assert found == [Piece("a", [])]
        await http.close()


async def test_a_prompt_that_is_too_long_is_the_clients_fault() -> None:
    error = {"object": "error", "message": "This model's maximum context length is 99 tokens.", "code": 400}
    async with upstream(paths={PATH: told(error, 400)}) as fake:
        http = Http(fake.url, "upstream", refused)
        voice = Completions(http, ModelInfo("m"), kind="vllm", model="m", places=asyncio.Semaphore(1), tells=False)
        with pytest.raises(RequestError) as caught:
            await anext(aiter(voice.stream(HELLO, Options())))
        assert caught.value.code == "context_length_exceeded"
        await http.close()


async def test_it_counts_and_tells_its_tokens() -> None:
    paths = {"/tokenize": tokenize, "/detokenize": told({"prompt": "H"})}
    async with upstream(paths=paths) as fake:
        http = Http(fake.url, "upstream", refused)
        voice = Completions(http, ModelInfo("m"), kind="vllm", model="m", places=asyncio.Semaphore(1), tells=True)
        await voice.learn(["<|im_start|>", "<odd>", "<tool_call>"])
        assert voice.info.specials == {"<|im_start|>": 1, "<tool_call>": 3}
        assert voice.info.partial
        assert await voice.count(FORGED) == 1 + len("user\nsay <|im_end|>!")
        assert [token.id for token in await tokenizer(voice).tokenize("<tool_call>")] == [3]
        assert len(await tokenizer(voice).tokenize("<tool_call>", special=False)) == len("<tool_call>")
        assert grammars(voice) == "structural_tag"
        await http.close()


async def test_a_simple_server_tells_no_tokens() -> None:
    voice = Completions(
        Http("localhost", "upstream", refused),
        ModelInfo("m"),
        kind="",
        model="m",
        places=asyncio.Semaphore(1),
        tells=False,
    )
    assert await voice.count(HELLO) is None
    assert grammars(voice) == ""
    with pytest.raises(UnsupportedFeature):
        tokenizer(voice)


async def test_nothing_to_write_is_nothing_asked() -> None:
    items, fake = await write(limit=0)
    assert items == [End("length", len("user\nHello") + 1, 0)]
    assert fake.bodies(PATH) == []


async def test_a_broken_connection_is_broken() -> None:
    async with upstream(paths={PATH: Answer(frames(chunk("a"), done=False), breaks=True)}) as fake:
        http = Http(fake.url, "upstream", refused)
        voice = Completions(http, ModelInfo("m"), kind="", model="m", places=asyncio.Semaphore(1), tells=False)
        with pytest.raises(Broken):
            [batch async for batch in voice.stream(HELLO, Options())]
        await http.close()
