"""Where every stream lives: a request goes through an engine and a `Generation` into a protocol's words.

    render -> constrain -> engine.stream -> Generation -> events -> frames -> client

A streamed and a whole answer take the same way; the whole one is the fold of the same events.
The rules of the way out:

- The status is decided by the first piece: until then a failure is a clean 4xx or 5xx.  Only a client that would have to
  wait for longer than a keep-alive gets its headers earlier, and then a failure becomes an event of its stream.
- What was read together leaves in one write, and the next is read when the write is done: a slow client slows the engine.
- The connection is watched from the first instant.  A client that leaves cancels the work, which closes the engine's
  iterator, which stops the engine.
- Whatever happens, the stream is ended by its protocol's rules, and the observers hear of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, cast

from starlette.types import Receive, Send

from ..engines.base import End, Item, Piece, Progress
from ..errors import Broken, DragomanError, EngineError
from ..events import Event, Finish, Notice, Usage
from ..syntax.decode import fold
from .clock import Clock
from .config import Config
from .exchange import Exchange
from .http import advice, send_json, start
from .observe import Observers
from .prepare import Choice, media, prepare
from .wire import Wire

__all__ = ["Answering", "serve", "stopping"]

_log = logging.getLogger(__name__)
_FAILED = ("error", "cancelled")
_LAST_WORDS = 2.0  # seconds for the end of a stream whose client may not read it


async def serve(
    exchange: Exchange,
    wire: Wire,
    receive: Receive,
    send: Send,
    config: Config,
    observers: Observers,
    kind: type[Answering] | None = None,
) -> None:
    """Answer one request, and return when the answer has ended or the client has left.

    `kind`: how, if it is not to be written.
    """
    kind = kind or (_Stream if exchange.streamed else _Whole)
    answer = kind(exchange, wire, send, config, observers)
    work = asyncio.create_task(answer.run())
    watch = asyncio.create_task(_departure(receive))
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        exchange.left = not work.done()
    except asyncio.CancelledError:  # the server gives up on its tasks: the stream is still ended by its rules
        exchange.fail(stopping())
        await asyncio.wait({work, watch}, timeout=_LAST_WORDS, return_when=asyncio.FIRST_COMPLETED)
    finally:
        watch.cancel()
        work.cancel()
        await asyncio.wait({work, watch})


def stopping() -> EngineError:
    """What is said to those whose answer does not end before the server does."""
    return EngineError("the server is stopping", hint="try again in a moment", status=503)


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Answering:
    """One exchange, being answered."""

    def __init__(self, exchange: Exchange, wire: Wire, send: Send, config: Config, observers: Observers) -> None:
        self.exchange, self.wire, self.config, self.observers = exchange, wire, config, observers
        self._send = send
        self.choices: list[Choice] = []
        quiet = self.quiet if exchange.streamed else None
        self.clock = Clock(config, exchange.began, quiet, exchange.fail, self._cut_off)

    async def deliver(self, choice: Choice, events: list[Event]) -> None:
        """Pass a choice's events on."""
        raise NotImplementedError

    async def finish(self) -> None:
        """All choices have ended."""
        raise NotImplementedError

    async def quiet(self) -> None:
        """Keep the connection alive."""

    async def refuse(self, error: Exception) -> None:
        """The exchange failed."""
        self.exchange.ending = True
        status, body = self.wire.refuse(error)
        await self.wire.settle()
        await self._whole(status, body, {**self._headers(), **advice(error)})

    async def run(self) -> None:
        """Generate, and end properly whatever happens."""
        self.observers.started(self.exchange)
        ticking = asyncio.create_task(self.clock.run())
        try:
            self._begin()
            await self._answer()
        except asyncio.CancelledError:
            await self._stopped()
        except DragomanError as error:
            await self._fail(error)
        except Exception as error:  # noqa: BLE001 (a fault of ours; the client still gets its end)
            _log.exception("%s failed", self.exchange.id)
            await self._fail(error)
        finally:
            ticking.cancel()
            self.exchange.seconds = self._since()
            self.observers.finished(self.exchange)

    def _begin(self) -> None:
        self.exchange.task = asyncio.current_task()
        if self.exchange.failure is not None:
            raise asyncio.CancelledError  # it was ended before it began

    async def _answer(self) -> None:
        exchange = self.exchange
        exchange.request = await media(exchange.request, exchange.served, self.config.media_hosts.split())
        self.choices = await prepare(exchange.request, exchange.served, self.config.policy, self.wire.ids)
        self.wire.settings.ignored += self.choices[0].noted
        self.observers.prepared(exchange, self.choices)
        if len(self.choices) == 1:
            await self._generate(self.choices[0])
        else:
            await _together([self._generate(choice) for choice in self.choices])
        await self._finish()

    async def _generate(self, choice: Choice) -> None:
        """Run one generation to its end; leaving this stops the engine."""
        generation, served = choice.generation, self.exchange.served
        engine = served.engine
        if self.wire.counts:
            await self._count(choice)
        stream = cast("Any", engine.stream(choice.prompt, choice.options, self.exchange.request))
        async with served.gate.place(self.exchange.caller.key.name), aclosing(stream) as batches:
            async for batch in batches:
                # The model's own end is followed by the engine's, which has the counts: one batch more is waited for.
                late = generation.ended
                events, end = self._read(choice, batch)
                over = late or generation.cut or end is not None
                if over:
                    events += generation.close(end)
                await self.deliver(choice, events)
                if over:
                    return
        if not generation.ended:
            raise Broken("the engine ended without saying why", engine=engine.name)
        await self.deliver(choice, generation.close())

    async def _count(self, choice: Choice) -> None:
        """Tell the prompt's size before the engine does; one that we stop never does."""
        size = await self.exchange.served.engine.count(choice.prompt)
        if self.exchange.streamed:
            await self.deliver(choice, [Usage(size)])
        if size is not None:
            choice.generation.prompted(size)

    def _read(self, choice: Choice, batch: Sequence[Item]) -> tuple[list[Event], End | None]:
        """The events of what was read together, and the end if it was among it."""
        self.exchange.now = self.clock.read()
        self.observers.pieces(self.exchange, choice.index, batch)
        found: list[Event] = []
        for item in batch:
            if type(item) is Piece:
                if self.exchange.first is None:
                    self._begun()
                events = choice.generation.feed(item)
                if item.logprobs:
                    choice.tokens += choice.shown.feed(item, events)
                found += events
            elif type(item) is Progress:
                choice.generation.prompted(item.total, item.cached)
            elif type(item) is End:
                self.wire.note(item.extra)
                return found, item
            else:  # an engine that talks has decoded it
                if self.exchange.first is None and type(item) is not Notice:
                    self._begun()
                found += choice.generation.take([cast("Event", item)])
        return found, None

    def _begun(self) -> None:
        self.exchange.first = self._since()
        self.clock.begun()

    def saw(self, choice: Choice, events: Sequence[Event], frames: bytes = b"") -> None:
        """Tell the observers; keep how a choice ended."""
        if type(events[-1]) is Finish:
            self.exchange.finishes[choice.index] = events[-1]
            self.exchange.usage[choice.index] = next(event for event in reversed(events) if isinstance(event, Usage))
        self.observers.events(self.exchange, choice.index, events, frames)

    async def _finish(self) -> None:
        self.exchange.let_go()
        self.wire.timed(self.exchange.first, self._since())
        await self.finish()

    async def _stopped(self) -> None:
        """The work was cancelled: from outside with an error, or because the client left."""
        if self.exchange.failure is not None and not self.exchange.left:
            await self._fail(self.exchange.failure)
            return
        for choice in self.choices:
            if events := choice.generation.cancel():
                self.saw(choice, events)
        self.wire.leave()
        await self.wire.settle()

    async def _fail(self, error: Exception) -> None:
        if self.exchange.ending:
            return
        self.exchange.let_go()
        for choice in self.choices:
            if events := choice.generation.fail(error):
                await self.deliver(choice, events)
        finishes = self.exchange.finishes.values()
        if self.choices and all(finish.reason not in _FAILED for finish in finishes):
            await self._finish()  # it was only late: every choice had ended
        else:
            self.exchange.failure = error
            await self.refuse(error)

    async def _whole(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.clock.writing()
        await send_json(self._send, status, body, headers)
        self.clock.wrote()

    def _cut_off(self) -> None:
        """The client does not read: it is as if it had left."""
        _log.warning("%s: the client did not read for %g s", self.exchange.id, self.config.slow_client)
        if self.exchange.caller.abort is not None:
            self.exchange.caller.abort()
        else:
            self.exchange.left = True
            if self.exchange.task is not None:
                self.exchange.task.cancel()  # also where its end is being written

    def _headers(self) -> dict[str, str]:
        return {**self.wire.headers, "x-request-id": self.exchange.id, "request-id": self.exchange.id}

    def _since(self) -> float:
        return asyncio.get_running_loop().time() - self.exchange.began


class _Whole(Answering):
    """An answer in one piece: the fold of its events."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._kept: dict[int, list[Event]] = {}

    async def deliver(self, choice: Choice, events: list[Event]) -> None:
        """Keep them."""
        if events:
            self._kept.setdefault(choice.index, []).extend(events)
            self.saw(choice, events)

    async def finish(self) -> None:
        """Fold, and send."""
        turns = [fold(self._kept[choice.index]) for choice in self.choices]
        body = self.wire.answer(turns, [choice.tokens for choice in self.choices])
        self.exchange.ending = True
        await self.wire.settle()
        await self._whole(200, body, self._headers())


class _Stream(Answering):
    """An answer as a stream of frames."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._begun_writing = False
        self._turn = asyncio.Lock()

    async def deliver(self, choice: Choice, events: list[Event]) -> None:
        """Write them in one go."""
        if not events:
            return
        frames = b""
        if self._begun_writing or not _failed(events):
            tokens, choice.tokens = choice.tokens, []
            frames = self.wire.write(choice.index, events, tokens)
        self.saw(choice, events, frames)
        if frames:
            await self._write(frames)

    async def quiet(self) -> None:
        """Keep the connection alive."""
        async with self._turn:
            await self._put(self.wire.ping())

    async def finish(self) -> None:
        """End the stream."""
        await self._close(self.wire.close())

    async def refuse(self, error: Exception) -> None:
        """As a status, while there is none; else as the stream's last event."""
        if self._begun_writing:
            await self._close(self.wire.fail(error))
        else:
            await super().refuse(error)

    async def _close(self, frames: bytes) -> None:
        self.exchange.ending = True
        self.observers.events(self.exchange, 0, (), frames)
        await self.wire.settle()
        await self._write(frames, more=False)

    async def _write(self, frames: bytes, *, more: bool = True) -> None:
        """Write when it is our turn; a choice that is alone need not ask, as no keep-alive begins amid a write."""
        if self._begun_writing and len(self.choices) == 1 and not self.clock.busy:
            self.clock.writing()
            await self._send({"type": "http.response.body", "body": frames, "more_body": more})
            self.clock.wrote()
        else:
            async with self._turn:
                await self._put(frames, more=more)

    async def _put(self, frames: bytes, *, more: bool = True) -> None:
        self.clock.writing()
        if not self._begun_writing:
            self._begun_writing = True
            await self._send(start(200, {**self.wire.stream_headers, **self._headers()}))
        await self._send({"type": "http.response.body", "body": frames, "more_body": more})
        self.clock.wrote()


def _failed(events: list[Event]) -> bool:
    last = events[-1]
    return type(last) is Finish and last.reason in _FAILED


async def _together(work: Sequence[Any]) -> None:
    """Run all; the first that fails stops the others, and is raised."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
