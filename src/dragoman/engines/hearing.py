"""What an upstream's reader gives, as the items of an engine: text becomes pieces, the end and the usage become an `End`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Protocol

import aiohttp

from ..errors import Broken, EngineError
from ..events import Content, Event, Finish, Notice, Usage
from ..protocols import wire
from ..protocols.sse import LIMIT
from .base import Alternative, End, Item, Piece
from .marked import Marked

__all__ = ["Completed", "Hearing", "Reader", "Talked", "heard"]

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


async def _last_words(content: aiohttp.StreamReader) -> bytes:
    """What arrives once the upstream has said why it ends: that is not waited for much longer."""
    try:
        async with asyncio.timeout(_LINGER):
            return await content.readany()
    except (TimeoutError, aiohttp.ClientError, OSError):
        return b""


class Hearing:
    """What was heard so far; `error`: why it failed."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.error: Exception | None = None
        self._usage = Usage()

    def feed(self, data: bytes) -> list[Item]:
        """The items of some bytes."""
        return self.items(self.reader.feed(data))

    def close(self) -> list[Item]:
        """The items at the end of the connection."""
        return self.items(self.reader.close())

    def whole(self, body: bytes) -> list[Item]:
        """The items of an answer that came in one piece."""
        try:
            data = wire.load(body)
        except ValueError:
            self.error = Broken("the upstream answered what is not JSON")
            return []
        return self.items([*self.reader.read(data), *self.reader.close()])

    def items(self, events: list[Event]) -> list[Item]:
        """The items of some events."""
        found: list[Item] = []
        for event in events:
            if type(event) is Content and event.phase != "refusal":
                found += self.text(event)
            elif type(event) is Usage:
                self._usage = event
            elif type(event) is Finish:
                found += self._end(event)
            else:
                found += self.other(event)
        return found

    def text(self, event: Content) -> Sequence[Item]:
        """A piece of text."""
        raise NotImplementedError

    def other(self, event: Event) -> Sequence[Item]:
        """What is neither text nor the end."""
        raise NotImplementedError

    def _end(self, finish: Finish) -> list[End]:
        if finish.reason == "error":
            self.error = finish.error or EngineError("the upstream failed")
            return []
        usage = self._usage
        reason = "stop" if finish.reason == "tool_calls" else finish.reason
        return [End(reason, usage.prompt, usage.completion, usage.cached, self.reader.extra, usage.reasoning)]


async def heard(answer: aiohttp.ClientResponse, hearing: Hearing) -> AsyncGenerator[list[Item]]:
    """The batches of an answer, streamed or in one piece.

    Raises:
        EngineError: it ended badly; what came before was given.
    """
    kind = answer.content_type
    if "json" in kind and "ndjson" not in kind:
        batch = hearing.whole(await _all(answer.content))
    else:
        reader, content = hearing.reader, answer.content
        while data := await (_last_words(content) if reader.finished else content.readany()):
            if batch := hearing.feed(data):
                yield batch
            if reader.ended:
                break
        batch = hearing.close()
    if batch:
        yield batch
    if hearing.error is not None:
        raise hearing.error


async def _all(content: aiohttp.StreamReader) -> bytes:
    """A body, as long as it is of a size that an answer can have."""
    body = bytearray()
    async for data in content.iter_any():
        body += data
        if len(body) > LIMIT:
            raise Broken(f"the upstream's answer is longer than {LIMIT} bytes")
    return bytes(body)


class Talked(Hearing):
    """Of an upstream that decodes by itself: what it has split off stays an event.

    `limit`: of tokens, for an upstream that does not say that it was reached.
    """

    def __init__(self, reader: Reader, limit: int | None = None) -> None:
        super().__init__(reader)
        self._limit = limit
        self._part: int | None = None

    def items(self, events: list[Event]) -> list[Item]:
        """Log probabilities ride on the text that was read together."""
        if (pieces := self._plain(events)) is not None:
            return pieces
        found = super().items(events)
        texts = [item for item in found if type(item) is Piece] if self.reader.logprobs else []
        if not texts:
            return found
        first = texts[0]
        first.text, first.logprobs = "".join(piece.text for piece in texts), tuple(self.reader.logprobs)
        self.reader.logprobs.clear()
        return [item for item in found if type(item) is not Piece or item is first]

    def _plain(self, events: list[Event]) -> list[Item] | None:
        """The pieces, if all is more of the text that is being read, as it nearly always is."""
        pieces: list[Item] = []
        for event in events:
            if type(event) is not Content or event.part != self._part or event.phase:
                return None
            pieces.append(Piece(event.text))
        return None if self.reader.logprobs else pieces

    def _end(self, finish: Finish) -> list[End]:
        ends = super()._end(finish)
        for end in ends:
            if self._limit is not None and end.reason == "stop" and (end.completion or 0) >= self._limit:
                end.reason = "length"
        return ends

    def text(self, event: Content) -> Sequence[Item]:
        """Two texts in a row are parted by a newline."""
        joint = "" if self._part in (None, event.part) else "\n"
        self._part = event.part
        return (Piece(joint + event.text),)

    def other(self, event: Event) -> Sequence[Item]:
        """It parts texts."""
        self._part = None
        return (event,)


class Completed(Hearing):
    """Of an upstream that only completes text: cut at its special tokens.

    Args:
        reader: reads its stream.
        marked: knows the special tokens.
        notices: of the prompt; they ride on the first pieces.
        tokens: the ids and the log probabilities of the next text.
    """

    def __init__(
        self,
        reader: Reader,
        marked: Marked,
        notices: Sequence[Notice],
        tokens: Callable[[], tuple[Sequence[int], Sequence[Any]]],
    ) -> None:
        super().__init__(reader)
        self._marked, self._notices, self._tokens = marked, notices, tokens

    def items(self, events: list[Event]) -> list[Item]:
        """The items of some events."""
        found = super().items(events)
        if found and self._notices:
            found, self._notices = [*self._notices, *found], ()
        return found

    def text(self, event: Content) -> Sequence[Item]:
        """The pieces of a text."""
        ids, logprobs = self._tokens()
        pieces = self._marked.pieces(event.text, ids)
        alternatives: tuple[Alternative, ...] = tuple(logprobs)
        if alternatives:
            pieces[-1].logprobs = alternatives
        return pieces

    def other(self, event: Event) -> Sequence[Item]:
        """A raw completion has nothing else."""
        return ()
