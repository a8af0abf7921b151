"""Several upstreams behind one address: names, patterns, aliases; who is down, and who comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from upstreams import Answer, Fake, delta, frames, told, upstream

from dragoman.engines.fleet import Fleet
from dragoman.engines.upstream import Settings, Upstream
from dragoman.errors import EngineError, RequestError, Unreachable
from dragoman.server.roster import Roster

CHAT = "/v1/chat/completions"


def serving(*models: str, **more: Any) -> dict[str, Any]:
    return {
        "/v1/models": told({"data": [{"id": name} for name in models]}),
        CHAT: Answer(frames(delta("Hi", "stop"))),
        **more,
    }


@asynccontextmanager
async def routed(
    *fakes: tuple[dict[str, Any], dict[str, Any]], **settings: Any
) -> AsyncIterator[tuple[Roster, list[Fake]]]:
    async with AsyncExitStack() as stack:
        made = [await stack.enter_async_context(upstream(paths=paths)) for paths, _ in fakes]
        engines = [
            Upstream(Settings(url=fake.url, health=0.05, **more)) for fake, (_, more) in zip(made, fakes, strict=True)
        ]
        roster = Roster(engines, **settings)
        stack.push_async_callback(roster.stop)
        await roster.start()
        yield roster, made


def homes(roster: Roster, model: str) -> list[str]:
    engine = roster.pick(model).engine
    assert isinstance(engine, Fleet)
    return [home.name for home in engine.homes if home]


async def test_models_go_to_those_who_have_them() -> None:
    async with routed((serving("a", "b"), {}), (serving("b", "c"), {})) as (roster, (one, two)):
        assert homes(roster, "a") == [one.url]
        assert homes(roster, "b") == [one.url, two.url]
        assert homes(roster, "c") == [two.url]
        with pytest.raises(RequestError, match="no model 'd'"):
            roster.pick("d")


async def test_patterns_choose_among_the_models_of_an_upstream() -> None:
    async with routed((serving("qwen3", "qwen-vl", "llama"), {"models": ["qwen*"]})) as (roster, _):
        assert [served.name for served in roster] == ["qwen3", "qwen-vl"]


async def test_a_pattern_takes_models_that_are_not_listed() -> None:
    async with routed((serving("a"), {"models": ["a", "gpt-*"], "prefix": "far/"})) as (roster, (one,)):
        assert [served.name for served in roster] == ["far/a"]
        served = roster.pick("far/gpt-5")
        assert served.name == "far/gpt-5"
        assert homes(roster, "far/gpt-5") == [one.url]
        assert served.engine.members[0].model == "gpt-5"  # type: ignore[attr-defined]


async def test_names_that_clients_make_up_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.server.roster._GUESTS", 3)
    async with routed((serving("a"), {"models": ["a", "*"]})) as (roster, _):
        labels = [roster.pick(f"made-up-{number}").label for number in range(10)]
        assert labels == ["made-up-0", "made-up-1", "made-up-2", *["other"] * 7]
        assert [served.name for served in roster] == ["a", "made-up-7", "made-up-8", "made-up-9"]
        assert roster.pick("a").label == "a"
        assert roster.pick("made-up-1").label == "made-up-1"
        with pytest.raises(RequestError, match="no model"):
            roster.pick("made\nup")


async def test_aliases_are_further_names() -> None:
    aliases = {"gpt-4o": "a", "claude-*": "b"}
    async with routed((serving("a", "b", "c"), {}), aliases=aliases) as (roster, _):
        assert roster.pick("gpt-4o").name == "a"
        assert roster.pick("claude-sonnet").name == "b"
        assert roster.pick("c").name == "c"


async def test_models_of_one_upstream_share_its_places() -> None:
    async with routed((serving("a", "b"), {"limit": 3})) as (roster, _):
        one, two = roster
        assert one.gate is two.gate
        assert one.gate.places == 3


async def test_one_that_is_not_there_is_waited_for() -> None:
    async with routed((serving("a"), {})) as (_, (fake,)):
        late = Upstream(Settings(url="http://127.0.0.1:1", health=0.05))
        roster = Roster([late])
        await roster.start()
        with pytest.raises(Unreachable, match="cannot be reached"):
            roster.pick("a")
        late.http.url = fake.url
        while not roster.ready:
            await asyncio.sleep(0.01)
        assert roster.pick("a").name == "a"
        await roster.stop()


async def test_one_of_two_that_is_not_there_does_not_matter() -> None:
    async with upstream(paths=serving("a")) as fake:
        roster = Roster([Upstream(Settings(url="http://127.0.0.1:1")), Upstream(Settings(url=fake.url))])
        await roster.start()
        assert roster.ready
        assert roster.pick("a").name == "a"
        await roster.stop()


async def test_one_that_comes_back_tells_its_models_anew() -> None:
    async with routed((serving("a", "b"), {})) as (roster, (fake,)):
        (engine,) = roster.engines
        assert isinstance(engine, Upstream)
        engine.healthy = False
        fake.answers["/v1/models"] = told({"data": [{"id": "b"}, {"id": "new"}]})
        url, engine.http.url = engine.http.url, "http://127.0.0.1:1"
        while engine.voices and await engine._is_there():
            await asyncio.sleep(0.01)
        engine.http.url = url
        while "new" not in {served.name for served in roster}:
            await asyncio.sleep(0.01)
        assert homes(roster, "new") == [fake.url]
        assert {served.name for served in roster} == {"b", "new"}  # what it no longer has is gone


async def test_one_of_two_that_is_wrong_does_not_matter() -> None:
    wrong = {"/v1/models": told({"error": {"message": "who are you?"}}, 401)}
    async with routed((wrong, {}), (serving("a"), {})) as (roster, _):
        assert roster.pick("a").name == "a"


async def test_the_only_one_that_is_wrong_is_told() -> None:
    with pytest.raises(EngineError, match="who are you"):
        async with routed(({"/v1/models": told({"error": {"message": "who are you?"}}, 401)}, {})):
            pass
