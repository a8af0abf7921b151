"""The turn log: what models wrote, as case files, in memory and where the user wants them kept.

A record holds what came, as it came; only when somebody looks, or when it goes to a file, does it become a case.
So a piece costs one append, and a turn that nobody asks for is never written out.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Protocol

from .. import api
from ..cases.case import Case, Moment
from ..cases.expect import describe
from ..engines.base import Piece, Prompt
from ..errors import UsageError
from ..events import CallArgs, Content, Event, Finish, Notice, Reasoning, Usage
from ..explanation import explain
from ..messages import Tool, Turn
from ..syntax.decode import fold
from ..syntax.dialect import Dialect
from .redact import redact

__all__ = ["Keeper", "Record", "TurnLog"]

_PROMPT = 20_000  # characters of a prompt's end that are kept
_SECRET = 4_000  # characters before it that are looked at too, lest the rest of a secret is kept
_NONE = Dialect("")  # without marks; one for all, since a dialect is compiled once
_PIECE = 100  # bytes that a piece, an event or a frame takes beside its text


@dataclass(slots=True, eq=False)
class Record:
    """One answer of one request, being recorded.

    `id`: of the answer, with `-N` behind it for the choices after the first.  `began`: Unix time in seconds.
    `path`, `protocol`, `body`: where the request came, in whose words, and its JSON.
    `texts`, `ids`, `special`, `times`: the pieces, the ids of their tokens, the numbers of those that were special tokens,
    and the seconds since the request.  `told`: the events.  `frames`, `sent`: what went, and when.
    These are flat: many small tuples would be looked through again and again by the garbage collector.
    `noticed`: the codes of its notices, once it is over.
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
    texts: list[str] = field(default_factory=list)
    ids: list[Sequence[int]] = field(default_factory=list)
    special: set[int] = field(default_factory=set)
    times: array[float] = field(default_factory=lambda: array("d"))
    told: list[Event] = field(default_factory=list)
    noticed: list[str] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    sent: array[float] = field(default_factory=lambda: array("d"))
    decoded: bool = False
    key: str = ""
    finish: str = "stop"
    outcome: str = "open"
    error: str = ""
    usage: Usage | None = None
    first: float | None = None
    seconds: float | None = None
    size: int = 0

    def came(self, seconds: float, batch: Sequence[Any]) -> None:
        """Pieces came."""
        for item in batch:
            if type(item) is Piece:
                if item.special:
                    self.special.add(len(self.texts))
                self.texts.append(item.text)
                self.ids.append(item.ids)
                self.times.append(seconds)

    def made(self, seconds: float, events: Sequence[Event], frames: bytes) -> None:
        """Events were made of them, and frames were sent."""
        self.told += events
        if frames:
            self.frames.append(frames)
            self.sent.append(seconds)

    @property
    def raw(self) -> str:
        """What the model wrote."""
        return "".join(self.texts)

    def case(self) -> Case:
        """It as a case; secrets are masked."""
        raw = self.raw
        masked = redact(raw)
        frames = self.frames if masked == raw else []  # in frames a secret stands in parts
        case = Case(
            self.dialect,
            self.id,
            tuple(self._cut(masked)),
            None if self.tools is None else tuple(self.tools),
            redact(self.prompt.text[-_PROMPT - _SECRET :])[-_PROMPT:],
            self.finish,
            self.policy,
            self.stop,
            marks=bool(self.marks),
            vocabulary=self.marks,
            moments=tuple(Moment(seconds, tuple(ids)) for seconds, ids in zip(self.times, self.ids, strict=True)),
            path=self.path,
            request=redact(json.dumps(_short(self.body))),
            frames=tuple(
                (seconds, redact(frame.decode("utf-8", "replace")))
                for seconds, frame in zip(self.sent, frames, strict=False)
            ),
            parallel=self.parallel,
            facts=tuple(self._facts()),
            expect=tuple(map(redact, describe(self._turn(raw)))),
        )
        return replace(case, expect=_left(case)) if self.decoded else case

    def _turn(self, raw: str) -> Turn:
        """What it meant, with those ids of calls that the model wrote itself."""
        turn = fold(self.told)
        for call in turn.calls:
            call.id = call.id if call.id in raw else ""
        return turn

    def _cut(self, text: str) -> Iterator[tuple[str, bool]]:
        """A text of the same length, in the same pieces."""
        at = 0
        for number, piece in enumerate(self.texts):
            yield text[at : at + len(piece)], number in self.special
            at += len(piece)

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
            yield redact(" ".join(self.error.split()))


def _left(case: Case) -> tuple[str, ...]:
    """What the text means that an engine left which decodes by itself: what a replay of it can say."""
    try:
        dialect = api.get(case.dialect) if case.dialect else _NONE
    except UsageError:  # learnt from its template, and has no name
        dialect = _NONE
    return tuple(describe(explain(case, dialect).turn))


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
    """Where finished turns are kept.  `lost`: how many could not be."""

    lost: int

    def keep(self, record: Record) -> None:
        """Keep one.  It does not raise: a log that cannot be written is told of, once."""

    def close(self) -> None:
        """Release what is open."""


class TurnLog:
    """The last turns in memory, and all that are wanted in a keeper.

    Args:
        which: all, notices (those with errors or notices), or off.
        count: turns to remember.
        limit: characters that all remembered turns may have; a turn alone may have a quarter of it.
        keeper: where they are kept for good.
    """

    def __init__(
        self, which: str = "all", *, count: int = 500, limit: int = 20 << 20, keeper: Keeper | None = None
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

    def end(self, record: Record) -> None:
        """It is over."""
        record.noticed = [event.code for event in record.told if type(event) is Notice]
        _bare(record.told)
        record.size = _size(record)
        if record.size > self.limit // 4:
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


def _bare(told: Sequence[Event]) -> None:
    """Let go of where an error was raised: with the frames of its stack it would keep all that was read until then."""
    problem: BaseException | None = told[-1].error if told and type(told[-1]) is Finish else None
    while problem is not None:
        inner = problem.__cause__ or problem.__context__
        problem.__traceback__ = problem.__cause__ = problem.__context__ = None
        problem = inner


def _size(record: Record) -> int:
    texts = sum(map(len, record.texts)) + sum(map(len, record.frames))
    return texts + _PIECE * (len(record.texts) + len(record.told) + len(record.frames)) + len(str(record.body))


def _shrink(record: Record) -> None:
    """Forget the frames of a turn that is too large, and where its pieces and events were cut."""
    record.frames = []
    joined, special = list[str](), set[int]()
    for number, text in enumerate(record.texts):
        if number in record.special:
            special.add(len(joined))
        if joined and not {number, number - 1} & record.special:
            joined[-1] += text
        else:
            joined.append(text)
    record.texts, record.special = joined, special
    record.ids, record.times = [()] * len(joined), array("d", [record.first or 0.0] * len(joined))
    record.told = list(_joined(record.told))
    record.size = _size(record)


def _joined(told: Iterable[Event]) -> Iterator[Event]:
    """The events, neighbours of one kind and part as one."""
    for _, group in groupby(told, _alike):
        first, *rest = group
        if isinstance(first, Content | Reasoning):
            yield replace(first, text=first.text + "".join(one.text for one in rest))  # type: ignore[union-attr]
        elif isinstance(first, CallArgs):
            yield replace(first, json=first.json + "".join(one.json for one in rest))  # type: ignore[union-attr]
        else:
            yield from (first, *rest)


def _alike(event: Event) -> tuple[object, ...]:
    facts = (getattr(event, name, None) for name in ("part", "index", "phase"))
    return (type(event), *facts)
