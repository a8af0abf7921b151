"""What an upstream is gets found out; the real llama.cpp server is spoken to on both ways."""

from __future__ import annotations

import json

import pytest
from upstreams import Answer, told, upstream

from dragoman.engines.base import Options, Piece, Prompt, Segment, talks, voices
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


async def test_a_llama_cpp_with_several_models_is_told_which_one() -> None:
    props = {"default_generation_settings": {"n_ctx": 99}, "chat_template": "{{ messages }}<|im_start|>assistant"}
    end = {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 1, "tokens_evaluated": 2}
    paths = {
        "/v1/models": told({"data": [{"id": "a/one"}, {"id": "two"}]}),
        "/props": told(props),
        "/tokenize": told({"tokens": []}),
        "/completion": Answer([b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in ({"content": "Hi"}, end)]),
    }
    async with upstream(paths=paths) as fake:
        engine = Upstream(Settings(url=fake.url))
        await engine.start()
        one, _ = engine.voices
        items = [item async for batch in one.stream(Prompt((Segment("x"),)), Options()) for item in batch]
        await engine.stop()
    assert items[0] == Piece("Hi", [])
    assert {path for path, _ in fake.asked} >= {"/props?model=a/one", "/props?model=two"}
    assert {body["model"] for body in fake.bodies("/tokenize")} == {"a/one", "two"}
    assert fake.bodies("/completion")[0]["model"] == "a/one"
