"""Keys: who gets in, what they may use, and how much."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import Busy, RequestError, UsageError
from dragoman.server.keys import Key, Keys, digest, fresh

from .conftest import PATH, Running, ask, call

Serving = Callable[..., Running]
ALICE, BOB = "dgm_alice", "dgm_bob"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "keys.toml"
    path.write_text(f"""
[[key]]
name = "alice"
hash = "{digest(ALICE.encode())}"
models = ["big-*"]
[[key]]
name = "bob"
hash = "{digest(BOB.encode())}"
per_minute = 2
streams = 1
""")
    return str(path)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def scope(**headers: str) -> dict[str, Any]:
    return {"headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]}


def test_without_keys_everybody_gets_in() -> None:
    assert Keys().find(scope()).name == ""
    assert not Keys()


def test_each_key_is_known_by_either_header(file: str) -> None:
    keys = Keys.read(file, "plain")
    assert keys.find(scope(authorization=f"Bearer {ALICE}")).name == "alice"
    assert keys.find(scope(x_api_key=BOB)).name == "bob"
    assert keys.find(scope(x_api_key="plain")).name == "default"
    for headers in ({}, {"x_api_key": "other"}, {"authorization": f"Basic {BOB}"}):
        with pytest.raises(RequestError) as caught:
            keys.find(scope(**headers))
        assert caught.value.status == 401


def test_a_key_is_not_kept(file: str) -> None:
    keys = Keys.read(file, "plain")
    assert "plain" not in repr(vars(keys))
    assert ALICE not in repr(vars(keys))
    assert fresh() != fresh()


def test_a_key_uses_its_models_only() -> None:
    key = Key("a", models=("big-*", "one"))
    key.check_model("big-7b")
    key.check_model("one")
    with pytest.raises(RequestError) as caught:
        key.check_model("two")
    assert (caught.value.status, caught.value.code) == (403, "model_not_allowed")


def test_so_many_a_minute() -> None:
    key = Key("a", per_minute=60)
    for _ in range(60):
        key.take(100.0)
    with pytest.raises(Busy) as caught:
        key.take(100.0)
    assert (caught.value.status, caught.value.retry) == (429, pytest.approx(1.0))
    key.take(101.0)
    with pytest.raises(Busy):
        key.take(101.5)
    for _ in range(60):  # never more than a minute's worth at once, however long it was quiet
        key.take(1e6)
    with pytest.raises(Busy):
        key.take(1e6)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x", "cannot be read"),
        ("key = 1", "[[key]]"),
        ("[other]", "[[key]]"),
        ("key = [1]", "key 1 is no table"),
        ('[[key]]\nname = "a"', "needs a name and a hash"),
        ('[[key]]\nhash = "sha256:00"', "needs a name and a hash"),
        ('[[key]]\nname = "a"\nhash = "plain"', "needs a name and a hash"),
        ('[[key]]\nnames = "a"', "unknown entry 'names'"),
        ("[[key]]\nstreams = -1", "streams cannot be -1"),
        ("[[key]]\nstreams = true", "streams cannot be True"),
        ('[[key]]\nmodels = "a"', "models cannot be 'a'"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        Keys.read(str(path))
    assert told in str(caught.value)


async def test_a_model_that_a_key_may_not_use_is_refused_and_not_listed(serving: Serving, file: str) -> None:
    server = serving({"output": "Hi"}, keys=file)
    answer = await ask(server, headers=bearer(ALICE))
    assert (answer.status, answer.json["error"]["code"]) == (403, "model_not_allowed")
    assert (await ask(server, headers=bearer(BOB))).status == 200
    for path in ("/v1/models", "/api/tags"):
        listed = (await call(server, "GET", path, headers=bearer(ALICE))).json
        assert "demo" not in str(listed)
    assert (await call(server, "GET", "/v1/models/demo", headers=bearer(ALICE))).status == 403
    assert (await call(server, "GET", "/")).json["models"] == []
    tokens = await call(server, "POST", "/tokenize", json={"content": "x"}, headers=bearer(ALICE))
    assert tokens.status == 403


async def test_limits_are_told_with_a_time(serving: Serving, file: str) -> None:
    server = serving({"output": "x", "after": 0, "stall": True}, keys=file)
    import asyncio

    first = asyncio.create_task(ask(server, headers=bearer(BOB)))
    await server.busy()
    answer = await ask(server, headers=bearer(BOB))
    assert (answer.status, answer.json["error"]["type"]) == (429, "rate_limit_error")
    assert int(answer.headers["retry-after"]) >= 1
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await server.idle()


async def test_every_protocol_tells_a_limit_in_its_words(serving: Serving, file: str) -> None:
    server = serving({"output": "Hi"}, keys=file)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5, "stream": False}
    for _ in range(2):
        assert (await call(server, "POST", PATH, json=body, headers=bearer(BOB))).status == 200
    for path in (PATH, "/v1/messages", "/api/chat", "/v1/responses", "/v1/completions"):
        answer = await call(server, "POST", path, json=body, headers=bearer(BOB))
        assert answer.status == 429, path
        assert "2 requests a minute" in answer.body.decode()
