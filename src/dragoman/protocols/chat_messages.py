"""The messages of a Chat Completions request.

Content is a string or a list of parts in every role, also for tools and systems.
An assistant's earlier reasoning is taken under every name that servers give it.
Tool results belong to their call by id, never by position; only a result without an id takes the first open call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Result, Text
from . import wire
from .fields import Fields, invalid, kind, missing, unsupported

__all__ = ["is_object", "read_messages", "used_ids"]

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


def read_messages(fields: Fields) -> tuple[Message, ...]:
    """All messages, in order.

    Raises:
        RequestError: one of them cannot be read.
    """
    if not fields.items("messages"):
        missing(fields.param("messages"), "a list with at least one message")
    calls = _Calls()
    return tuple(_message(item, calls) for item in fields.each("messages"))


def used_ids(messages: tuple[Message, ...]) -> set[str]:
    """The ids of all calls in a conversation."""
    return {part.id for message in messages for part in message.parts if isinstance(part, Call) and part.id}


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call parse as a JSON object."""
    try:
        return isinstance(wire.load(arguments), dict)
    except ValueError:
        return False


class _Calls:
    """The calls so far: their names by id, and those that have no result yet."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.open: list[Call] = []

    def add(self, call: Call) -> Call:
        self.names[call.id] = call.name
        self.open.append(call)
        return call

    def answered(self, call_id: str, name: str) -> tuple[str, str]:
        """The id and name of the call that a result belongs to."""
        for call in self.open:
            if call.id == call_id if call_id else name in ("", call.name):
                self.open.remove(call)
                return call.id, call.name
        return call_id, name or self.names.get(call_id, "")


def _message(fields: Fields, calls: _Calls) -> Message:
    role = fields.required("role", f"one of {', '.join(_ROLES)}")
    if role not in _ROLES:
        invalid(fields.param("role"), f"must be one of {', '.join(_ROLES)}; it is {role!r:.60}")
    if role == "assistant":
        return Message(role, tuple(_assistant(fields, calls)))
    if "content" not in fields and role != "tool":
        missing(fields.param("content"), "a string or a list of parts")
    parts = tuple(_content(fields))
    if _ROLES[role] == "tool":
        call_id, name = calls.answered(fields.text("tool_call_id"), fields.text("name"))
        parts = (Result(call_id, parts, name),)
    return Message(_ROLES[role], parts)


def _assistant(fields: Fields, calls: _Calls) -> Iterator[Part]:
    reasoning = _reasoning(fields)
    if reasoning:
        yield Reasoning(reasoning)
    yield from _content(fields)
    if fields.text("refusal"):
        yield Text(fields.text("refusal"), "refusal")
    for item in fields.each("tool_calls"):
        yield calls.add(_call(item))
    if "function_call" in fields:
        yield calls.add(_function(fields.inner("function_call"), ""))


def _reasoning(fields: Fields) -> str:
    for key in _REASONING:
        value = fields.get(key)
        if isinstance(value, str) and value:
            return value
    details = fields.get("reasoning_details")
    details = details if isinstance(details, list) else ()
    texts = [item.get("text") or item.get("summary") for item in details if isinstance(item, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _call(fields: Fields) -> Call:
    call_id = fields.text("id")
    if "custom" in fields:
        custom = fields.inner("custom")
        arguments = wire.dump({"input": custom.text("input")}).decode()
        return Call(custom.required("name", "the name of the tool"), arguments, call_id)
    if "function" not in fields:
        missing(fields.param("function"), "the name and the arguments of the call")
    return _function(fields.inner("function"), call_id)


def _function(fields: Fields, call_id: str) -> Call:
    arguments = fields.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = wire.dump(arguments).decode()
    elif not isinstance(arguments, str | None):
        invalid(fields.param("arguments"), f"must be a string of JSON; it is {kind(arguments)}", "invalid_type")
    arguments = arguments or "{}"
    return Call(fields.required("name", "the name of the function"), arguments, call_id, valid=is_object(arguments))


def _content(fields: Fields) -> Iterator[Part]:
    content = fields.get("content")
    if isinstance(content, str):
        if content:
            yield Text(content)
    elif isinstance(content, list | tuple):
        for index, item in enumerate(content):
            yield _part(item, f"{fields.param('content')}[{index}]")
    elif content is not None:
        invalid(fields.param("content"), f"must be a string or a list of parts; it is {kind(content)}", "invalid_type")


def _part(item: Any, where: str) -> Part:
    if isinstance(item, str):
        return Text(item)
    if not isinstance(item, Mapping):
        invalid(where, f"must be an object with a type; it is {kind(item)}", "invalid_type")
    fields = Fields(item, where)
    name = fields.required("type", f"one of {', '.join(_PARTS)}")
    if name not in _PARTS:
        invalid(fields.param("type"), f"must be one of {', '.join(_PARTS)}; it is {name!r:.60}")
    return _PARTS[name](fields, name)


def _text(fields: Fields, _: str) -> Part:
    if "text" not in fields:
        missing(fields.param("text"), "the text of the part")
    return Text(fields.text("text"))


def _refusal(fields: Fields, _: str) -> Part:
    return Text(fields.text("refusal"), "refusal")


def _thinking(fields: Fields, name: str) -> Part:
    value = fields.get(name)
    if isinstance(value, list):
        value = "".join(part.text for part in map(_text_only, fields.each(name)))
    return Reasoning(value if isinstance(value, str) else fields.text("text"))


def _text_only(fields: Fields) -> Text:
    return Text(fields.text("text"))


def _url(fields: Fields, name: str) -> Part:
    holder = fields if isinstance(fields.get(name), str) else fields.inner(name)
    url = holder.required(name if holder is fields else "url", "a URL, also data:")
    mime = url[5:].partition(",")[0].partition(";")[0] if url.startswith("data:") else ""
    return Media(name.removesuffix("_url"), url, mime)


def _audio(fields: Fields, name: str) -> Part:
    audio = fields.inner(name)
    mime = f"audio/{audio.text('format', 'wav')}"
    return Media("audio", f"data:{mime};base64,{audio.required('data', 'the sound in base64')}", mime)


def _file(fields: Fields, name: str) -> Part:
    file = fields.inner(name)
    if "file_id" in file:
        unsupported(file.param("file_id"), "is not offered here; send the file itself as file_data")
    data = file.required("file_data", "the file in base64, or a data: URL")
    url = data if data.startswith("data:") else f"data:application/octet-stream;base64,{data}"
    return Media("file", url, url[5:].partition(";")[0], file.text("filename"))


_PARTS: Mapping[str, Callable[[Fields, str], Part]] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _refusal,
    "thinking": _thinking,
    "reasoning": _thinking,
    "image_url": _url,
    "video_url": _url,
    "audio_url": _url,
    "input_audio": _audio,
    "file": _file,
}
