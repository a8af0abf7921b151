"""An upstream that decodes by itself: what it does wrong is put right, and what it says is passed on."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from upstreams import Answer, delta, frames, told, upstream

from dragoman.engines.base import End, ModelInfo, Options, Piece, Prompt
from dragoman.engines.http import Http
from dragoman.engines.refusals import refused
from dragoman.engines.talk import SPEECHES, Manners, Talk
from dragoman.errors import Broken, Refused, UnsupportedFeature
from dragoman.events import CallStart, Reasoning
from dragoman.messages import Message, Request, Text

HELLO = Request(messages=(Message("user", (Text("Hello"),)),))
PATH = "/v1/chat/completions"


async def hear(answer: Any, request: Request | None = HELLO, manners: Manners | None = None, **options: Any) -> Any:
    """The items, and what was asked."""
    async with upstream(paths={PATH: answer}) as fake:
        http = Http(fake.url, "upstream", refused)
        talk = Talk(
            http, ModelInfo("shown"), SPEECHES["chat"], model="there", places=asyncio.Semaphore(1), manners=manners
        )
        items: list[Any] = []
        try:
            async for batch in talk.stream(Prompt(()), Options(**options), request):
                items += batch
        finally:
            await http.close()
            talk.heard = items  # type: ignore[attr-defined]
        return items, fake.bodies(PATH)


async def test_text_comes_as_pieces_and_the_rest_as_events() -> None:
    call = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    items, asked = await hear(
        Answer(frames(delta(reasoning="r"), delta("Hi"), delta(**call), delta(finish="tool_calls"), usage))
    )
    assert items[:2] == [Reasoning("r"), Piece("Hi")]
    assert items[2] == CallStart(0, "a", "f", 2)
    assert items[-1] == End("stop", 3, 4)
    assert asked[0]["model"] == "there"
    assert asked[0]["stream"] is True


async def test_stop_strings_are_not_sent_and_choices_are_asked_one_by_one() -> None:
    request = Request(messages=HELLO.messages, stop=("END",), n=3)
    _, asked = await hear(Answer(frames(delta("a", "stop"))), request)
    assert not {"stop", "n"} & set(asked[0])


async def test_an_upstream_may_want_it_otherwise() -> None:
    manners = Manners(drop=("stream_options",), extra={"keep_alive": "1h"})
    _, asked = await hear(Answer(frames(delta("a", "stop"))), manners=manners)
    assert "stream_options" not in asked[0]
    assert asked[0]["keep_alive"] == "1h"


async def test_an_answer_in_one_piece_is_one_too() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    items, _ = await hear(told(whole))
    assert items == [Piece("Hi"), End("stop")]


async def test_a_last_mark_that_never_comes_is_not_waited_for() -> None:
    items, _ = await hear(Answer(frames(delta("Hi", "stop"), done=False), stays=True))
    assert items == [Piece("Hi"), End("stop")]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(frames(delta("Hi"), done=False)), Broken),
        (Answer(frames(delta("Hi"), done=False), breaks=True), Broken),
        (Answer([*frames(delta("Hi"), done=False), b'data: {"cho']), Broken),
        (Answer(frames(delta("Hi"), {"error": {"message": "out of memory"}})), Refused),
        (told({"error": {"message": "no"}}), Refused),
        (Answer([b"<html>"], kind="application/json"), Broken),
        (Answer([b"<html>busy</html>"], kind="text/html"), Broken),
    ],
)
async def test_what_breaks_never_ends_well(answer: Answer, kind: type) -> None:
    with pytest.raises(kind):
        await hear(answer)


async def test_what_came_before_an_error_is_passed_on() -> None:
    body = b"".join(frames(delta("Hi"), {"error": {"message": "out of memory"}}))
    async with upstream(paths={PATH: Answer([body])}) as fake:
        http = Http(fake.url, "upstream", refused)
        talk = Talk(http, ModelInfo("m"), SPEECHES["chat"], model="m", places=asyncio.Semaphore(1))
        found: list[Any] = []
        with pytest.raises(Refused, match="out of memory"):
            async for batch in talk.stream(Prompt(()), Options(), HELLO):
                found += batch
        assert found == [Piece("Hi")]
        await http.close()


async def test_leaving_closes_the_request_at_once() -> None:
    async with upstream(paths={PATH: Answer(frames(delta("Hi"), done=False), stays=True)}) as fake:
        http = Http(fake.url, "upstream", refused)
        talk = Talk(http, ModelInfo("m"), SPEECHES["chat"], model="m", places=asyncio.Semaphore(1))
        async with aclosing(talk.stream(Prompt(()), Options(), HELLO)) as batches:  # type: ignore[type-var]
            async for _ in batches:
                break
        await asyncio.wait_for(fake.closed.wait(), 60)
        assert fake.open == 0
        await http.close()


async def test_log_probabilities_ride_on_the_text_they_came_with() -> None:
    chunk = delta("2", "length")
    chunk["choices"][0]["logprobs"] = {"content": [{"token": "2", "logprob": -0.1, "bytes": [50]}]}
    items, _ = await hear(Answer(frames(delta("1"), chunk)), logprobs=0)
    (piece,) = [item for item in items if isinstance(item, Piece) and item.logprobs]
    assert piece.text.endswith("2")
    assert piece.logprobs[0].logprob == -0.1
    assert "".join(item.text for item in items if isinstance(item, Piece)) == "12"


async def test_a_raw_prompt_is_no_conversation() -> None:
    with pytest.raises(UnsupportedFeature, match="no raw prompts"):
        await hear(Answer(), None)


async def test_what_was_read_together_comes_together() -> None:
    async with upstream(paths={PATH: Answer([b"".join(frames(delta("a"), delta("b"), delta("c", "stop")))])}) as fake:
        http = Http(fake.url, "upstream", refused)
        talk = Talk(http, ModelInfo("m"), SPEECHES["chat"], model="m", places=asyncio.Semaphore(1))
        batches = [batch async for batch in talk.stream(Prompt(()), Options(), HELLO)]
        await http.close()
    assert batches[0][:3] == [Piece("a"), Piece("b"), Piece("c")]
    assert json.dumps(fake.bodies(PATH)[0])
