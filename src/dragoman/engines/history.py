"""A request's messages made ready for a prompt: results beside their calls, arguments as objects, marks hidden."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from ..errors import UnsupportedFeature
from ..messages import Call, Media, Message, Part, Reasoning, Result, Text
from ..protocols.call_ids import own_id
from .foreign import Disguise

__all__ = ["arguments", "hidden", "joined", "named", "ordered", "reasoning", "texts"]


def named(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with the ids of calls as their model wrote them."""
    return tuple(Message(message.role, tuple(map(_named, message.parts))) for message in messages)


def _named(part: Part) -> Part:
    return replace(part, id=own_id(part.id)) if isinstance(part, Call | Result) else part


def joined(parts: Iterable[Part]) -> str:
    """The text of parts.

    Raises:
        UnsupportedFeature: there is an image, a sound or a file among them.
    """
    found = []
    for part in parts:
        if isinstance(part, Media):
            raise UnsupportedFeature(f"this model reads text only, no {part.kind}", param="messages")
        if isinstance(part, Text):
            found.append(part.text)
    return "\n".join(found)


def reasoning(parts: Iterable[Part]) -> str:
    """The thinking in parts."""
    return "\n".join(part.text for part in parts if isinstance(part, Reasoning))


def arguments(call: Call) -> dict[str, Any]:
    """The arguments of a call; what is no object is handed over as it is."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"_raw": call.arguments}


def texts(messages: Iterable[Message]) -> Iterator[str]:
    """Every text in messages, wherever it stands."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Result):
                yield from texts((Message("tool", part.parts),))
            elif isinstance(part, Call):
                yield from (part.name, part.arguments, part.id)
            elif not isinstance(part, Media):
                yield part.text


def ordered(messages: Iterable[Message]) -> list[Message]:
    """Every result named, in a message of its own, and in the order of the calls they answer, whoever came first."""
    done: list[Message] = []
    calls: dict[str, tuple[int, str]] = {}
    for with_results, group in groupby(messages, _has_results):
        if with_results:
            done += _sorted(list(group), calls)
            continue
        for message in group:
            made = [part for part in message.parts if isinstance(part, Call) and part.id]
            calls |= {call.id: (len(calls) + place, call.name) for place, call in enumerate(made)}
            done.append(message)
    return done


def hidden(message: Message, disguise: Disguise, keep: frozenset[str]) -> Message:
    """The message with special tokens hidden in what users, tools and models wrote; a system's words are trusted.

    `keep`: marks that stay in the text of the assistant.
    """
    if message.role == "system":
        return Message("system", (Text(joined(message.parts)),))
    kept = keep if message.role == "assistant" else frozenset[str]()
    return Message(message.role, tuple(_hidden(part, disguise, kept) for part in message.parts))


def _hidden(part: Part, disguise: Disguise, keep: frozenset[str]) -> Part:
    match part:
        case Text():
            return Text(disguise.hide(part.text, keep), part.phase)
        case Reasoning():
            return Reasoning(disguise.hide(part.text))
        case Call():
            given = json.dumps(disguise.hide_in(arguments(part)), ensure_ascii=False)
            return Call(disguise.hide(part.name), given, disguise.hide(part.id))
        case Result():
            text = Text(disguise.hide(joined(part.parts)))
            return Result(disguise.hide(part.id), (text,), disguise.hide(part.name), part.error)
        case _:
            return part


def _has_results(message: Message) -> bool:
    return any(isinstance(part, Result) for part in message.parts)


def _sorted(group: Sequence[Message], calls: dict[str, tuple[int, str]]) -> Iterator[Message]:
    """One message for each result, then what else was said with them."""
    results = [part for message in group for part in message.parts if isinstance(part, Result)]
    for result in sorted(results, key=lambda result: calls.get(result.id, (len(calls), ""))[0]):
        name = result.name or calls.get(result.id, (0, ""))[1]
        yield Message("tool", (Result(result.id, result.parts, name, result.error),))
    for message in group:
        if rest := tuple(part for part in message.parts if not isinstance(part, Result)):
            yield Message("user" if message.role == "tool" else message.role, rest)
