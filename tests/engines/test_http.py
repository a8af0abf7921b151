"""Failures of the network are said in our words, and a request that is left closes its connection."""

from __future__ import annotations

import asyncio

import pytest
from upstreams import Answer, told, upstream

from dragoman.engines.http import Http, plain
from dragoman.engines.refusals import refused
from dragoman.errors import Broken, EngineError, Refused, RequestError, Unreachable, UsageError
from dragoman.server.http import advice


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("localhost:8080", "http://localhost:8080"),
        ("http://localhost:8080/v1/", "http://localhost:8080"),
        ("https://example.org/api/v1", "https://example.org/api"),
        ("https://example.org/api?x=1", "https://example.org/api"),
    ],
)
def test_a_url_is_taken_as_people_write_it(url: str, wanted: str) -> None:
    assert plain(url) == wanted


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "http:///v1"])
def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(UsageError, match="no URL of an upstream"):
        plain(url)


async def test_nobody_there() -> None:
    http = Http("http://127.0.0.1:1", "upstream", refused)
    with pytest.raises(Unreachable, match=r"cannot be reached: .*refused.*is it running"):
        await http.json("/x")
    await http.close()


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (400, {"error": {"message": "bad field"}}, RequestError, "bad field"),
        (422, {"detail": [{"msg": "x"}]}, RequestError, "refuses this request"),
        (401, {"error": {"message": "no"}}, Refused, "key is missing or wrong"),
        (404, {"error": "no such model"}, Refused, "no such model.*know this model"),
        (429, {"error": {"message": "slow down"}}, Refused, "429: slow down"),
        (500, "oops", Refused, "500: oops"),
        (301, "", Refused, "301"),
    ],
)
async def test_refusals_keep_their_words(status: int, body: object, kind: type, message: str) -> None:
    async with upstream(paths={"/x": told(body, status) if body else Answer(status=status)}) as fake:
        http = Http(fake.url, "upstream", refused)
        with pytest.raises(kind, match=message) as caught:
            await http.json("/x")
        await http.close()
    if isinstance(caught.value, EngineError):
        assert caught.value.status == (429 if status == 429 else 502)
        assert caught.value.engine == "upstream"


async def test_a_key_is_sent_in_both_ways() -> None:
    async with upstream(paths={"/x": told({})}) as fake:
        http = Http(fake.url, "upstream", refused, key="k", headers={"x-more": "1"})
        await http.json("/x")
        await http.close()
    sent = {name.lower(): value for name, value in fake.headers[0].items()}
    assert (sent["authorization"], sent["x-api-key"], sent["x-more"]) == ("Bearer k", "k", "1")


async def test_what_is_no_json_is_broken() -> None:
    async with upstream(paths={"/x": Answer([b"{"])}) as fake:
        http = Http(fake.url, "upstream", refused)
        with pytest.raises(Broken, match="not JSON"):
            await http.json("/x")
        assert await http.try_json("/x") is None
        await http.close()


async def test_a_connection_that_breaks_is_broken() -> None:
    async with upstream(paths={"/x": Answer([b"abc"], breaks=True)}) as fake:
        http = Http(fake.url, "upstream", refused)
        with pytest.raises(Broken, match="broke off"):
            async with http.ask("/x") as answer:
                await answer.read()
        await http.close()


async def test_leaving_closes_the_connection() -> None:
    async with upstream(paths={"/x": Answer([b"abc"], stays=True)}) as fake:
        http = Http(fake.url, "upstream", refused)
        async with http.ask("/x") as answer:
            await answer.content.readany()
            assert fake.open == 1
        await asyncio.wait_for(fake.closed.wait(), 60)
        assert fake.open == 0
        await http.close()


@pytest.mark.parametrize(("header", "retry"), [("7", 7), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("", None)])
async def test_when_to_come_again_is_passed_on(header: str, retry: int | None) -> None:
    async with upstream(paths={"/x": Answer(status=429, headers={"retry-after": header})}) as fake:
        http = Http(fake.url, "upstream", refused)
        with pytest.raises(Refused) as caught:
            await http.json("/x")
        await http.close()
    assert getattr(caught.value, "retry", None) == retry
    assert advice(caught.value) == ({"retry-after": "7"} if retry else {})
