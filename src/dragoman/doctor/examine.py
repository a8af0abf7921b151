"""An examination: the server is found, its protocols and its model, and every scenario is played in each of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import replace

from ..checks import Finding
from ..checks.seen import mapping, mappings, text
from ..errors import EngineError, Refused, UsageError
from . import answers, calls, connections, mistakes, offers
from .clients import CLIENTS, Client
from .probe import Probe, Reply
from .results import Result
from .scenario import SCENARIOS, Scenario
from .visit import Skip, Visit, said

__all__ = ["Examination", "examine"]

_SHELVES = (answers, calls, mistakes, connections, offers)  # importing them fills the list
_ABSENT = (404, 405, 501)
_FIRST = 15.0  # seconds for what must be quick

Begin = Callable[[str, Scenario], None]


class Examination:
    """One server, one model.

    Args:
        url: the server's address; a path of its API is cut off.
        model: the name of the model; by default the first that the server lists.
        key: the API key.
        protocols: which to look at; by default all that the server offers.
        timeout: seconds for one scenario.
        only: names of scenarios; by default all.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        key: str = "",
        protocols: Collection[str] = (),
        timeout: float = 120.0,
        only: Collection[str] = (),
    ) -> None:
        self.probe = Probe(url, key)
        self.model, self.timeout = model, timeout
        self.protocols = [CLIENTS[name] for name in protocols or CLIENTS]
        self.scenarios = [item for item in SCENARIOS if not only or item.name in only]
        self.wanted = bool(protocols)
        unknown = [name for name in only if all(item.name != name for item in SCENARIOS)]
        if unknown:
            names = ", ".join(item.name for item in SCENARIOS)
            raise UsageError(f"there is no scenario {unknown[0]!r}; there are {names}")

    async def run(self, begin: Begin = lambda *_: None) -> AsyncIterator[Result]:
        """All results, as they come; `begin` is told what is played next.

        Raises:
            Unreachable: there is no server.
            Refused: it does not accept the key.
            UsageError: it speaks none of the protocols, or does not know the model.
        """
        async with self.probe:
            names = await self._models()
            offered = [client for client in self.protocols if await self._offers(client)]
            await self._choose(names, offered)
            for client in self.protocols:
                if client in offered:
                    async for result in self._protocol(client, begin):
                        yield result
                elif self.wanted:
                    finding = Finding("L4", f"there is nothing at {client.path}")
                    yield Result(client.name, "offered", "the protocol is offered", findings=[finding])

    async def _models(self) -> list[str]:
        """The models that the server lists; the first sign of life."""
        listed = await self._quickly("/v1/models")
        if listed.status in (401, 403):
            told = "with this key" if self.probe.headers else "without a key; give one with --api-key"
            raise Refused(f"{self.probe.base} does not let us in {told} (status {listed.status})", status=listed.status)
        names = [text(card.get("id")) for card in mappings(mapping(listed.json).get("data"))]
        if not names:
            tags = await self._quickly("/api/tags")
            names = [text(card.get("name")) for card in mappings(mapping(tags.json).get("models"))]
        return [name for name in names if name]

    async def _quickly(self, path: str) -> Reply:
        try:
            async with asyncio.timeout(_FIRST):
                return await self.probe.get(path)
        except TimeoutError:
            raise UsageError(f"{self.probe.base} took our connection, but said nothing for {_FIRST:g} s") from None

    async def _offers(self, client: Client) -> bool:
        """Whether a path is there: what is no JSON is refused by it, and never answered."""
        try:
            async with asyncio.timeout(_FIRST):
                reply = await self.probe.post(client.path, b"{", headers=client.headers)
        except (TimeoutError, EngineError):
            return True
        return reply.status not in _ABSENT

    async def _choose(self, names: list[str], offered: list[Client]) -> None:
        if not offered:
            paths = ", ".join(client.path for client in self.protocols)
            raise UsageError(f"{self.probe.base} offers none of {paths}; is this the right URL?")
        if not self.model and not names:
            raise UsageError(f"{self.probe.base} lists no models; say which one with --model")
        if self.model and self.model not in names:
            await self._try(offered[0], names)
        self.model = self.model or names[0]

    async def _try(self, client: Client, names: list[str]) -> None:
        """A model that is not listed may still be known by this name."""
        visit = Visit(client, self.probe, self.model)
        async with asyncio.timeout(self.timeout):
            reply = await visit.post(visit.body(visit.request(said("user", "Hello"), limit=1)))
        if reply.status in (400, 404):
            known = f"; it lists {', '.join(names)}" if names else ""
            raise UsageError(f"{self.probe.base} does not know the model {self.model!r}{known} ({reply})")

    async def _protocol(self, client: Client, begin: Begin) -> AsyncIterator[Result]:
        for scenario in self.scenarios:
            if scenario.only and client.name not in scenario.only:
                continue
            if client.unsaid.intersection(scenario.needs):
                continue
            begin(client.name, scenario)
            visit = Visit(client, self.probe, self.model, scenario.optional)
            yield await self._play(scenario, visit)

    async def _play(self, scenario: Scenario, visit: Visit) -> Result:
        result = Result(visit.client.name, scenario.name, scenario.title)
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.timeout):
                await scenario.run(visit)
        except Skip as why:
            result = replace(result, skipped=not visit.findings)
            visit.seen = str(why) or visit.seen
        except TimeoutError:
            visit.find("S1", f"no answer within {self.timeout:g} s (--timeout gives it longer)")
        except EngineError as problem:
            visit.find("S6", str(problem))
        seconds = round(time.monotonic() - began, 3)
        return replace(result, seen=visit.seen, findings=visit.findings, seconds=seconds)


async def examine(url: str, **wishes: object) -> list[Result]:
    """All results of an `Examination` with these arguments."""
    return [result async for result in Examination(url, **wishes).run()]  # type: ignore[arg-type]
