"""Ollama's raw generations over HTTP, in the shapes of its documentation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from upstreams import Answer, Fake, told, upstream

from dragoman.engines.base import End, ModelInfo, Options, Piece, Prompt, Segment, grammars
from dragoman.engines.http import Http
from dragoman.engines.ollama import Ollama
from dragoman.engines.refusals import refused
from dragoman.engines.talk import Manners
from dragoman.errors import Broken, Refused
from dragoman.events import Notice
from dragoman.messages import Request

PATH = "/api/generate"
HELLO = Prompt((Segment("<|im_start|>user\nsay "), Segment("<|im_end|>", foreign=True)))
NDJSON = "application/x-ndjson"


def lines(*items: Any) -> list[bytes]:
    return [json.dumps({"model": "m", "created_at": "2026-01-01T00:00:00Z", **item}).encode() + b"\n" for item in items]


END = {"response": "", "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 2, "eval_duration": 9}


async def write(answer: Answer, request: Request | None = None, manners: Manners | None = None, **options: Any) -> Any:
    async with upstream(paths={PATH: answer}) as fake:
        http = Http(fake.url, "upstream", refused)
        info = ModelInfo("m", specials={"<tool_call>": 3})
        voice = Ollama(http, info, model="qwen3:8b", places=asyncio.Semaphore(1), manners=manners)
        try:
            return [item async for batch in voice.stream(HELLO, Options(**options), request) for item in batch], fake
        finally:
            await http.close()


def body_of(fake: Fake) -> Any:
    return fake.bodies(PATH)[0]


async def test_a_raw_generation() -> None:
    said = [{"response": "Hi", "done": False}, {"response": "<tool_call>", "done": False}, END]
    items, fake = await write(Answer(lines(*said), kind=NDJSON), limit=7, sampling={"temperature": 0.5})
    assert items == [
        Notice("foreign-mark", raw="<|im_end|>"),
        Piece("Hi"),
        Piece("<tool_call>", (3,), special=True),
        End("stop", 5, 2, extra={"eval_duration": 9}),
    ]
    assert body_of(fake) == {
        "model": "qwen3:8b",
        "prompt": "<|im_start|>user\nsay < |im_end|>",
        "raw": True,
        "stream": True,
        "options": {"temperature": 0.5, "num_predict": 7},
    }


async def test_no_limit_is_none() -> None:
    _, fake = await write(Answer(lines(END), kind=NDJSON))
    assert body_of(fake)["options"] == {"num_predict": -1}


async def test_a_schema_is_a_format() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    _, fake = await write(Answer(lines(END), kind=NDJSON), Request(schema=schema))
    assert body_of(fake)["format"] == schema
    _, fake = await write(Answer(lines(END), kind=NDJSON), Request(schema={}))
    assert body_of(fake)["format"] == "json"


async def test_options_of_the_settings_are_put_together_with_ours() -> None:
    manners = Manners(extra={"options": {"num_ctx": 16384}, "keep_alive": "1h"})
    _, fake = await write(Answer(lines(END), kind=NDJSON), manners=manners, limit=7)
    assert body_of(fake)["options"] == {"num_predict": 7, "num_ctx": 16384}
    assert body_of(fake)["keep_alive"] == "1h"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(lines({"response": "Hi", "done": False}), kind=NDJSON), Broken),
        (Answer([*lines({"response": "Hi", "done": False}), b'{"respo'], kind=NDJSON), Broken),
        (Answer(lines({"response": "Hi", "done": False}, {"error": "CUDA error"}), kind=NDJSON), Refused),
        (told({"error": "model 'x' not found"}, 404), Refused),
    ],
)
async def test_what_breaks_is_an_error(answer: Answer, kind: type) -> None:
    with pytest.raises(kind):
        await write(answer)


async def test_it_cannot_be_forced_into_a_call() -> None:
    voice = Ollama(Http("localhost", "x", refused), ModelInfo("m"), model="m", places=asyncio.Semaphore(1))
    assert grammars(voice) == ""
    assert await voice.count(HELLO) is None
    assert [batch async for batch in voice.stream(Prompt(()), Options(limit=0))] == [[End("length", None, 0)]]


CALL = '{"name": "f", "arguments": {}}'


def called(*end: Any) -> Answer:
    return Answer(
        lines({"response": CALL[:9], "done": False}, {"response": CALL[9:], "done": False}, *end), kind=NDJSON
    )


async def test_a_forced_call_is_a_format_and_its_marks_are_added() -> None:
    schema = {"type": "object"}
    asked = {"grammar": json.dumps(schema), "form": "json_schema", "around": ("<tool_call>\n", "\n</tool_call>")}
    items, fake = await write(called(END), **asked)
    assert body_of(fake)["format"] == schema
    assert body_of(fake)["prompt"].endswith("< |im_end|><tool_call>\n")
    pieces = [item for item in items if type(item) is Piece]
    assert "".join(piece.text for piece in pieces) == f"<tool_call>\n{CALL}\n</tool_call>"
    assert (pieces[0].text, pieces[0].special) == ("<tool_call>", True)
    assert type(items[-1]) is End


async def test_a_forced_call_that_is_cut_is_not_closed() -> None:
    items, _ = await write(
        called({**END, "done_reason": "length"}), grammar="{}", around=("<tool_call>", "</tool_call>")
    )
    assert "</tool_call>" not in "".join(item.text for item in items if type(item) is Piece)
