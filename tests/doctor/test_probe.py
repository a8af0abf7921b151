from __future__ import annotations

import pytest

from dragoman.doctor.probe import Probe, base_of
from dragoman.errors import UsageError

from .conftest import Running


@pytest.mark.parametrize(
    "url",
    [
        "http://h:1",
        "http://h:1/",
        "http://h:1/v1",
        "http://h:1/v1/",
        "http://h:1/v1/chat/completions",
        "http://h:1/v1/messages?beta=true",
        "http://h:1/api/chat",
        "h:1/v1/responses",
    ],
)
def test_a_path_of_the_api_is_no_part_of_the_address(url: str) -> None:
    assert base_of(url) == "http://h:1"


def test_a_path_before_the_api_is_part_of_the_address() -> None:
    assert base_of("https://h/proxy/openai/v1") == "https://h/proxy/openai"


@pytest.mark.parametrize("url", ["", "http://", "ftp://h", "http:///v1"])
def test_no_address(url: str) -> None:
    with pytest.raises(UsageError, match="is no URL of a server"):
        base_of(url)


async def test_an_answer(good: Running) -> None:
    async with Probe(good.url) as probe:
        reply = await probe.get("/health")
    assert (reply.status, reply.kind, reply.json) == (200, "application/json", {"status": "ok"})
    assert 0 < reply.first <= reply.seconds


async def test_the_key_goes_out_under_all_names() -> None:
    assert Probe("http://h", "k").headers == {"authorization": "Bearer k", "x-api-key": "k"}
    assert Probe("http://h").headers == {}


async def test_leaving_stops_the_work(good: Running) -> None:
    body = {"messages": [{"role": "user", "content": "Count"}], "stream": True}
    async with Probe(good.url) as probe:
        assert await probe.leave("/v1/chat/completions", body) == 200
    await good.idle()
