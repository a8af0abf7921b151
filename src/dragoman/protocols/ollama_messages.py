"""The messages of an Ollama request.

Images are base64 without a prefix.  Calls and results of many clients have no ids: a call without one is numbered by
its place, and a result without one goes to the first open call of its tool, else to the first open call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Result, Text
from . import wire
from .chat_messages import is_object
from .fields import Fields, invalid, kind

__all__ = ["read_images", "read_messages"]

_ROLES = ("system", "user", "assistant", "tool")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_BEGINNINGS = {"/9j/": "image/jpeg", "iVBOR": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def read_messages(fields: Fields) -> tuple[Message, ...]:
    """All messages, in order; there may be none.

    Raises:
        RequestError: one of them cannot be read.
    """
    calls = _Calls()
    return tuple(_message(item, calls) for item in fields.each("messages"))


def read_images(fields: Fields) -> Iterator[Media]:
    """The images of a message, or of a prompt."""
    for index, data in enumerate(fields.items("images")):
        where = f"{fields.param('images')}[{index}]"
        if not isinstance(data, str):
            invalid(where, f"must be an image in base64; it is {kind(data)}", "invalid_type")
        yield _image(data, where)


class _Calls:
    """The calls of a conversation that wait for their results."""

    def __init__(self) -> None:
        self._open: list[Call] = []
        self._numbered: set[str] = set()
        self._count = 0

    def add(self, call: Call) -> Call:
        if not call.id:
            call.id = f"call_{self._count}"
            self._numbered.add(call.id)
        self._count += 1
        self._open.append(call)
        return call

    def answered(self, call_id: str, name: str) -> tuple[str, str]:
        """The id and the name of the call that a result belongs to."""
        fits = self._named(name)
        if call_id:  # it cannot mean a call that we numbered, except by chance: there the name decides
            same = [call for call in self._open if call.id == call_id and name in ("", call.name)]
            fits = same or [call for call in fits if call.id in self._numbered]
        if not fits:
            return call_id, name
        call = fits[0]
        self._open.remove(call)
        return call.id, call.name

    def _named(self, name: str) -> list[Call]:
        return [call for call in self._open if call.name == name] if name else self._open


def _message(fields: Fields, calls: _Calls) -> Message:
    role = fields.required("role", f"one of {', '.join(_ROLES)}")
    if role not in _ROLES:
        invalid(fields.param("role"), f"must be one of {', '.join(_ROLES)}; it is {role!r:.60}")
    parts = tuple(_parts(fields, calls, role))
    if role == "tool":
        name = fields.text(fields.first("tool_name", "name"))
        call_id, name = calls.answered(fields.text("tool_call_id"), name)
        parts = (Result(call_id, parts, name),)
    return Message(role, parts)


def _parts(fields: Fields, calls: _Calls, role: str) -> Iterator[Part]:
    if role == "assistant" and fields.text("thinking"):
        yield Reasoning(fields.text("thinking"))
    yield from read_images(fields)
    if fields.text("content"):
        yield Text(fields.text("content"))
    for item in fields.each("tool_calls") if role == "assistant" else ():
        yield calls.add(_call(item))


def _call(fields: Fields) -> Call:
    function = fields.inner("function")
    name = function.required("name", "the name of the tool")
    arguments = function.get("arguments")
    if isinstance(arguments, str):  # what other APIs have here
        return Call(name, arguments or "{}", fields.text("id"), valid=is_object(arguments or "{}"))
    return Call(name, _dump(function.mapping("arguments")), fields.text("id"))


def _dump(arguments: Mapping[str, Any]) -> str:
    return wire.dump(arguments).decode()


def _image(data: str, where: str) -> Media:
    if data.startswith("data:"):
        return Media("image", data, data[5:].partition(",")[0].partition(";")[0])
    if not _BASE64.fullmatch(data):
        invalid(where, "must be an image in base64")
    mime = next((mime for begin, mime in _BEGINNINGS.items() if data.startswith(begin)), "image/png")
    return Media("image", f"data:{mime};base64,{''.join(data.split())}", mime)
