"""What may be fetched, and from where."""

from __future__ import annotations

import base64
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from dragoman.engines import fetch
from dragoman.engines.fetch import brought, is_public, named
from dragoman.errors import RequestError
from dragoman.messages import Media, Message, Request, Result, Text

DATA = "data:image/png;base64,AAAA"


def asking(url: str) -> Request:
    return Request(messages=(Message("user", (Text("What is it?"), Media("image", url))),))


def url_of(request: Request) -> str:
    return next(part.url for part in request.messages[0].parts if isinstance(part, Media))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "x", "",
    ],
)  # fmt: skip
def test_private_addresses(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


def test_data_needs_no_fetching() -> None:
    assert not named(asking(DATA))
    assert named(asking("https://one.example/a.png"))
    result = Result("1", (Media("image", "http://one.example"),))
    assert named(Request(messages=(Message("tool", (result,)),)))


@pytest.mark.parametrize(
    "url",
    [
        "https://two.example/a.png",  # not allowed
        "file:///etc/passwd",
        "ftp://one.example/a",
        "gopher://one.example/",
        "http:///nothing",
        "http://user:password@one.example/",
        "/a.png",
        "javascript:alert(1)",
        "http://[::1",
    ],
)
async def test_what_is_not_fetched(url: str) -> None:
    with pytest.raises(RequestError) as caught:
        await brought(asking(url), ["one.example"])
    assert caught.value.code == "invalid_url"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "0", "[::ffff:127.0.0.1]", "169.254.169.254"],
)
async def test_no_private_address_even_where_every_host_is_allowed(host: str) -> None:
    with pytest.raises(RequestError) as caught:
        await brought(asking(f"http://{host}:9/a.png"), ["*"])
    assert caught.value.code == "invalid_url"


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """A site on loopback that passes for a public one under the name `site.example`."""
    asked: list[str] = []

    async def answer(query: web.Request) -> web.StreamResponse:
        asked.append(query.path)
        if query.path == "/image":
            return web.Response(body=b"\x00\x01", content_type="image/png")
        if query.path == "/page":
            return web.Response(body=b"{}", content_type="application/json")
        if query.path == "/large":
            return web.Response(body=b"x" * 2000, content_type="image/png")
        if query.path == "/loop":
            raise web.HTTPFound("/loop")
        if query.path == "/again":
            raise web.HTTPFound("/image")
        if query.path.startswith("/to/"):
            raise web.HTTPFound(query.query["url"])
        raise web.HTTPNotFound

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    loopback = socket.getaddrinfo

    def lookup(host: Any, *arguments: Any, **options: Any) -> Any:
        return loopback("127.0.0.1" if host == "site.example" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(fetch, "is_public", lambda address: address == "127.0.0.1" and site_is_public[0])
    monkeypatch.setattr(fetch, "_LIMIT", 1000)
    site_is_public = [True]
    yield f"http://site.example:{listener.getsockname()[1]}", asked, site_is_public
    await runner.cleanup()


async def test_what_is_allowed_is_brought(site: Any) -> None:
    base, _, _ = site
    for path in ("/image", "/again"):
        request = await brought(asking(base + path), ["*.example"])
        assert url_of(request) == "data:image/png;base64," + base64.b64encode(b"\x00\x01").decode()


@pytest.mark.parametrize("path", ["/page", "/large", "/loop", "/missing", "/to/?url=file:///etc/passwd"])
async def test_what_is_there_but_not_taken(site: Any, path: str) -> None:
    base, _, _ = site
    with pytest.raises(RequestError):
        await brought(asking(base + path), ["*"])


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://localhost:1/", "http://other.example/"])
async def test_a_redirect_is_checked_like_the_first(site: Any, target: str) -> None:
    base, asked, _ = site
    with pytest.raises(RequestError):
        await brought(asking(f"{base}/to/?url={target}"), ["site.example", "10.0.0.1"])
    assert asked == ["/to/"]


async def test_a_name_that_means_something_private_is_never_asked(site: Any) -> None:
    base, asked, site_is_public = site
    site_is_public[0] = False
    with pytest.raises(RequestError, match="private"):
        await brought(asking(base + "/image"), ["*"])
    assert not asked
