"""The content blocks of a Messages request, read as parts of a message.

What a block says of caches and citations is left aside.  Blocks of hosted tools are calls and results like all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..messages import Call, Media, Part, Reasoning, Result, Text
from . import wire
from .chat_messages import is_object
from .fields import Fields, invalid, kind, missing, unsupported
from .messages_api_signature import recall

__all__ = ["read_blocks"]


def read_blocks(fields: Fields, key: str, secret: bytes) -> Iterator[Part]:
    """The parts of a string or a list of blocks; `secret`: the key of our signatures.

    Raises:
        RequestError: a block cannot be read.
    """
    content = fields.get(key)
    if isinstance(content, str):
        if content:
            yield Text(content)
    elif isinstance(content, list | tuple):
        for index, item in enumerate(content):
            yield from _block(item, f"{fields.param(key)}[{index}]", secret)
    elif content is not None:
        invalid(fields.param(key), f"must be a string or a list of blocks; it is {kind(content)}", "invalid_type")


def _block(item: Any, where: str, secret: bytes) -> Iterator[Part]:
    if isinstance(item, str):
        yield Text(item)
        return
    if not isinstance(item, Mapping):
        invalid(where, f"must be an object with a type; it is {kind(item)}", "invalid_type")
    fields = Fields(item, where)
    name = fields.required("type", f"one of {', '.join(_BLOCKS)}")
    read = _BLOCKS.get(name) or (_result if name.endswith("_tool_result") else None)
    if read is None:
        invalid(fields.param("type"), f"must be one of {', '.join(_BLOCKS)}; it is {name!r:.60}")
    yield from read(fields, secret)


def _text(fields: Fields, _: bytes) -> Iterator[Part]:
    if "text" not in fields:
        missing(fields.param("text"), "the text of the block")
    if text := fields.text("text"):
        yield Text(text)


def _thinking(fields: Fields, secret: bytes) -> Iterator[Part]:
    signature = fields.text("signature")
    if text := fields.text("thinking") or recall(signature, secret):
        yield Reasoning(text, signature)


def _redacted(fields: Fields, secret: bytes) -> Iterator[Part]:
    """Another server's thought that nobody here can read."""
    if text := recall(fields.text("data"), secret):
        yield Reasoning(text, fields.text("data"))


def _call(fields: Fields, _: bytes) -> Iterator[Part]:
    given = fields.get("input")
    arguments = given if isinstance(given, str) else wire.dump(fields.mapping("input")).decode()
    name = fields.required("name", "the name of the tool")
    yield Call(name, arguments or "{}", fields.text("id"), valid=is_object(arguments or "{}"))


def _result(fields: Fields, secret: bytes) -> Iterator[Part]:
    call_id = fields.required("tool_use_id", "the id of the tool_use block that this is the result of")
    content = fields.get("content")
    hosted = isinstance(content, Mapping) or fields.text("type") not in ("tool_result", "mcp_tool_result")
    parts = (Text(_plain(content)),) if hosted else tuple(read_blocks(fields, "content", secret))
    error = fields.flag("is_error")
    yield Result(call_id, _told(parts) if error else parts, error=error)


def _plain(content: Any) -> str:
    """What a hosted tool found, without what only its service can read."""
    if isinstance(content, list):
        content = [_without(item) for item in content]
    return wire.dump(_without(content)).decode()


def _without(item: Any) -> Any:
    return (
        {key: value for key, value in item.items() if key != "encrypted_content"} if isinstance(item, Mapping) else item
    )


def _told(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Templates show no flag, so the text must say that it is an error."""
    first = parts[0] if parts else None
    if isinstance(first, Text):
        return parts if "error" in first.text.lower() else (Text(f"Error: {first.text}"), *parts[1:])
    return (Text("Error"), *parts)


def _image(fields: Fields, _: bytes) -> Iterator[Part]:
    yield _media(fields.inner("source"), "image")


def _media(source: Fields, what: str) -> Media:
    form = source.required("type", "base64 or url")
    if form == "url":
        return Media(what, source.required("url", f"the URL of the {what}"))
    if form != "base64":
        unsupported(source.param("type"), f"must be base64 or url; {form!r:.60} is not offered here")
    mime = source.required("media_type", f"the MIME type of the {what}")
    return Media(what, f"data:{mime};base64,{source.required('data', f'the {what} in base64')}", mime)


def _document(fields: Fields, secret: bytes) -> Iterator[Part]:
    source = fields.inner("source")
    form = source.required("type", "text, content, base64 or url")
    heading = "\n".join(filter(None, (fields.text("title"), fields.text("context"))))
    if heading:
        yield Text(heading)
    if form == "text":
        yield Text(source.required("data", "the text of the document"))
    elif form == "content":
        yield from read_blocks(source, "content", secret)
    else:
        media = _media(source, "file")
        media.name = fields.text("title")
        yield media


def _search(fields: Fields, secret: bytes) -> Iterator[Part]:
    yield Text("\n".join(filter(None, (fields.text("title"), fields.text("source")))))
    yield from read_blocks(fields, "content", secret)


def _reference(fields: Fields, _: bytes) -> Iterator[Part]:
    yield Text(f"The tool {fields.required('tool_name', 'the name of a tool')} is available.")


def _container(fields: Fields, _: bytes) -> Iterator[Part]:
    unsupported(fields.param("type"), "is container_upload: files of containers are not offered here")


_BLOCKS: Mapping[str, Callable[[Fields, bytes], Iterator[Part]]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "search_result": _search,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "tool_result": _result,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_reference": _reference,
    "container_upload": _container,
}
