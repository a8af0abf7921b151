"""Fetch: images and files that a request names by a URL, brought here and handed on as data.

They are brought from hosts that the settings allow, and never from a private address: else a client could make the server
read what only the server can reach.  The address that was checked is the one that is connected to, so a name that
changes its meaning in between (DNS rebinding) gains nothing; every redirect is checked like the first URL.
No engine is ever given a URL to fetch by itself.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from ..errors import RequestError
from ..messages import Media, Part, Request, Result

__all__ = ["brought", "is_public", "named"]

_LIMIT = 20 << 20  # bytes
_SECONDS = 20.0
_REDIRECTS = 3
_KINDS = ("image/", "audio/", "video/", "application/pdf", "text/")


def named(request: Request) -> bool:
    """Whether something in a request is named by a URL that would have to be fetched."""
    return any(_is_remote(part) for message in request.messages for part in _parts(message.parts))


async def brought(request: Request, hosts: Sequence[str]) -> Request:
    """The request with everything in it that was named by a URL.

    Args:
        request: what a client asked.
        hosts: patterns of the hosts that may be fetched from.

    Raises:
        RequestError: it may not be fetched, or could not be.
    """
    connector = aiohttp.TCPConnector(resolver=_Public(), use_dns_cache=False, force_close=True)
    limit = aiohttp.ClientTimeout(total=_SECONDS)
    async with aiohttp.ClientSession(connector=connector, timeout=limit) as session:
        fetch = _Fetch(session, hosts)
        messages = [replace(message, parts=await fetch.parts(message.parts)) for message in request.messages]
    return replace(request, messages=tuple(messages))


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also where it stands inside another."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class _Public(AbstractResolver):
    """Finds the addresses of names, and keeps the public ones."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """As in aiohttp."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        kept = [_result(host, port, kind, str(place[0])) for kind, _, _, _, place in found if is_public(str(place[0]))]
        if not kept:
            raise _Private(host)
        return kept

    async def close(self) -> None:
        """Nothing is open."""


class _Private(Exception):
    """A name means private addresses only."""


class _Fetch:
    """Brings the parts of a request."""

    def __init__(self, session: aiohttp.ClientSession, hosts: Sequence[str]) -> None:
        self._session, self._hosts = session, hosts

    async def parts(self, parts: Sequence[Part]) -> tuple[Part, ...]:
        return tuple([await self._part(part) for part in parts])

    async def _part(self, part: Part) -> Part:
        if isinstance(part, Result):
            return replace(part, parts=await self.parts(part.parts))
        if isinstance(part, Media) and _is_remote(part):
            mime, data = await self._bring(part.url)
            return replace(part, url=f"data:{mime};base64,{base64.b64encode(data).decode()}", mime=mime)
        return part

    async def _bring(self, url: str) -> tuple[str, bytes]:
        try:
            for _ in range(_REDIRECTS + 1):
                self._check(url)
                async with self._session.get(url, allow_redirects=False) as answer:
                    if answer.status in (301, 302, 303, 307, 308):
                        url = urljoin(url, answer.headers.get("location", ""))
                        continue
                    return await _content(answer, url)
        except _Private:
            raise _refused(url, "leads to a private address") from None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as problem:
            raise _refused(url, f"could not be fetched: {type(problem).__name__}") from problem
        raise _refused(url, "leads from one place to the next")

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            raise _refused(url, "is not one that can be fetched")
        if not any(fnmatchcase(host, pattern) for pattern in self._hosts):
            raise _refused(url, "may not be fetched here; send the data itself (--media-hosts allows hosts)")
        if _is_address(host) and not is_public(host):
            raise _refused(url, "leads to a private address")


def _parts(parts: Sequence[Part]) -> list[Part]:
    return [inner for part in parts for inner in (_parts(part.parts) if isinstance(part, Result) else [part])]


def _is_remote(part: Any) -> bool:
    return isinstance(part, Media) and not part.url.startswith("data:")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _content(answer: aiohttp.ClientResponse, url: str) -> tuple[str, bytes]:
    mime = answer.content_type
    if answer.status != 200:
        raise _refused(url, f"answers with the status {answer.status}")
    if not mime.startswith(_KINDS):
        raise _refused(url, f"is neither image nor file: {mime}")
    data = b""
    async for piece in answer.content.iter_any():
        data += piece
        if len(data) > _LIMIT:
            raise _refused(url, f"has more than {_LIMIT} bytes")
    return mime, data


def _result(host: str, port: int, family: int, address: str) -> ResolveResult:
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=numeric)


def _refused(url: str, problem: str) -> RequestError:
    return RequestError(f"the URL {url!r:.200} {problem}", param="messages", code="invalid_url")
