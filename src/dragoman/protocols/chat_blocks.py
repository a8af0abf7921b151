"""The deltas of an upstream's stream, put in order: each call whole, and one after the other.

Upstreams count calls from one, give two calls the same index or none, repeat ids and names on every delta, send the
name last, interleave calls, or write arguments as an object.
A delta belongs to the call of its index, else of its id, else to the latest;
but it begins another one if it names a tool and that call is already whole, or has another id.

Blocks stand in a queue and only the first one is being written.
A call is over once its JSON is whole and something stands behind it; only an upstream that interleaves makes wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Notice, Reasoning
from . import wire
from .balance import Balance
from .chat_messages import is_object

__all__ = ["Blocks"]


class Blocks:
    """Texts and deltas of calls in, events in order out."""

    def __init__(self) -> None:
        self._queue: deque[_Text | _Call] = deque()
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._latest: _Call | None = None
        self._seen: set[str] = set()
        self._parts = 0
        self._numbers = count()
        self.called = False

    def text(self, kind: str, text: str, block: str = "", phase: str = "") -> list[Event]:
        """A piece of content, reasoning or refusal; `block`: names the block where the protocol has blocks."""
        if not text:
            return []
        last = self._queue[-1] if self._queue else None
        if isinstance(last, _Text) and (last.kind, last.block) == (kind, block):
            last.pieces.append(text)
        else:
            # Chat has one string for all blocks of a kind, with a newline between them.
            joined = kind in self._seen and not block
            self._push(_Text(kind, self._parts, text.removeprefix("\n") if joined else text, block, phase))
            self._seen.add(kind)
        return self._drain()

    def more(self, kind: str, texts: Sequence[str]) -> list[Event]:
        """The same for pieces that most likely go on with the block that is open."""
        queue = self._queue
        last = queue[0] if len(queue) == 1 else None
        if not (isinstance(last, _Text) and last.kind == kind and not last.block):
            return [event for text in texts for event in self.text(kind, text)]
        part, phase = last.part, last.phase
        if kind == "reasoning":
            return [Reasoning(text, 0, part) for text in texts if text]
        return [Content(text, 0, part, phase) for text in texts if text]

    def call(self, delta: Mapping[str, Any]) -> list[Event]:
        """One item of `tool_calls`."""
        name, arguments = _function(delta)
        call_id = _string(delta.get("id"))
        call = self._find(delta.get("index"), call_id, name)
        if call is None or not call.takes(call_id, name):
            call = _Call(self._numbers, self._parts)
            self._push(call)
        self._know(call, delta.get("index"), call_id, name)
        if call.over:
            return [Notice("after-end", raw=arguments)] if arguments.strip() else []
        call.add(arguments)
        return self._drain()

    def told(self, index: int, *, whole: bool) -> None:
        """The upstream says itself whether a call is whole."""
        if index in self._by_index:
            self._by_index[index].sure = whole

    def end(self, *, cut: bool, called: bool = False) -> list[Event]:
        """Close what is open.

        `cut`: the answer did not end by itself, so its last call may not be whole.
        `called`: the upstream says that it ended with calls, so they are whole, readable or not.
        """
        events: list[Event] = []
        while self._queue:
            block = self._queue.popleft()
            if called and isinstance(block, _Call) and block.sure is None:
                block.sure = True
            events += [*block.take(), *self._over(block, cut=cut and not self._queue)]
        return events

    def _push(self, block: _Text | _Call) -> None:
        self._queue.append(block)
        self._parts += 1

    def _find(self, index: Any, call_id: str, name: str) -> _Call | None:
        if not isinstance(index, int):
            return self._by_id.get(call_id, None if call_id and name else self._latest)
        if index not in self._by_index and not name:
            return self._by_id.get(call_id)
        return self._by_index.get(index)

    def _know(self, call: _Call, index: Any, call_id: str, name: str) -> None:
        call.id, call.name = call.id or call_id, call.name or name
        if isinstance(index, int):
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        self._latest = call

    def _drain(self) -> list[Event]:
        events = self._queue[0].take()
        while len(self._queue) > 1 and self._queue[0].done:
            events += [*self._over(self._queue.popleft(), cut=False), *self._queue[0].take()]
        return events

    def _over(self, block: _Text | _Call, *, cut: bool) -> list[Event]:
        if isinstance(block, _Text):
            return []
        events = block.end(cut=cut)
        self.called = self.called or any(isinstance(event, CallEnd) and event.complete for event in events)
        return events


class _Text:
    """A block of text."""

    done = True

    def __init__(self, kind: str, part: int, text: str, block: str, phase: str) -> None:
        self.kind, self.part, self.pieces = kind, part, [text]
        self.block, self.phase = block, "refusal" if kind == "refusal" else phase

    def take(self) -> list[Event]:
        text = "".join(self.pieces)
        self.pieces.clear()
        if not text:
            return []
        if self.kind == "reasoning":
            return [Reasoning(text, part=self.part)]
        return [Content(text, part=self.part, phase=self.phase)]


class _Call:
    """A call: what was read of it, and how much of that was given out."""

    def __init__(self, numbers: Iterator[int], part: int) -> None:
        self.index, self.part = -1, part
        self._numbers = numbers
        self.id = self.name = ""
        self.over = False
        self.sure: bool | None = None  # what the upstream itself says of its being whole
        self._pieces: list[str] = []
        self._given: int | None = None
        self._weighed = 0
        self._balance = Balance()

    def add(self, arguments: str) -> None:
        if arguments:
            self._pieces.append(arguments)

    def takes(self, call_id: str, name: str) -> bool:
        """Whether a delta with this id and name goes on with this call."""
        if not name or not self.name or (call_id and call_id == self.id):
            return True
        if call_id and self.id and not self._pieces:
            return False
        return name == self.name and not self.done

    @property
    def done(self) -> bool:
        """The name is known and the arguments are whole."""
        for piece in self._pieces[self._weighed :]:
            self._balance.add(piece)
        self._weighed = len(self._pieces)
        return bool(self.name) and self._balance.whole

    def take(self) -> list[Event]:
        if not self.name:
            return []
        events: list[Event] = []
        if self._given is None:
            self.index = next(self._numbers)
            events.append(CallStart(self.index, self.id, self.name, self.part))
        given = self._given or 0
        self._given = len(self._pieces)
        text = "".join(self._pieces[given:])
        return [*events, CallArgs(self.index, text)] if text else events

    def end(self, *, cut: bool) -> list[Event]:
        self.over = True
        arguments = "".join(self._pieces)
        if not self.name:
            return [Notice("cut", raw=arguments)]
        if not arguments.strip() and (cut or self.sure is False):
            return [CallEnd(self.index, complete=False, valid=False, missing="{}")]
        if not arguments.strip():
            return [CallArgs(self.index, "{}"), CallEnd(self.index, complete=True, valid=True)]
        valid = is_object(arguments)
        complete = valid or (self.sure if self.sure is not None else self.done and not cut)
        return [CallEnd(self.index, complete, valid, "" if complete else self._balance.missing)]


def _function(delta: Mapping[str, Any]) -> tuple[str, str]:
    """The name and the arguments of a delta, as text."""
    custom = delta.get("custom")
    if isinstance(custom, Mapping):
        return _string(custom.get("name")), wire.dump({"input": _string(custom.get("input"))}).decode()
    function = delta.get("function")
    function = function if isinstance(function, Mapping) else {}
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = wire.dump(arguments).decode()
    return _string(function.get("name")), _string(arguments)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
