"""The turn log: what models wrote, as case files, in memory and where the user wants them kept.

A record holds what came, as it came; only when somebody looks, or when it goes to a file, does it become a case.
So a piece costs one append, and a turn that nobody asks for is never written out.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from ..cases.case import Case, Moment
from ..cases.expect import describe
from ..engines.base import Piece, Prompt
from ..events import Event, Usage
from ..messages import Tool, Turn
from ..syntax.decode import fold
from .redact import redact

__all__ = ["Keeper", "Record", "TurnLog"]

_PROMPT = 20_000  # characters of a prompt's end that are kept
_PIECE = 100  # bytes that a piece takes beside its text


@dataclass(slots=True, eq=False)
class Record:
    """One answer of one request, being recorded.

    `id`: of the answer, with `-N` behind it for the choices after the first.  `began`: Unix time in seconds.
    `path`, `protocol`, `body`: where the request came, in whose words, and its JSON.
    `batches`, `told` and `frames`: what came, what was made of it and what went, with the seconds since the request.
    `key`: the name of the API key that asked.  `decoded`: the engine decodes by itself, and the text is only what it left.
    `outcome`: open, or how it ended.  `first`, `seconds`: until the first piece, until the end.
    """

    id: str
    began: float
    path: str
    protocol: str
    model: str
    dialect: str
    body: Mapping[str, Any]
    prompt: Prompt
    tools: Sequence[Tool] | None = ()
    marks: tuple[str, ...] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    parallel: bool = True
    batches: list[tuple[float, Sequence[Any]]] = field(default_factory=list)
    frames: list[tuple[float, bytes]] = field(default_factory=list)
    told: list[tuple[float, Sequence[Event]]] = field(default_factory=list)
    decoded: bool = False
    key: str = ""
    streamed: bool = False
    finish: str = "stop"
    outcome: str = "open"
    error: str = ""
    usage: Usage | None = None
    first: float | None = None
    seconds: float | None = None
    size: int = 0

    @property
    def pieces(self) -> Iterator[tuple[float, Piece]]:
        """What the model wrote, as it came."""
        return ((seconds, item) for seconds, batch in self.batches for item in batch if type(item) is Piece)

    @property
    def raw(self) -> str:
        """What the model wrote."""
        return "".join(piece.text for _, piece in self.pieces)

    @property
    def events(self) -> Iterator[Event]:
        """What was made of it."""
        return (event for _, events in self.told for event in events)

    @property
    def noticed(self) -> list[str]:
        """The codes of its notices."""
        return [notice.code for notice in fold(self.events).notices]

    def case(self) -> Case:
        """It as a case; secrets are masked."""
        pieces = list(self.pieces)
        raw = self.raw
        masked = redact(raw)
        frames = self.frames if masked == raw else []  # in frames a secret stands in parts
        return Case(
            self.dialect,
            self.id,
            tuple(_cut_like(masked, [piece for _, piece in pieces])),
            None if self.tools is None else tuple(self.tools),
            redact(self.prompt.text[-_PROMPT:]),
            self.finish,
            self.policy,
            self.stop,
            marks=bool(self.marks),
            vocabulary=self.marks,
            moments=tuple(Moment(seconds, tuple(piece.ids)) for seconds, piece in pieces),
            path=self.path,
            request=redact(json.dumps(_short(self.body))),
            frames=tuple((seconds, redact(frame.decode("utf-8", "replace"))) for seconds, frame in frames),
            parallel=self.parallel,
            facts=tuple(self._facts()),
            expect=tuple(map(redact, describe(self._turn(raw)))) if not self.decoded else (f"finish {self.outcome}",),
        )

    def _turn(self, raw: str) -> Turn:
        """What it meant, with those ids of calls that the model wrote itself."""
        turn = fold(self.events)
        for call in turn.calls:
            call.id = call.id if call.id in raw else ""
        return turn

    def _facts(self) -> Iterator[str]:
        when = datetime.fromtimestamp(self.began, UTC).isoformat(timespec="milliseconds")
        yield f"{when} {self.model} {self.protocol} {self.outcome}"
        if self.first is not None:
            yield f"first piece after {self.first:.3f} s, {self.seconds or 0:.3f} s in all"
        if self.usage is not None:
            yield f"{self.usage.prompt} prompt tokens, {self.usage.completion} written"
        if self.decoded:
            yield "the engine decodes by itself: the text is what it left, and calls it told of are not in it"
        if self.error:
            yield redact(self.error.replace("\n", " "))


def _cut_like(text: str, pieces: Sequence[Piece]) -> Iterator[tuple[str, bool]]:
    """A text of the same length, in the same pieces."""
    at = 0
    for piece in pieces:
        yield text[at : at + len(piece.text)], piece.special
        at += len(piece.text)


def _short(value: Any) -> Any:
    """JSON without the bytes of images and sounds."""
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    if isinstance(value, str) and value.startswith("data:") and len(value) > 200:
        return f"{value[:60]}... ({len(value)} characters)"
    return value


class Keeper(Protocol):
    """Where finished turns are kept."""

    def keep(self, record: Record) -> None:
        """Keep one.  It does not raise: a log that cannot be written is told of, once."""

    def close(self) -> None:
        """Release what is open."""


class TurnLog:
    """The last turns in memory, and all that are wanted in a keeper.

    Args:
        which: all, notices (those with errors or notices), or off.
        count: turns to remember.
        limit: characters that all remembered turns may have; a turn alone may have an eighth of it.
        keeper: where they are kept for good.
    """

    def __init__(
        self, which: str = "all", *, count: int = 500, limit: int = 64 << 20, keeper: Keeper | None = None
    ) -> None:
        self.which, self.count, self.limit, self.keeper = which, count, limit, keeper
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._size = 0

    def __iter__(self) -> Iterator[Record]:
        """The newest first."""
        return reversed(list(self._records.values()))

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> Record | None:
        """The turn of an id."""
        return self._records.get(key)

    def begin(self, record: Record) -> None:
        """A turn begins."""
        self._records[record.id] = record
        self._trim()

    def came(self, record: Record, seconds: float, batch: Sequence[Any]) -> None:
        """Pieces came."""
        record.batches.append((seconds, batch))

    def sent(self, record: Record, seconds: float, events: Sequence[Event], frames: bytes) -> None:
        """Events came of them, and frames were sent."""
        if events:
            record.told.append((seconds, events))
        if frames:
            record.frames.append((seconds, frames))

    def end(self, record: Record) -> None:
        """It is over."""
        record.size = _size(record)
        if record.size > self.limit // 8:
            _shrink(record)
        if self.which == "notices" and not (record.error or record.noticed):
            self._forget(record)
            return
        self._size += record.size
        if self.keeper:
            self.keeper.keep(record)
        self._trim()

    def close(self) -> None:
        """Release what is open."""
        if self.keeper:
            self.keeper.close()

    def _trim(self) -> None:
        ended = (record for record in list(self._records.values()) if record.outcome != "open")
        while len(self._records) > self.count or self._size > self.limit:
            oldest = next(ended, None)
            if oldest is None:
                return
            self._size -= oldest.size
            self._forget(oldest)

    def _forget(self, record: Record) -> None:
        self._records.pop(record.id, None)


def _size(record: Record) -> int:
    frames = sum(len(frame) for _, frame in record.frames)
    return frames + sum(len(piece.text) + _PIECE for _, piece in record.pieces) + len(str(record.body))


def _shrink(record: Record) -> None:
    """Forget the frames of a turn that is too large, and where its pieces were cut."""
    record.frames = []
    joined: list[Piece] = []
    for _, piece in record.pieces:
        if joined and not piece.special and not joined[-1].special:
            joined[-1] = Piece(joined[-1].text + piece.text)
        else:
            joined.append(piece)
    record.batches = [(record.first or 0.0, joined)]
    record.size = _size(record)
