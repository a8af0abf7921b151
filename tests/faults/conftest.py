"""Servers in front of the scripted upstream, one for each kind of engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from dragoman.engines.base import ModelInfo
from dragoman.engines.embedded import Embedded
from dragoman.engines.upstream import Settings
from dragoman.engines.upstream import Upstream as Engine

from ..server.conftest import Running, running
from .clients import CLIENTS, Client
from .forms import CHAT, COMPLETIONS, GENERATE, LLAMA, MESSAGES, OLLAMA, RESPONSES, Form
from .upstream import Upstream, upstream

KINDS: dict[str, Form] = {
    "llamacpp": LLAMA,
    "chat": CHAT,
    "embedded": LLAMA,
    "completions": COMPLETIONS,
    "generate": GENERATE,
    "responses": RESPONSES,
    "messages": MESSAGES,
    "ollama": OLLAMA,
}
PAIRS = [
    (kind, protocol)
    for kind, form in KINDS.items()
    for protocol, client in CLIENTS.items()
    if form.raw or not client.raw
]
_OWN = {"generate": "completions"}  # the protocol that an engine is asked in if its kind is no protocol's name
_WHOLE = ("llamacpp", "chat", "embedded")


def usual(*kinds: str) -> Any:
    """Each of these kinds in its own protocol, some in every one; the others only in a long run."""
    pairs = [(kind, protocol) for kind, protocol in PAIRS if not kinds or kind in kinds]
    here = [kind in _WHOLE or protocol == _OWN.get(kind, kind) for kind, protocol in pairs]
    marked = [pytest.param(*pair, marks=() if one else pytest.mark.long) for pair, one in zip(pairs, here, strict=True)]
    return pytest.mark.parametrize(("kind", "protocol"), marked)


TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


class Fed(Embedded):
    """The embedded engine, with the scripted upstream in the place of its child process."""

    def __init__(self, socket: str) -> None:
        super().__init__("none.gguf", name="demo", dialect="hermes-json")
        self.socket = socket

    async def start(self) -> None:
        self.info = ModelInfo("demo", "hermes-json", specials={"<|im_end|>": 2})
        self._learn()
        self.child.socket = self.socket
        self.child.words = "it was killed by signal 9"
        self.child.gone.set()
        await self.tokens.learn()


@dataclass
class Bench:
    """A server, and what it stands in front of."""

    server: Running
    upstream: Upstream
    session: aiohttp.ClientSession

    async def ask(self, client: Client, *, stream: bool, **headers: str) -> tuple[int, bytes]:
        """One whole exchange, held against the rules of its protocol."""
        body = {**client.body, "stream": stream}
        async with self.session.post(self.server.url + client.path, json=body, headers=headers) as response:
            received = await response.read()
            client.check(response.status, response.headers["content-type"], received, stream=stream)
            return response.status, received

    def patience(self, seconds: float) -> None:
        """The deadlines of the requests to come; those without a stall must not fail because the machine is busy."""
        service = self.server.service
        service._settings["demo"] = replace(service.config, first_token=seconds, stall=seconds)

    async def quiet(self) -> None:
        """Until nothing is left of any exchange; the test's time-out is the limit."""
        gate = next(iter(self.server.service.roster)).gate
        while self.server.service.open or gate.taken or gate.waiting or self._tasks():
            await asyncio.sleep(0.005)
        assert not self.upstream.failures, self.upstream.failures

    def _tasks(self) -> list[Any]:
        """The server's tasks that belong to an exchange."""
        assert self.server.service.loading is not None
        loop = self.server.service.loading.get_loop()
        names = ("Answering", "_departure", "Clock.run", "run_asgi")
        return [task for task in asyncio.all_tasks(loop) if any(name in repr(task.get_coro()) for name in names)]


@asynccontextmanager
async def bench(kind: str, folder: Path, **settings: Any) -> AsyncIterator[Bench]:
    """A server of this kind of engine in front of a scripted upstream."""
    socket = str(folder / "s.sock") if kind == "embedded" else ""
    async with (
        upstream(KINDS[kind], socket) as there,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session,
    ):
        template = TEMPLATE if kind in ("completions", "generate") else None
        asked = Settings(url=there.url, way=kind, dialect="hermes-json", template=template)
        with _beside(Fed(socket) if socket else Engine(asked), **settings) as starting:
            server = await starting
            if not socket:
                served = next(iter(server.service.roster))
                served.engine.pause = 0.0  # before it is asked again
            yield Bench(server, there, session)


@contextmanager
def _beside(engine: Any, **settings: Any) -> Iterator[Any]:
    """Start and stop the server in a thread, so that this loop can play the upstream meanwhile."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        held = running(engine, **settings)
        loop = asyncio.get_running_loop()
        try:
            yield loop.run_in_executor(pool, held.__enter__)
        finally:
            pool.submit(held.__exit__, None, None, None).result()


def descriptors() -> int:
    """Open files and sockets of this process."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short path: a socket's has 104 bytes on some systems."""
    return tmp_path_factory.mktemp("f")
