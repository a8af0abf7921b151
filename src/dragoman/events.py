"""What a model said: the events of one turn, in the order they happened.

Every dialect decodes into these and every protocol encodes from them.
They are plain values: slotted, not frozen (a frozen one costs 2.7 times as much to make), never changed once emitted.

A turn is any number of `Content`, `Reasoning`, `CallStart`, `CallArgs`, `CallEnd` and `Notice`,
then at most one `Usage`, then exactly one `Finish`.
Between a `CallStart` and its `CallEnd` come only `CallArgs` of the same index, and `Notice`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CallArgs",
    "CallEnd",
    "CallStart",
    "Content",
    "Event",
    "Finish",
    "Notice",
    "Reasoning",
    "Usage",
]


@dataclass(slots=True)
class Content:
    """A piece of the answer: its raw offset in characters, the number of its block, and its phase.

    `phase` is "" where the dialect has none, else `commentary`, `final` or `refusal`.
    """

    text: str
    at: int = 0
    part: int = 0
    phase: str = ""


@dataclass(slots=True)
class Reasoning:
    """A piece of the model's thinking; `at` and `part` as in `Content`."""

    text: str
    at: int = 0
    part: int = 0


@dataclass(slots=True)
class CallStart:
    """A tool call begins: its name is whole, its arguments follow.  `id` is the model's own, or ""."""

    index: int
    id: str
    name: str
    part: int = 0


@dataclass(slots=True)
class CallArgs:
    """A piece of JSON text; the pieces of a call joined are its arguments.  `at`: raw offset of its source."""

    index: int
    json: str
    at: int = 0


@dataclass(slots=True)
class CallEnd:
    """A tool call ends.

    `complete`: the payload is whole, or the model wrote its end mark.  A call that is not complete is never run.
    `valid`: the arguments parse as a JSON object.
    `missing`: the JSON text that would close what a cut left open ("" if nothing is).
    """

    index: int
    complete: bool
    valid: bool
    missing: str = ""


@dataclass(slots=True)
class Notice:
    """Something was repaired, dropped, cut or doubtful: what (a code of the reference), where, and the raw text."""

    code: str
    at: int = 0
    raw: str = ""


@dataclass(slots=True)
class Usage:
    """Token counts; None is unknown.  `reasoning` is part of `completion`, `cached` is part of `prompt`."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    estimated: bool = False


@dataclass(slots=True)
class Finish:
    """The turn is over.

    `reason`: stop, tool_calls, length, filter, cancelled or error.
    `stop`: the stop string that matched, or "".  `error`: the exception behind the reason `error`, or behind `cancelled` where there is one.
    """

    reason: str
    stop: str = ""
    error: Exception | None = None


Event = Content | Reasoning | CallStart | CallArgs | CallEnd | Notice | Usage | Finish
