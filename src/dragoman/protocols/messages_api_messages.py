"""The messages of a Messages request, and its system prompt.

One message may hold several tool results and what the user said beside them: each result becomes a message of its own,
and the text follows as the user's.  Results belong to their calls by id, whatever their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..messages import Call, Message, Part, Result, Text
from .fields import Fields, invalid, missing
from .messages_api_blocks import read_blocks

__all__ = ["read_messages"]

_ROLES = ("user", "assistant", "system")
# One client's first system block is for its maker's accounts.  It differs in every request, and would spoil every cache.
_BILLING = "x-anthropic-billing-header:"


def read_messages(fields: Fields, secret: bytes) -> tuple[Message, ...]:
    """All messages, the system prompt first; `secret`: the key of our signatures.

    Raises:
        RequestError: one of them cannot be read.
    """
    if not fields.items("messages"):
        missing(fields.param("messages"), "a list with at least one message")
    said = [message for item in fields.each("messages") for message in _message(item, secret)]
    if said and said[-1] == Message("assistant"):
        said.pop()  # an empty beginning is none
    return _named([*_system(fields, "system", secret), *said])


def _message(fields: Fields, secret: bytes) -> Iterator[Message]:
    role = fields.required("role", f"one of {', '.join(_ROLES)}")
    if role not in _ROLES:
        invalid(fields.param("role"), f"must be one of {', '.join(_ROLES)}; it is {role!r:.60}")
    if "content" not in fields:
        missing(fields.param("content"), "a string or a list of blocks")
    if role == "system":
        yield from _system(fields, "content", secret)
        return
    parts = tuple(read_blocks(fields, "content", secret))
    yield from _answered(parts) if role == "user" else _acted(parts)


def _system(fields: Fields, key: str, secret: bytes) -> Iterator[Message]:
    parts = tuple(part for part in read_blocks(fields, key, secret) if not _is_billing(part))
    if parts:
        yield Message("system", parts)


def _is_billing(part: Part) -> bool:
    return isinstance(part, Text) and part.text.startswith(_BILLING)


def _answered(parts: Sequence[Part]) -> Iterator[Message]:
    """The results in a user's message, then what else it says."""
    yield from (Message("tool", (part,)) for part in parts if isinstance(part, Result))
    rest = tuple(part for part in parts if not isinstance(part, Result))
    if rest or not parts:
        yield Message("user", rest)


def _acted(parts: Sequence[Part]) -> Iterator[Message]:
    """An assistant's message; the results of hosted tools in it stand between its calls and what it said then."""
    for is_result, group in groupby(parts, lambda part: isinstance(part, Result)):
        together = tuple(group)
        yield from _answered(together) if is_result else (Message("assistant", together),)
    if not parts:
        yield Message("assistant")


def _named(messages: list[Message]) -> tuple[Message, ...]:
    """Every result with the name of the tool that gave it."""
    names: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, Call):
                names[part.id] = part.name
            elif isinstance(part, Result):
                part.name = names.get(part.id, "")
    return tuple(messages)
