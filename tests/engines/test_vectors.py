"""Vectors of upstreams: asked for in their words, through a fleet, with what they refuse."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from upstreams import Answer, told, upstream

from dragoman.engines.embedding import Wanted
from dragoman.engines.fleet import Fleet
from dragoman.engines.upstream import Settings, Upstream
from dragoman.engines.voice import Voice
from dragoman.errors import Broken, EngineError, RequestError, Unreachable, UnsupportedFeature
from dragoman.messages import Raw

MODELS = told({"data": [{"id": "m"}]})
TEXTS = (Raw("a"), Raw("b"))


def openai_rows(*rows: Any, tokens: Any = 5) -> Answer:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return told({"object": "list", "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})


async def voice(url: str, **more: Any) -> tuple[Upstream, Voice]:
    engine = Upstream(Settings(url=url, **more))
    await engine.start()
    return engine, engine.voices[0]


async def asked(paths: dict[str, Any], *inputs: Raw, wanted: Wanted | None = None, **more: Any) -> tuple[Any, Any]:
    """The vectors, and what the upstream was asked."""
    async with upstream(paths={"/v1/models": MODELS, **paths}) as fake:
        engine, one = await voice(fake.url, **more)
        try:
            found = await one.embed(inputs or TEXTS, wanted or Wanted())
        finally:
            await engine.stop()
        bodies = [body for path, body in fake.asked if "embed" in path]
        assert fake.open == 0
    return found, bodies[-1]


@pytest.mark.parametrize("way", ["chat", "responses"])
async def test_l03_openais_way(way: str) -> None:
    found, body = await asked({"/v1/embeddings": openai_rows([3, 4], [1, 0])}, way=way)
    assert [list(row) for row in found.rows] == [[0.6, 0.8], [1, 0]]
    assert found.tokens == 5
    assert body == {"input": ["a", "b"], "encoding_format": "float", "model": "m"}


async def test_l03_tokens_and_dimensions_are_passed_on() -> None:
    found, body = await asked(
        {"/v1/embeddings": openai_rows([1, 0])}, Raw(ids=(4, 5)), way="chat", wanted=Wanted(dimensions=2)
    )
    assert (body["input"], body["dimensions"], len(found.rows)) == ([[4, 5]], 2, 1)


async def test_dimensions_that_an_upstream_does_not_know_are_not_left_aside() -> None:
    with pytest.raises(RequestError, match="mean nothing when they are cut"):
        await asked({"/v1/embeddings": openai_rows([1, 0], [0, 1])}, way="chat", wanted=Wanted(dimensions=1))


async def test_packed_vectors_and_another_order_are_read() -> None:
    packed = {"index": 1, "embedding": "AAAAAAAAgD8="}  # 0, 1
    rows = told({"data": [packed, {"index": 0, "embedding": [1, 0]}]})
    found, _ = await asked({"/v1/embeddings": rows}, way="chat")
    assert [list(row) for row in found.rows] == [[1, 0], [0, 1]]
    assert found.tokens is None


@pytest.mark.parametrize(
    "answer",
    [
        told({}),
        told([]),
        told({"data": [{"index": 0, "embedding": [1]}]}),
        told({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}),
        told({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": "!"}]}),
        told({"data": [{"index": 0, "embedding": [1]}, {"index": 1}]}),
        told({"data": [1, 2]}),
        Answer([b"<html>"], kind="text/html"),
    ],
)
async def test_an_answer_without_its_vectors_is_the_upstreams_fault(answer: Answer) -> None:
    with pytest.raises(Broken):
        await asked({"/v1/embeddings": answer}, way="chat")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (told({"error": {"message": "too many tokens"}}, 400), RequestError, "too many tokens"),
        (told({"error": {"message": "no such route"}}, 404), EngineError, "no such route"),
        (told({"error": {"message": "broke"}}, 500), EngineError, "broke"),
    ],
)
async def test_what_an_upstream_refuses_is_told(answer: Answer, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        await asked({"/v1/embeddings": answer}, way="chat")


async def test_extra_fields_go_along() -> None:
    from dragoman.engines.talk import Manners

    _, body = await asked(
        {"/v1/embeddings": openai_rows([1], [1])}, way="chat", manners=Manners(["encoding_format"], {"user": "u"})
    )
    assert body == {"input": ["a", "b"], "model": "m", "user": "u"}


OLLAMA = {
    "/api/tags": told({"models": [{"name": "m"}]}),
    "/api/show": told({"capabilities": ["embedding"]}),
    "/api/embed": told({"embeddings": [[3, 4], [1, 0]], "prompt_eval_count": 7}),
}


async def test_o11_ollamas_way() -> None:
    found, body = await asked(OLLAMA, wanted=Wanted(dimensions=2, truncate=True))
    assert [list(row) for row in found.rows] == [[0.6, 0.8], [1, 0]]
    assert found.tokens == 7
    assert body == {"model": "m", "input": ["a", "b"], "truncate": True, "dimensions": 2}


async def test_o11_ollama_takes_no_tokens() -> None:
    with pytest.raises(UnsupportedFeature, match="texts only"):
        async with upstream(paths={"/v1/models": MODELS, **OLLAMA}) as fake:
            engine, one = await voice(fake.url)
            try:
                await one.embed((Raw(ids=(1,)),), Wanted())
            finally:
                await engine.stop()


async def test_a_model_that_only_embeds_is_known_by_what_ollama_shows() -> None:
    async with upstream(paths={"/v1/models": MODELS, **OLLAMA}) as fake:
        engine, one = await voice(fake.url)
        assert (one.info.embeds, one.info.writes, one.embeds) == (True, False, True)
        await engine.stop()


async def test_a_model_that_is_shown_images_is_known_by_what_ollama_shows() -> None:
    shown = told({"capabilities": ["completion", "vision"], "template": "{{ .Prompt }}"})
    async with upstream(paths={"/v1/models": MODELS, **OLLAMA, "/api/show": shown}) as fake:
        engine, one = await voice(fake.url)
        assert (one.info.embeds, one.info.writes, one.info.vision) == (False, True, True)
        await engine.stop()


async def test_images_are_promised_only_where_they_are_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    """In raw completions a prompt is text, whatever the model could see."""
    props = {
        "default_generation_settings": {"n_ctx": 99},
        "chat_template": "{{ messages[0].content }}",
        "total_slots": 1,
    }
    paths = {
        "/v1/models": MODELS,
        "/props": told({**props, "modalities": {"vision": True}}),
        "/tokenize": told({"tokens": []}),
    }
    for way, vision in (("auto", False), ("chat", True)):
        async with upstream(paths=paths) as fake:
            engine, one = await voice(fake.url, way=way)
            assert one.info.vision is vision
            assert ("way `chat` passes them on" in caplog.text) is not vision
            caplog.clear()
            await engine.stop()


async def test_the_settings_may_say_that_images_are_shown() -> None:
    async with upstream(paths={"/v1/models": MODELS}) as fake:
        engine, one = await voice(fake.url, way="chat", vision=True)
        assert one.info.vision
        await engine.stop()


async def test_a_server_of_messages_has_no_vectors() -> None:
    async with upstream(paths={"/v1/models": MODELS}) as fake:
        engine, one = await voice(fake.url, way="messages")
        assert not one.embeds
        assert not Fleet(one).embeds
        await engine.stop()


async def test_llama_cpp_says_whether_it_was_started_for_it() -> None:
    paths = {
        "/props": told({"default_generation_settings": {"n_ctx": 99}, "chat_template": "x", "total_slots": 1}),
        "/tokenize": told({"tokens": []}),
        "/v1/embeddings": told({"error": {"code": 501, "message": "start it with --embeddings"}}, 501),
    }
    with pytest.raises(UnsupportedFeature, match="start it with --embeddings") as caught:
        await asked(paths)
    assert caught.value.status == 501
    paths["/v1/embeddings"] = told({"error": {"message": "input (601 tokens) is too large to process"}}, 500)
    with pytest.raises(RequestError, match="601 tokens") as long:
        await asked(paths)
    assert long.value.code == "context_length_exceeded"


# --- a fleet


async def test_another_upstream_is_asked_where_one_fails() -> None:
    bad = {"/v1/models": MODELS, "/v1/embeddings": told({"error": {"message": "broke"}}, 500)}
    good = {"/v1/models": MODELS, "/v1/embeddings": openai_rows([1, 0], [0, 1])}
    async with upstream(paths=bad) as one, upstream(paths=good) as two:
        (first, a), (second, b) = await voice(one.url, way="chat"), await voice(two.url, way="chat")
        fleet = Fleet(a, b, pause=0)
        assert len((await fleet.embed(TEXTS, Wanted())).rows) == 2
        await first.stop()
        await second.stop()


async def test_a_wrong_request_is_wrong_everywhere() -> None:
    bad = {"/v1/models": MODELS, "/v1/embeddings": told({"error": {"message": "no"}}, 400)}
    async with upstream(paths=bad) as one, upstream(paths=bad) as two:
        (first, a), (second, b) = await voice(one.url, way="chat"), await voice(two.url, way="chat")
        with pytest.raises(RequestError):
            await Fleet(a, b, pause=0).embed(TEXTS, Wanted())
        assert len(one.bodies("/v1/embeddings")) + len(two.bodies("/v1/embeddings")) == 1
        await first.stop()
        await second.stop()


async def test_the_only_one_is_asked_once_more() -> None:
    async with upstream(paths={"/v1/models": MODELS}) as fake:
        fake.answers["/v1/embeddings"] = [Answer([b"{"], breaks=True), openai_rows([1], [1])]
        engine, one = await voice(fake.url, way="chat")
        assert len((await Fleet(one, pause=0).embed(TEXTS, Wanted())).rows) == 2
        await engine.stop()


async def test_nobody_is_left() -> None:
    with pytest.raises(Unreachable):
        await Fleet().embed(TEXTS, Wanted())


async def test_a_cancelled_request_closes_its_connection() -> None:
    async with upstream(paths={"/v1/models": MODELS, "/v1/embeddings": Answer(stays=True)}) as fake:
        engine, one = await voice(fake.url, way="chat")
        task = asyncio.create_task(one.embed(TEXTS, Wanted()))
        while not fake.bodies("/v1/embeddings"):
            await asyncio.sleep(0.005)
        fake.closed.clear()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await fake.closed.wait()
        assert engine.running == 0
        await engine.stop()
