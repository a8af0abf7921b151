"""What an upstream is gets found out; the real llama.cpp server is spoken to on both ways."""

from __future__ import annotations

import pytest
from upstreams import Answer, told, upstream

from dragoman.engines.base import talks, voices
from dragoman.engines.upstream import Settings, Upstream
from dragoman.errors import Refused, Unreachable, UsageError


async def test_a_server_that_lists_models_is_talked_with() -> None:
    models = told({"data": [{"id": "a", "max_model_len": 99}, {"id": "b.gguf"}, {"name": "odd"}]})
    async with upstream(v1_models=models) as fake:
        engine = Upstream(Settings(url=fake.url))
        await engine.start()
        one, two = voices(engine)
        assert talks(one)
        assert [info.name for info in await engine.models()] == ["a", "b"]
        assert (one.info.context, two.info.context) == (99, None)
        await engine.stop()


async def test_one_model_can_be_named_where_none_is_listed() -> None:
    async with upstream() as fake:
        engine = Upstream(Settings(url=fake.url, models=["m"]))
        await engine.start()
        assert [info.name for info in await engine.models()] == ["m"]
        await engine.stop()
        nameless = Upstream(Settings(url=fake.url))
        with pytest.raises(UsageError, match="does not list its models"):
            await nameless.start()
        await nameless.stop()


async def test_nobody_there_is_told() -> None:
    engine = Upstream(Settings(url="http://127.0.0.1:1"))
    with pytest.raises(Unreachable):
        await engine.start()
    await engine.stop()


async def test_an_upstream_that_hides_everything_is_asked_by_name() -> None:
    async with upstream(v1_models=Answer(status=404)) as fake:
        engine = Upstream(Settings(url=fake.url + "/v1", models=["gpt"], way="chat"))
        await engine.start()
        assert engine.voices[0].info.source == f"chat of a server at {fake.url}"
        await engine.stop()


async def test_one_that_is_loading_is_waited_for() -> None:
    async with upstream(v1_models=told({"error": {"message": "Loading model", "code": 503}}, 503)) as fake:
        engine = Upstream(Settings(url=fake.url))
        with pytest.raises(Unreachable, match=r"is not ready.*Loading model"):
            await engine.start()
        await engine.stop()


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_is_told(status: int) -> None:
    async with upstream(v1_models=told({"error": {"message": "who are you?"}}, status)) as fake:
        engine = Upstream(Settings(url=fake.url, key="wrong"))
        with pytest.raises(Refused, match=r"who are you\?.*the upstream's key"):
            await engine.start()
        await engine.stop()
