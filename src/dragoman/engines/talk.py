"""An upstream that takes conversations: it renders and decodes itself, and what it decodes badly is put right.

Its stream is read by its protocol's own reader, which repairs the form.
The text goes on as pieces, to be decoded once more, because marks leak; reasoning and calls go on as events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import aiohttp

from ..errors import Broken, EngineError, UnsupportedFeature
from ..events import Content, Event, Finish, Usage
from ..messages import Request
from ..protocols import chat, wire
from .base import End, Item, ModelInfo, Options, Piece, Prompt
from .http import Http
from .voice import Voice

__all__ = ["SPEECHES", "Speech", "Talk"]

_LINGER = 2.0  # seconds that an upstream gets for its last words after it said why it ends


class Reader(Protocol):
    """A protocol's reader of streams."""

    ended: bool
    extra: dict[str, Any]
    logprobs: list[Any]

    @property
    def finished(self) -> bool:
        """Why it ends is known."""

    def feed(self, data: bytes) -> list[Event]:
        """Read on."""

    def read(self, data: Any) -> list[Event]:
        """A whole answer."""

    def close(self) -> list[Event]:
        """The connection was closed."""


@dataclass(frozen=True, slots=True)
class Speech:
    """How conversations are held in a protocol: where, how a request is written, how an answer is read."""

    path: str
    write: Callable[[Request], dict[str, Any]]
    reader: Callable[[str], Reader]


def _write_chat(request: Request) -> dict[str, Any]:
    return chat.write_request(request, chat.Settings(stream=True, include_usage=True))


SPEECHES: Mapping[str, Speech] = {
    "chat": Speech("/v1/chat/completions", _write_chat, lambda engine: chat.Reader(engine=engine)),
}


@dataclass(frozen=True, slots=True)
class Manners:
    """What an upstream wants otherwise: fields that it does not take, and fields that it gets with every request."""

    drop: Sequence[str] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class Talk(Voice):
    """One model of an upstream that takes conversations.

    Args:
        http: the connection.
        info: the model.
        speech: the protocol.
        model: what the upstream calls the model.
        places: requests at the same time.
        manners: what it wants otherwise.
    """

    talks = True

    def __init__(
        self,
        http: Http,
        info: ModelInfo,
        speech: Speech,
        *,
        model: str,
        places: asyncio.Semaphore,
        manners: Manners | None = None,
    ) -> None:
        super().__init__(http.engine, info)
        self.http, self.speech, self.model, self.manners = http, speech, model, manners or Manners()
        self._places = places

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        wanted = self._body(options, request)
        hearing = _Hearing(self.speech.reader(self.name))
        async with self._places, self.http.ask(self.speech.path, wanted) as answer:
            if "json" in answer.content_type and "ndjson" not in answer.content_type:
                whole = hearing.whole(await answer.read())
            else:
                while data := await _next(answer.content, hearing.reader):
                    if batch := hearing.items(hearing.reader.feed(data)):
                        yield batch
                    if hearing.reader.ended:
                        break
                whole = hearing.items(hearing.reader.close())
            if whole:
                yield whole
        if hearing.error is not None:
            raise hearing.error

    def _body(self, options: Options, request: Request | None) -> dict[str, Any]:
        """Stop strings are ours to match, and each choice is asked for on its own."""
        if request is None or not request.messages:
            problem = f"the upstream ({self.name}) takes conversations only, no raw prompts"
            raise UnsupportedFeature(problem, code="no_raw_prompts", status=501)
        asked = replace(request, model=self.model, n=1, stop=(), sampling=options.sampling)
        body = {**self.speech.write(asked), **self.manners.extra}
        return {key: value for key, value in body.items() if key not in self.manners.drop}


async def _next(content: aiohttp.StreamReader, reader: Reader) -> bytes:
    """What arrives, b"" at the end.  Once the upstream has said why it ends, it is not waited for much longer."""
    if not reader.finished:
        return await content.readany()
    try:
        async with asyncio.timeout(_LINGER):
            return await content.readany()
    except (TimeoutError, aiohttp.ClientError, OSError):
        return b""


class _Hearing:
    """What was heard so far: events become items, the end and the usage become an `End`."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.error: Exception | None = None
        self._usage = Usage()
        self._part: int | None = None

    def items(self, events: list[Event]) -> list[Item]:
        """The items of some events."""
        found: list[Item] = []
        for event in events:
            if type(event) is Content and event.phase != "refusal":
                found.append(self._piece(event))
            elif type(event) is Usage:
                self._usage = event
            elif type(event) is Finish:
                found += self._end(event)
            else:
                self._part = None
                found.append(event)
        return self._told(found) if self.reader.logprobs else found

    def whole(self, body: bytes) -> list[Item]:
        """The items of an answer that came in one piece."""
        try:
            data = wire.load(body)
        except ValueError:
            self.error = Broken("the upstream answered what is not JSON")
            return []
        return self.items([*self.reader.read(data), *self.reader.close()])

    def _piece(self, event: Content) -> Piece:
        """Two texts in a row are parted by a newline."""
        joint = "" if self._part in (None, event.part) else "\n"
        self._part = event.part
        return Piece(joint + event.text)

    def _end(self, finish: Finish) -> list[Item]:
        if finish.reason == "error":
            self.error = finish.error or EngineError("the upstream failed")
            return []
        usage = self._usage
        reason = "stop" if finish.reason == "tool_calls" else finish.reason
        return [End(reason, usage.prompt, usage.completion, usage.cached, self.reader.extra, usage.reasoning)]

    def _told(self, found: list[Item]) -> list[Item]:
        """Log probabilities ride on the text that was read together."""
        texts = [item for item in found if type(item) is Piece]
        if not texts:
            return found
        logprobs = tuple(self.reader.logprobs)
        self.reader.logprobs.clear()
        first = texts[0]
        first.text = "".join(piece.text for piece in texts)
        first.logprobs = cast("Any", logprobs)
        return [item for item in found if type(item) is not Piece or item is first]
