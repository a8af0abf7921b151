"""Generation: one answer of one engine, from its pieces to the events of a turn that always finishes; no I/O.

The `Parser` knows what the text means; this adds what the request asked for and what the engine said:

- Tools are not looked for where none may be called, and forms that need guessing are not where a schema rules.
- A stop string ends the turn.  It is looked for in content alone, as the client sees it (blocks joined by a newline),
  and never sent to the engine.  What may still become one waits; text before it is all that is shown.
  It never spans a thought or a call: these wait for nothing.
- `parallel=False` ends the turn after the first complete call.
- Every way out (`close`, `fail`, `cancel`) closes what is open and ends with one `Usage` and one `Finish`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .errors import Cancelled
from .events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from .messages import Call, Request
from .pieces import End, Piece
from .repair import Repair
from .syntax.decode import Parser, Policy
from .syntax.dialect import Dialect

__all__ = ["Generation"]

_TEXTS = (Content, Reasoning, CallArgs)


class Generation:
    """Pieces in, events out.

    Args:
        dialect: what the model writes.
        request: what was asked.
        prompt: the rendered prompt's text; it decides the state the answer begins in.
        specials: mark -> token id of this tokenizer.
        policy: how lenient to read.
        ids: makes the id of a call that has none of its own, or one that the conversation already has.
        trace: as in `Parser`.
        repair: the engine decodes by itself: its text is looked through once more, and `take` gets the rest.
    """

    def __init__(
        self,
        dialect: Dialect,
        request: Request,
        prompt: str = "",
        specials: Mapping[str, int] | None = None,
        *,
        policy: Policy | None = None,
        ids: Callable[[], str] | None = None,
        trace: Any = None,
        repair: bool = False,
    ) -> None:
        policy = policy or Policy()
        if request.schema is not None:
            policy = replace(policy, recover="strict")
        tools = () if request.choice == "none" else request.tools
        kind = Repair if repair else Parser
        self._parser: Parser | Repair = kind(
            dialect, tools, prompt=prompt, specials=specials, policy=policy, trace=trace
        )
        self._ids, self._used = ids, _call_ids(request)
        self._single = not request.parallel
        self._stops = _Stops(request.stop) if any(request.stop) else None
        self._tally = _Tally()
        self._called = self._cut = self._finished = False

    @property
    def ended(self) -> bool:
        """Nothing more will come: a stop string matched, the one call is complete, or the model ended its turn."""
        return self._cut or self._parser.ended

    @property
    def cut(self) -> bool:
        """The turn was ended here, not by the model: the engine must be stopped, its own end is not worth waiting for."""
        return self._cut

    def prompted(self, total: int, cached: int = 0) -> None:
        """The engine told the prompt's size before its end."""
        self._tally.prompt, self._tally.cached = total, cached

    def feed(self, piece: Piece) -> list[Event]:
        """Decode a piece.  What comes after the end is not shown."""
        if self._cut:
            return []
        events = self._parser.feed(piece.text, piece.special)
        self._tally.count(piece, events)
        if self._stops is None and len(events) == 1 and type(events[0]) in _TEXTS:  # nearly always
            return events
        return self._keep(events)

    def take(self, events: list[Event]) -> list[Event]:
        """What the engine has decoded itself."""
        if self._cut or not isinstance(self._parser, Repair):
            return [event for event in events if type(event) is Notice]
        self._tally.told(events)
        return self._keep(self._parser.take(events))

    def close(self, end: End | None = None) -> list[Event]:
        """The engine ended, or was stopped because the turn had `ended`."""
        return self._close("stop" if end is None or self.ended else end.reason, end)

    def fail(self, error: Exception) -> list[Event]:
        """The engine failed, was too slow, or was stopped by someone; a turn that had ended is not spoiled by it."""
        reason = "cancelled" if isinstance(error, Cancelled) else "error"
        return self.close() if self.ended else self._close(reason, error=error)

    def cancel(self) -> list[Event]:
        """The client left."""
        return self._close("cancelled")

    def _close(self, reason: str, end: End | None = None, error: Exception | None = None) -> list[Event]:
        if self._finished:
            return []
        self._finished = True
        events = [] if self._cut else self._rest(reason)
        if reason == "stop" or self._cut:
            reason = "tool_calls" if self._called else "stop"
        stop = self._stops.matched if self._stops else ""
        return [*events, self._tally.usage(end), Finish(reason, stop, error)]

    def _rest(self, reason: str) -> list[Event]:
        closing = [event for event in self._parser.close(reason) if type(event) is not Finish]
        events = self._keep(closing)
        if self._stops and not self._cut:
            events += self._stops.release()
        return events

    def _keep(self, events: list[Event]) -> list[Event]:
        """Cut the events where the turn ends, and give calls their ids."""
        for position, event in enumerate(events):
            kind = type(event)
            if kind is CallStart:
                self._name(event)  # type: ignore[arg-type]
            elif kind is CallEnd and event.complete:  # type: ignore[union-attr]
                self._called = True
                if self._single:
                    self._cut = True
                    events = events[: position + 1]
                    break
        if self._stops is None:
            return events
        kept = self._stops.feed(events)
        self._cut = self._cut or bool(self._stops.matched)
        return kept

    def _name(self, start: CallStart) -> None:
        if self._ids is not None and (not start.id or start.id in self._used):
            start.id = self._new_id(self._ids)
        self._used.add(start.id)

    def _new_id(self, ids: Callable[[], str]) -> str:
        """As it was made; with a number where that repeats itself."""
        name = ""
        for _ in range(1 + len(self._used)):
            if (name := ids()) not in self._used:
                return name
        return f"{name}_{len(self._used)}"


def _call_ids(request: Request) -> set[str]:
    return {part.id for message in request.messages for part in message.parts if isinstance(part, Call)}


class _Tally:
    """Tokens as they are seen: by their ids, or one a piece where an engine tells none."""

    __slots__ = ("_waiting", "cached", "completion", "estimated", "prompt", "reasoning")

    def __init__(self) -> None:
        self.prompt: int | None = None
        self.cached: int | None = None
        self.completion = self.reasoning = self._waiting = 0
        self.estimated = False

    def count(self, piece: Piece, events: list[Event]) -> None:
        """Count a piece, and as reasoning if it came out as that; what is held back counts as what it turns out to be."""
        tokens = len(piece.ids)
        if not tokens and piece.text:
            tokens, self.estimated = 1, True
        self.completion += tokens
        self._waiting += tokens
        if not events:
            return
        if len(events) > 1:
            self.reasoning += round(self._waiting * _thought(events))
        elif type(events[0]) is Reasoning:
            self.reasoning += self._waiting
        self._waiting = 0

    def told(self, events: list[Event]) -> None:
        """Count what the engine has decoded itself: one token an event."""
        self.estimated = True
        self.completion += len(events)
        self.reasoning += sum(type(event) is Reasoning for event in events)
        self._waiting = 0

    def usage(self, end: End | None) -> Usage:
        """The engine's own counts, else ours."""
        completion, estimated = self.completion, self.estimated
        if end is not None and end.completion is not None:
            completion, estimated = end.completion, False
        prompt, cached, reasoning = self.prompt, self.cached, self.reasoning
        if end is not None:
            prompt = prompt if end.prompt is None else end.prompt
            cached = cached if end.cached is None else end.cached
            reasoning = reasoning if end.reasoning is None else end.reasoning
        return Usage(prompt, completion, min(reasoning, completion), cached, estimated)


def _thought(events: list[Event]) -> float:
    """Which part of the events' text is reasoning."""
    thought = shown = 0
    for event in events:
        if isinstance(event, Reasoning):
            thought += len(event.text)
        elif isinstance(event, Content):
            shown += len(event.text)
        elif isinstance(event, CallStart | CallEnd):
            shown += 1
    return thought / (thought + shown) if thought else 0.0


class _Stops:
    """Looks for stop strings in content, and holds back what may become one.

    The match that ends first wins, and of those that end together the longest: so it is the same for every cut.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.matched = ""
        self._stops = tuple(stop for stop in stops if stop)
        self._longest = max(map(len, self._stops))
        self._window = ""
        self._held: list[Content | None] = []  # None: the newline between two blocks
        self._part: int | None = None

    def feed(self, events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            if isinstance(event, Content):
                out += self._content(event)
                if self.matched:
                    break
                continue
            if not isinstance(event, Notice):
                out += self.release()
            out.append(event)
        return out

    def release(self) -> list[Event]:
        """Give out all that is held."""
        return self._give(len(self._window))

    def _content(self, event: Content) -> list[Event]:
        if self._part is not None and self._part != event.part:
            self._held.append(None)
            self._window += "\n"
        self._part = event.part
        self._held.append(event)
        self._window += event.text
        return self._give(self._match())

    def _match(self) -> int:
        """How much of the window is no stop string and cannot become one."""
        window = self._window
        hits = [(at + len(stop), at, stop) for stop in self._stops if (at := window.find(stop)) >= 0]
        if hits:
            _, at, self.matched = min(hits)
            return at
        begin = max(0, len(window) - self._longest + 1)
        return min((self._beginning(stop, begin) for stop in self._stops), default=len(window))

    def _beginning(self, stop: str, begin: int) -> int:
        """Where a stop string may have begun at the end of the window."""
        at = self._window.find(stop[0], begin)
        while at >= 0 and not stop.startswith(self._window[at:]):
            at = self._window.find(stop[0], at + 1)
        return len(self._window) if at < 0 else at

    def _give(self, count: int) -> list[Event]:
        self._window = "" if self.matched else self._window[count:]
        given: list[Event] = []
        while count:
            event = self._held[0]
            text = "\n" if event is None else event.text
            if len(text) > count and event is not None:
                given.append(replace(event, text=text[:count]))
                self._held[0] = replace(event, text=text[count:], at=event.at + count)
                break
            del self._held[0]
            count -= len(text)
            if event is not None:
                given.append(event)
        return given
