"""The `context` of /api/generate: a conversation as a list of integers, given out and taken back.

Ollama's are token ids, and clients never look at them.  Ours hold the conversation itself, so they need no tokenizer
and outlive a change of the model: JSON, compressed, three bytes an integer.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..messages import Message, Text
from . import wire
from .fields import invalid

__all__ = ["pack", "unpack"]

_MARK = 0xD7A60  # what ours begin with; then the number of bytes
_LARGEST = 16 << 20


def pack(messages: Iterable[Message]) -> list[int]:
    """The texts of a conversation."""
    said = [[message.role, _text(message)] for message in messages]
    data = zlib.compress(wire.dump(said))
    padded = data + bytes(-len(data) % 3)
    return [_MARK, len(data), *(int.from_bytes(padded[at : at + 3]) for at in range(0, len(padded), 3))]


def unpack(numbers: Sequence[Any], param: str) -> tuple[Message, ...]:
    """The conversation again; none for an empty list.

    Raises:
        RequestError: this was not given out here.
    """
    if not numbers:
        return ()
    try:
        return tuple(_messages(wire.load(_data(numbers))))
    except (ArithmeticError, AttributeError, TypeError, ValueError, zlib.error):
        invalid(param, "must be the context of an earlier answer of this server")


def _data(numbers: Sequence[Any]) -> bytes:
    mark, size, *rest = numbers
    if mark != _MARK:
        raise ValueError(mark)
    packed = b"".join(number.to_bytes(3) for number in rest)
    unpacked = zlib.decompressobj()
    data = unpacked.decompress(packed[:size], _LARGEST)
    if unpacked.unconsumed_tail or not unpacked.eof:
        raise ValueError(size)
    return data


def _messages(said: Any) -> Iterator[Message]:
    for role, text in said:
        if role not in ("system", "user", "assistant") or not isinstance(text, str):
            raise ValueError(role)
        yield Message(role, (Text(text),))


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))
