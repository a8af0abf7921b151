"""The traffic of the soak: clients of every protocol who read, leave, cancel, dawdle, crowd, look around, and ask nonsense.

Who comes when is decided by one seed.  Each knows what it must get, and says so if it got something else.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp

from .clients import CLIENTS, Client
from .upstream import DEEDS

__all__ = ["WAYS", "Traffic"]

WAYS = ("llamacpp", "completions", "generate", "chat", "responses", "messages", "ollama")
_RAW = WAYS[:3]
_FAULTS = sorted(set(DEEDS) - {"good", "call", "endless", "silent", "stalls", "long_line"})
_KEPT = 50  # surprises that are told in full
_PATIENCE = aiohttp.ClientTimeout(total=120)


class Surprise(Exception):
    """A client got what it must not get."""


class Traffic:
    """Clients that come at a rate.

    Args:
        url: of the gateway.
        rate: clients a second, on the average.
        seed: decides everything else.

    `seen`: how often each kind of client came.  `deeds`: the faults they met.  `surprises`: what went wrong, and how often in all.
    """

    def __init__(self, url: str, rate: float, seed: int = 1) -> None:
        self.url, self.rate, self.random = url, rate, random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.deeds: Counter[str] = Counter()
        self.surprises: list[str] = []
        self.surprised = 0
        self.pieces = 0
        self._number = 0
        self._here: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None

    async def run(self, seconds: float) -> None:
        """Let them come for so long, and wait for the last."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        kinds, weights = zip(*_KINDS, strict=True)
        async with aiohttp.ClientSession(timeout=_PATIENCE, connector=aiohttp.TCPConnector(limit=0)) as self._session:
            while loop.time() < end:
                await asyncio.sleep(self.random.expovariate(self.rate))
                self._come(self.random.choices(kinds, weights)[0])
            await asyncio.gather(*self._here)

    def _come(self, kind: Callable[[Traffic], Awaitable[None]]) -> None:
        task = asyncio.create_task(self._visit(kind))
        self._here.add(task)
        task.add_done_callback(self._here.discard)

    async def _visit(self, kind: Callable[[Traffic], Awaitable[None]]) -> None:
        name = kind.__name__.strip("_")
        self.seen[name] += 1
        try:
            await kind(self)
        except Exception as problem:  # noqa: BLE001 (whatever it is, it is told)
            self.surprised += 1
            if len(self.surprises) < _KEPT:
                self.surprises.append(f"{name}: {problem!r}"[:600])

    # --- what clients have in common

    def someone(self, *, raw: bool = False) -> tuple[Client, str]:
        """A client and a model that it can ask."""
        client = self.random.choice([one for one in CLIENTS.values() if not (raw and one.raw_only)])
        return client, f"{self.random.choice(_RAW if client.raw_only else WAYS)}/demo"

    def prompt(self, deed: str = "good", count: int = 0) -> tuple[str, int]:
        """What to ask, and how many pieces come back."""
        count = count or self.random.randint(5, 60)
        return f"count:{count} pause:{self.random.choice((0, 0, 5, 20))} do:{deed}", count

    def post(self, path: str, body: Any, **headers: str) -> Any:
        """Ask."""
        assert self._session is not None
        return self._session.post(self.url + path, json=body, headers=headers)

    async def get(self, path: str) -> bytes:
        """Look at something that is there."""
        assert self._session is not None
        async with self._session.get(self.url + path) as answer:
            body = await answer.read()
            expect(answer.status == 200, path, answer.status, body)
            return body

    def name(self) -> str:
        """An id that nobody has used."""
        self._number += 1
        return f"soak-{self._number}"

    def heard(self, client: Client, body: bytes, count: int, *, streamed: bool) -> None:
        """A good answer: every piece, in order, and the end."""
        expect(not streamed or client.good(body), "no good end", client.path, body[-300:])
        said = client.said(body) if streamed else client.text(json.loads(body))
        expect(said.split() == [f"w{number}" for number in range(count)], "other pieces", client.path, said)
        self.pieces += count


def expect(good: bool, *facts: object) -> None:
    """Be surprised, unless it is good."""
    if not good:
        raise Surprise(*facts)


# --- who comes


async def _reads_a_stream(here: Traffic) -> None:
    client, model = here.someone()
    prompt, count = here.prompt()
    async with here.post(client.path, {**client.ask(prompt, False), "model": model, "stream": True}) as answer:
        here.heard(client, await answer.read(), count, streamed=True)


async def _reads_a_whole(here: Traffic) -> None:
    client, model = here.someone()
    prompt, count = here.prompt()
    async with here.post(client.path, {**client.ask(prompt, False), "model": model, "stream": False}) as answer:
        here.heard(client, await answer.read(), count, streamed=False)


async def _gets_a_call(here: Traffic) -> None:
    client, model = here.someone(raw=True)
    streamed = here.random.random() < 0.7
    prompt, _ = here.prompt("call")
    async with here.post(client.path, {**client.ask(prompt, True), "model": model, "stream": streamed}) as answer:
        body = await answer.read()
        said = client.said(body) if streamed else client.text(json.loads(body))
        expect("Zürich" in said and "tool_call>" not in said, "no call", client.path, model, said, body[-300:])


async def _meets_a_fault(here: Traffic, deed: str = "") -> None:
    client, model = here.someone()
    streamed, deed = here.random.random() < 0.7, deed or here.random.choice(_FAULTS)
    here.deeds[deed] += 1
    prompt, _ = here.prompt(deed)
    async with here.post(client.path, {**client.ask(prompt, False), "model": model, "stream": streamed}) as answer:
        body = await answer.read()
        failed = answer.status != 200 or (streamed and client.failed(body))
        expect(failed and answer.status != 500, deed, client.path, model, answer.status, body[-300:])


async def _waits_too_long(here: Traffic) -> None:
    await _meets_a_fault(here, here.random.choice(("silent", "stalls")))


async def _meets_a_long_line(here: Traffic) -> None:
    await _meets_a_fault(here, "long_line")


async def _leaves(here: Traffic) -> None:
    client, model = here.someone()
    prompt, _ = here.prompt(here.random.choice(("endless", "good")))
    async with here.post(client.path, {**client.ask(prompt, False), "model": model, "stream": True}) as answer:
        for _ in range(here.random.randint(0, 4)):
            await answer.content.readany()
        if here.random.random() < 0.5:
            _reset(answer)
        answer.close()


async def _leaves_at_once(here: Traffic) -> None:
    client, model = here.someone()
    prompt, _ = here.prompt("silent")
    body = {**client.ask(prompt, False), "model": model, "stream": here.random.random() < 0.5}
    with suppress(TimeoutError):
        async with asyncio.timeout(here.random.uniform(0.0, 0.3)), here.post(client.path, body) as answer:
            expect(answer.status == 200, "answered", answer.status)
            await answer.read()


async def _cancels(here: Traffic) -> None:
    client, model = here.someone()
    prompt, _ = here.prompt(here.random.choice(("endless", "silent")))
    name, streamed = here.name(), here.random.random() < 0.5
    body = {**client.ask(prompt, False), "model": model, "stream": streamed}
    asked = asyncio.create_task(_read(here, client.path, body, name))
    await asyncio.sleep(here.random.uniform(0.0, 0.3))
    async with here.post(f"/v1/cancel/{name}", {}) as answer:
        expect(answer.status in (200, 202), "cancel", answer.status)
    status, told = await asked
    expect(status == 499 or (streamed and client.failed(told)), "not cancelled", client.path, status, told[-300:])


async def _read(here: Traffic, path: str, body: Any, name: str) -> tuple[int, bytes]:
    async with here.post(path, body, **{"x-request-id": name}) as answer:
        return answer.status, await answer.read()


async def _dawdles(here: Traffic) -> None:
    client, model = here.someone()
    prompt, count = here.prompt(count=2000)
    async with here.post(client.path, {**client.ask(prompt, False), "model": model, "stream": True}) as answer:
        await asyncio.sleep(here.random.uniform(1, 4))
        here.heard(client, await answer.read(), count, streamed=True)


async def _crowd(here: Traffic) -> None:
    """More than have a place: some wait, some are refused, none is lost."""

    async def one() -> None:
        client, _ = here.someone(raw=True)
        prompt, count = here.prompt()
        async with here.post(
            client.path, {**client.ask(prompt, False), "model": "narrow/demo", "stream": True}
        ) as answer:
            body = await answer.read()
            expect(answer.status in (200, 429, 503), "crowd", answer.status, body[-300:])
            if answer.status == 200:
                here.heard(client, body, count, streamed=True)

    await asyncio.gather(*(one() for _ in range(30)))


async def _asks_the_flaky(here: Traffic) -> None:
    """It may be gone, or go in the middle; then that is said."""
    client, _ = here.someone(raw=True)
    prompt, count = here.prompt()
    async with here.post(client.path, {**client.ask(prompt, False), "model": "flaky/demo", "stream": True}) as answer:
        body = await answer.read()
        if answer.status == 200 and not client.failed(body):
            here.heard(client, body, count, streamed=True)
        else:
            expect(answer.status in (200, 502, 503), "flaky", answer.status, body[-300:])


async def _in_the_background(here: Traffic) -> None:
    """A response that is polled, cancelled, or deleted, or all of it."""
    deed = here.random.choice(("good", "good", "endless", "silent", "dies"))
    prompt, _ = here.prompt(deed)
    body = {"input": prompt, "model": f"{here.random.choice(WAYS)}/demo", "background": True}
    async with here.post("/v1/responses", body) as answer:
        told = await answer.json()
        expect(answer.status == 200 and told["status"] in ("queued", "in_progress"), "background", told)
    await asyncio.sleep(here.random.uniform(0, 0.5))
    path = f"/v1/responses/{told['id']}"
    if deed in ("endless", "silent"):
        async with here.post(f"{path}/cancel", {}) as answer:
            told = await answer.json()
            expect(told["status"] == "cancelled", deed, told)
    told = await _over(here, path)
    wanted = {"good": "completed", "dies": "failed"}.get(deed, "cancelled")
    expect(told["status"] == wanted, deed, told["status"], told.get("error"))


async def _over(here: Traffic, path: str) -> Any:
    while True:
        told = json.loads(await here.get(path))
        if told["status"] not in ("queued", "in_progress"):
            return told
        await asyncio.sleep(0.2)


async def _goes_on(here: Traffic) -> None:
    """A second response that follows from the first."""
    model, previous = f"{here.random.choice(WAYS)}/demo", None
    for _ in range(2):
        prompt, count = here.prompt(count=5)
        body = {"input": prompt, "model": model, "previous_response_id": previous}
        async with here.post("/v1/responses", body) as answer:
            text = await answer.read()
            expect(answer.status == 200, "goes on", answer.status, text[-300:])
        here.heard(CLIENTS["responses"], text, count, streamed=False)
        previous = json.loads(text)["id"]


async def _looks_around(here: Traffic) -> None:
    for path in ("/health", "/v1/models", "/metrics", "/dragoman/state", "/dragoman/turns", "/openapi.json", "/"):
        await here.get(path)


async def _explains(here: Traffic) -> None:
    """The latest turn, in all its forms."""
    turns = json.loads(await here.get("/dragoman/turns"))
    listed = turns if isinstance(turns, list) else next(value for value in turns.values() if isinstance(value, list))
    for turn in listed[:1]:
        await here.get(f"/dragoman/turns/{turn['id']}.txt")
        await here.get(f"/dragoman/turns/{turn['id']}")


async def _watches(here: Traffic) -> None:
    """The page, for some seconds."""
    assert here._session is not None  # noqa: SLF001
    async with here._session.get(here.url + "/dragoman/live") as answer:  # noqa: SLF001
        with suppress(TimeoutError):
            async with asyncio.timeout(here.random.uniform(1, 8)):
                await answer.read()
        answer.close()


async def _asks_nonsense(here: Traffic) -> None:
    client, model = here.someone()
    bodies: list[Any] = [
        [],
        {},
        {"model": model, "messages": 7},
        {**client.ask("x", False), "model": "none"},
        {"tools": [{}]},
    ]
    async with here.post(client.path, here.random.choice(bodies)) as answer:
        body = await answer.read()
        expect(answer.status in (400, 404), "nonsense", client.path, answer.status, body[-300:])


def _reset(answer: aiohttp.ClientResponse) -> None:
    transport = answer.connection.transport if answer.connection else None
    sock = transport.get_extra_info("socket") if transport else None
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


_KINDS: tuple[tuple[Callable[[Traffic], Awaitable[None]], float], ...] = (
    (_reads_a_stream, 30),
    (_reads_a_whole, 12),
    (_gets_a_call, 8),
    (_meets_a_fault, 16),
    (_waits_too_long, 0.4),
    (_meets_a_long_line, 0.3),
    (_leaves, 8),
    (_leaves_at_once, 4),
    (_cancels, 6),
    (_dawdles, 0.5),
    (_crowd, 0.4),
    (_asks_the_flaky, 3),
    (_in_the_background, 4),
    (_goes_on, 2),
    (_looks_around, 0.5),
    (_explains, 0.5),
    (_watches, 0.3),
    (_asks_nonsense, 3),
)
