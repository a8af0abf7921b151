"""A history without what poisons it: servers refuse whole requests for one call that was cut or never answered.

Clients send back what they were given: arguments that are no JSON, calls that nobody ran, results of calls that were
dropped.  Here every call has an object as arguments, an id, and a result; and a result without its call is plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..messages import Call, Message, Part, Result, Text
from ..protocols import wire
from ..protocols.chat_messages import is_object
from .history import joined

__all__ = ["cured"]

_UNANSWERED = "There is no result: the call was not run."


def cured(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages of a conversation, as every server takes them."""
    history = _History()
    for message in messages:
        history.add(message)
    return tuple(history.close())


class _History:
    """The conversation so far; `_open`: the calls that wait for their results, by id."""

    def __init__(self) -> None:
        self._done: list[Message] = []
        self._open: dict[str, Call] = {}
        self._stray: list[Message] = []
        self._count = 0

    def add(self, message: Message) -> None:
        """The next message."""
        if message.role == "assistant":
            self._answer()
            self._done.append(replace(message, parts=tuple(self._part(part) for part in message.parts)))
            return
        for part in message.parts:
            if isinstance(part, Result):
                self._take(part)
        rest = tuple(part for part in message.parts if not isinstance(part, Result))
        if rest or not message.parts:
            self._answer()
            self._done.append(Message("user" if message.role == "tool" else message.role, rest))

    def close(self) -> Sequence[Message]:
        """All messages."""
        self._answer()
        return self._done

    def _part(self, part: Part) -> Part:
        if not isinstance(part, Call):
            return part
        self._count += 1
        own = part.id if part.id not in self._open else ""
        call = replace(part, id=own or f"call_{self._count}", arguments=_object(part.arguments), valid=True)
        self._open[call.id] = call
        return call

    def _take(self, result: Result) -> None:
        """A result; one whose call is gone is told when those that wait have theirs."""
        call = self._open.pop(result.id, None) or self._nameless(result)
        if call is not None:
            self._done.append(Message("tool", (replace(result, id=call.id, name=result.name or call.name),)))
            return
        name = f" of {result.name}" if result.name else ""
        self._stray.append(Message("user", (Text(f"A result{name}:\n{joined(result.parts)}"),)))

    def _nameless(self, result: Result) -> Call | None:
        """A result without an id belongs to the first call that waits."""
        if result.id or not self._open:
            return None
        return self._open.pop(next(iter(self._open)))

    def _answer(self) -> None:
        """Nothing more will come for the calls that wait."""
        for message in self._unanswered():
            self._done.append(message)
        self._open.clear()
        self._done += self._stray
        self._stray.clear()

    def _unanswered(self) -> Iterator[Message]:
        for call in self._open.values():
            yield Message("tool", (Result(call.id, (Text(_UNANSWERED),), call.name, error=True),))


def _object(arguments: str) -> str:
    if is_object(arguments or "{}"):
        return arguments or "{}"
    return wire.dump({"_raw": arguments}).decode()
