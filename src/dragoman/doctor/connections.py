"""Scenarios of connections: leaving early, several at once, bodies in chunks, other spellings of a path."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator

from ..checks import Finding
from .answers import COUNT, HELLO
from .scenario import scenario
from .visit import Skip, Visit

__all__: list[str] = []

_SLACK = 5.0  # seconds that the next answer may take longer


@scenario("leaving in the middle, then asking again")
async def leave(visit: Visit) -> None:
    """If the server goes on with what nobody reads, the next request waits."""
    began = time.monotonic()
    await visit.ask(visit.request(HELLO))
    usual = time.monotonic() - began
    endless = visit.body(visit.request(COUNT, limit=100 * visit.limit), stream=True)
    for _ in range(4):  # more than most servers do at once
        await visit.probe.leave(visit.client.path, endless, headers=visit.client.headers)
    began = time.monotonic()
    await visit.ask(visit.request(HELLO))
    took = time.monotonic() - began
    visit.seen = f"{usual:.1f} s before, {took:.1f} s after"
    if took > 4 * usual + _SLACK:
        visit.find("S7", f"an answer took {took:.1f} s after others were left, {usual:.1f} s before")


@scenario("three at once")
async def concurrent(visit: Visit) -> None:
    """Each with an answer of its own."""
    request = visit.request(HELLO)
    body = visit.body(request, stream=True)
    replies = await asyncio.gather(*(visit.post(body) for _ in range(3)))
    if any(reply.status == 429 for reply in replies):
        raise Skip("the server takes fewer at once (429)")
    for reply in replies:
        visit.answered(reply, stream=True)
        visit.findings += self_checked(visit, reply.body, body)
    heard = [visit.client.hear(reply.body, streamed=True) for reply in replies]
    ids = [one.id for one in heard if one.id]
    if len(set(ids)) < len(ids):
        visit.find("C1", "two answers at the same time have one id")
    visit.seen = f"{len(replies)} answers"


def self_checked(visit: Visit, body: bytes, request: dict[str, object]) -> list[Finding]:
    """The findings of one of several streams."""
    return list(visit.client.check_stream(body, request=request))


@scenario("a body in chunks")
async def chunked(visit: Visit) -> None:
    """As proxies and some clients send it."""
    whole = json.dumps(visit.body(visit.request(HELLO))).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(whole), 40):
            yield whole[at : at + 40]

    reply = await visit.post(pieces())
    visit.seen = str(reply)
    if reply.status != 200:
        visit.find("S11", f"a body in chunks was answered with {reply}")


@scenario("the path with a query, and without /v1")
async def paths(visit: Visit) -> None:
    """Clients differ in how they put addresses together."""
    body, path = visit.body(visit.request(HELLO)), visit.client.path
    for other in (f"{path}?beta=true", path.removeprefix("/v1")):
        reply = await visit.post(body, path=other)
        visit.seen = str(reply)
        if reply.status != 200:
            visit.find("S10", f"POST {other} was answered with {reply}")
