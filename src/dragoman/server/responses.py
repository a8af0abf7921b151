"""The endpoints of the Responses API: answers, those that are kept, and those that nobody waits for."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from ..engines.base import Alternative
from ..errors import Cancelled, DragomanError, RequestError, UnsupportedFeature
from ..events import Event
from ..messages import Turn
from ..protocols import responses, sse
from ..protocols import wire as json
from ..protocols.responses import Settings, item_list
from ..state.store import Record
from .caller import Caller
from .endpoints import Answers, Refusals, Replies, allow, both, refuse
from .exchange import Exchange
from .http import send_json, start
from .limits import check_request
from .prepare import prepare, unenforced
from .responses_input import Input
from .serve import serve
from .service import Service
from .shelf import Recording, Shelf, missing
from .truncate import fit
from .wire import Wire

__all__ = ["routes"]

_PAGE = 100  # items of a list, at most


def routes(service: Service) -> list[Route]:
    """All paths below /responses, with /v1 and without."""
    one = "/responses/{id}"
    return [
        *both("/responses", _Answers(service)),
        *both("/responses/input_tokens", Replies(service, _count, protocol=responses)),
        *both("/responses/compact", Refusals(service, "compaction is not offered here", protocol=responses)),
        *both(f"{one}/cancel", _Kept(service, POST=_cancel)),
        *both(f"{one}/input_items", _Kept(service, GET=_input_items)),
        *both(one, _Kept(service, GET=_get, DELETE=_delete)),
    ]


class Recorded(Wire):
    """One answer that is kept: all that is written is recorded too."""

    def __init__(self, shelf: Shelf, recording: Recording, *arguments: Any, **facts: Any) -> None:
        super().__init__(*arguments, **facts)
        self.shelf, self.recording = shelf, recording
        recording.response = lambda: self._writer.response

    def write(self, index: int, events: Sequence[Event], tokens: Any = ()) -> bytes:
        """The frames of some events."""
        return self._add(super().write(index, events, tokens))

    def ping(self) -> bytes:
        """A keep-alive; some are events, which have numbers and so belong to the recording."""
        return self._add(super().ping())

    def close(self) -> bytes:
        """The end of a stream."""
        return self._add(super().close())

    def fail(self, error: BaseException) -> bytes:
        """The end of a stream that failed."""
        return self._add(super().fail(error))

    def answer(self, turns: Sequence[Turn], tokens: Sequence[Sequence[Alternative]]) -> bytes:
        """The whole answer; its stream is recorded as if it had been sent."""
        shown = tokens[0] if self.request.logprobs is not None else ()
        self._add(responses.rewrite(self._writer, turns[0], shown, self._extra))
        return json.dump(self._writer.response)

    def refuse(self, error: BaseException) -> tuple[int, bytes]:
        """A failure before the first byte; where nobody waits, the recording tells it."""
        if self.recording.background:
            self.fail(error)
        return super().refuse(error)

    def leave(self) -> None:
        """The client left: the response was cancelled."""
        self.fail(Cancelled("the client left"))

    async def settle(self) -> None:
        """Keep it before the client, who may refer to it at once, hears of its end."""
        if self.recording.frames:
            await self.shelf.keep(self.recording)
        self.shelf.drop(self.recording.record.id)

    def _add(self, frames: bytes) -> bytes:
        self.recording.add(frames)
        return frames


class _Answers(Answers):
    """Responses: what they follow from is looked up first; some are answered at once, and written later."""

    def __init__(self, service: Service) -> None:
        super().__init__(service, responses, "resp_")

    async def respond(self, exchange: Exchange, wire: Wire, receive: Receive, send: Send) -> None:
        """Answer a request that was read."""
        if not wire.settings.background or not isinstance(wire, Recorded):
            try:
                await super().respond(exchange, wire, receive, send)
            finally:
                self.service.shelf.drop(exchange.id)
            return
        self.service.shelf.run(self._work(exchange, wire))
        headers = {**wire.headers, "x-request-id": exchange.id}
        if wire.settings.stream:
            frames = wire.recording.follow(-1, self.service.config.keep_alive)
            await _stream(frames, headers, receive, send)
        else:
            await send_json(send, 200, json.dump(wire.recording.response()), headers)

    async def _work(self, exchange: Exchange, wire: Recorded) -> None:
        """Write what nobody waits for."""
        config, observers = self.service.settings(exchange), self.service.observers
        try:
            with self.service.watching(exchange):
                await serve(exchange, wire, _never, _nowhere, config, observers)
        finally:
            self.service.shelf.drop(exchange.id)

    async def _open(self, data: Mapping[str, Any], caller: Caller) -> tuple[Exchange, Wire]:
        shelf, answer_id = self.service.shelf, self.prefix + secrets.token_hex(12)
        given = await Input.read(shelf, data, caller.key.name)
        request, settings = given.request(self._defaults())
        check_request(request, self.service.config)
        served = self.service.writer(request.model)
        settings.ignored += unenforced(request, served)
        if settings.truncation == "auto":
            request = await fit(request, served)
        facts: dict[str, Any] = {"answer_id": answer_id, "model": served.name, "ids": self.ids, "now": time.time}
        words = (responses, request, settings)
        streamed = settings.stream or settings.background
        exchange = Exchange(answer_id, served, request, streamed, caller.began, caller)
        if shelf.store is None or not settings.store:
            _check_store(settings)
            return exchange, Wire(*words, **facts)
        own = item_list(given.own, answer_id)
        record = Record(answer_id, {}, own, settings.previous, key=caller.key.name)
        recording = shelf.open(record, background=settings.background)
        wire = Recorded(shelf, recording, *words, **facts)
        recording.cancel = partial(exchange.fail, Cancelled("the response was cancelled"))
        if settings.background:
            await self._begin(recording)
        return exchange, wire

    async def _begin(self, recording: Recording) -> None:
        try:
            await self.service.shelf.begin(recording)
        except BaseException:
            self.service.shelf.drop(recording.record.id)
            raise


def _check_store(settings: Settings) -> None:
    if settings.background:
        problem = "background is not offered here: the server keeps nothing (--state off)"
        raise UnsupportedFeature(problem, param="background", code="unsupported_value")


async def _never() -> Message:
    """The message of a client that does not leave."""
    await asyncio.Event().wait()
    raise AssertionError


async def _nowhere(_: Message) -> None:
    """Send to nobody."""


# --- what is kept

Tells = Callable[[Service, str, Scope], Any]


class _Kept:
    """An endpoint of one response, by method; a function gives JSON, or the frames of a stream."""

    def __init__(self, service: Service, **tells: Tells) -> None:
        self.service, self.tells = service, tells

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        try:
            if method not in self.tells:
                allow(scope, *self.tells)
            self.service.authorize(scope)
            told = await self.tells[method](self.service, scope["path_params"]["id"], scope)
        except DragomanError as error:
            await refuse(scope, send, responses, error)
            return
        if isinstance(told, AsyncIterator):
            await _stream(told, {}, receive, send)
        else:
            await send_json(send, 200, json.dump(told))


async def _get(service: Service, response_id: str, scope: Scope) -> Any:
    """A response, or its stream behind an event that the client has seen."""
    asked, recording = _query(scope), service.shelf.writing(response_id, service.asking)
    after = _number(asked, "starting_after", -1, -1)
    if recording is None:
        record = await service.shelf.find(response_id, service.asking)
        if asked.get("stream") != "true":
            return record.response
        recording = Recording(record, background=False)
        recording.add(record.frames)
        recording.end()
    if asked.get("stream") != "true":
        return recording.response()
    return recording.follow(after, service.config.keep_alive)


async def _delete(service: Service, response_id: str, _: Scope) -> Any:
    await service.shelf.forget(response_id, service.asking)
    return {"id": response_id, "object": "response", "deleted": True}


async def _cancel(service: Service, response_id: str, _: Scope) -> Any:
    recording = service.shelf.writing(response_id, service.asking)
    if recording is None and service.end(response_id):  # one that is not kept
        return {"id": response_id, "object": "response", "status": "cancelled"}
    if recording is None:
        response = (await service.shelf.find(response_id, service.asking)).response
        if not response.get("background"):
            raise RequestError("this response has ended already; it cannot be cancelled", param="response_id")
        return response
    recording.cancel()
    await recording.over.wait()
    return recording.response()


async def _input_items(service: Service, response_id: str, scope: Scope) -> Any:
    recording = service.shelf.writing(response_id, service.asking)
    record = recording.record if recording else await service.shelf.find(response_id, service.asking)
    asked = _query(scope)
    items = record.input if asked.get("order") == "asc" else record.input[::-1]
    after = asked.get("after")
    if after is not None:
        place = next((index for index, item in enumerate(items) if item["id"] == after), None)
        if place is None:
            raise missing(after, "after", "item_not_found")
        items = items[place + 1 :]
    page = items[: _number(asked, "limit", 20, 1, _PAGE)]
    ids = [item["id"] for item in page] or [None]
    more = len(items) > len(page)
    return {"object": "list", "data": page, "first_id": ids[0], "last_id": ids[-1], "has_more": more}


async def _count(service: Service, data: Mapping[str, Any]) -> Any:
    """How many tokens the prompt of a request has."""
    request, _ = (await Input.read(service.shelf, data, service.asking)).request(Settings())
    served = service.writer(request.model)
    (choice,) = await prepare(request, served, service.config.policy, str)
    count = await served.engine.count(choice.prompt)
    if count is None:
        raise UnsupportedFeature("the engine cannot count tokens", code="not_offered", status=501)
    return {"object": "response.input_tokens", "input_tokens": count}


def _query(scope: Scope) -> dict[str, str]:
    found = parse_qs(scope["query_string"].decode("latin-1"))
    return {key: values[-1] for key, values in found.items()}


def _number(asked: Mapping[str, str], key: str, default: int, least: int, most: int | None = None) -> int:
    text = asked.get(key, str(default))
    try:
        number = int(text)
    except ValueError:
        raise RequestError(f"{key} must be an integer; it is {text!r:.40}", param=key, code="invalid_type") from None
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise RequestError(f"{key} must be {limits}; it is {number}", param=key, code="invalid_value")
    return number


async def _stream(frames: AsyncIterator[bytes], headers: Mapping[str, str], receive: Receive, send: Send) -> None:
    """Send frames as they come, until their end or the client's departure."""

    async def pump() -> None:
        await send(start(200, {**sse.HEADERS, **headers}))
        async for frame in frames:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    tasks = {asyncio.create_task(pump()), asyncio.create_task(leave())}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
