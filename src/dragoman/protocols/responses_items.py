"""The input of a Responses request: items, as a conversation.

What the assistant said in a row (reasoning, messages, calls) is one message; each result of a tool is a message.
A call that a host made at an MCP server is a call and its result in one item, and a call like any other here; so is one
that waited for somebody's approval.
Items of a kind that is not known here are left out: agents send back whatever they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Result, Text
from . import wire
from .chat_messages import is_object
from .fields import Fields, invalid, kind, missing, unsupported
from .responses_tools import Offer
from .seal import unseal

__all__ = ["item_list", "read_items"]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_INPUTS = 0x8000  # where the numbers of input items begin; those of the output begin at 0
_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "mcp_approval_response": "mcpa",
}
_PHASES = {"commentary": "commentary", "final_answer": "final"}


def read_items(fields: Fields, offer: Offer) -> tuple[tuple[Message, ...], list[str]]:
    """All messages, the instructions first; and the paths of the items that were left out.

    Raises:
        RequestError: one of them cannot be read.
    """
    reading = _Reading(offer)
    for key in ("instructions", "input"):
        value = fields.get(key)
        if isinstance(value, str):
            reading.add("system" if key == "instructions" else "user", Text(value))
        elif value is not None:
            for item in fields.each(key):
                reading.item(item, "system" if key == "instructions" else "")
    if "input" not in fields:
        missing(fields.param("input"), "a string or a list of items")
    for param in reading.approved.values():
        unsupported(param, "approves a call, which cannot be made here; send what came of it as an mcp_call")
    if not reading.messages:
        invalid(fields.param("input"), "must hold at least one item")
    return tuple(reading.messages), reading.ignored


def item_list(value: Any, answer_id: str = "") -> list[Any]:
    """An input as a list of items: a string is the user's message.

    With the id of its answer, every item gets an id (one of its own stays), and messages their whole form.
    """
    if isinstance(value, str):
        value = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": value}]}]
    items = list(value) if isinstance(value, list | tuple) else []
    if not answer_id:
        return items
    stem = answer_id.rpartition("_")[2]
    return [_named(item, f"{stem}{_INPUTS + index:04x}") for index, item in enumerate(items)]


def _named(item: Mapping[str, Any], place: str) -> dict[str, Any]:
    kind = item.get("type") or "message"
    shape: dict[str, Any] = {"id": item.get("id") or f"{_PREFIXES.get(kind, 'item')}_{place}", "type": kind}
    content = item.get("content")
    if kind == "message" and isinstance(content, str):
        said = item.get("role") == "assistant"
        part = {"type": "output_text", "annotations": []} if said else {"type": "input_text"}
        shape["content"] = [{**part, "text": content}]
    return {"status": "completed", **item, **shape}


class _Reading:
    """The conversation so far."""

    def __init__(self, offer: Offer) -> None:
        self.offer = offer
        self.messages: list[Message] = []
        self.ignored: list[str] = []
        self.approved: dict[str, str] = {}  # calls that wait for what came of them -> where they were approved
        self._names: dict[str, str] = {}

    def add(self, role: str, *parts: Part) -> None:
        last = self.messages[-1] if self.messages else None
        if role == "assistant" and last is not None and last.role == role:
            last.parts += parts
        else:
            self.messages.append(Message(role, parts))

    def item(self, fields: Fields, role: str) -> None:
        name = fields.text("type", "message" if "role" in fields else "")
        if not name:
            missing(fields.param("type"), "the kind of the item")
        if name in _ITEMS:
            _ITEMS[name](self, fields)
        elif name == "message":
            self.message(fields, role)
        else:
            self.ignored.append(fields.where)

    def message(self, fields: Fields, role: str) -> None:
        role = fields.text("role", role)
        if role not in _ROLES:
            invalid(fields.param("role"), f"must be one of {', '.join(_ROLES)}; it is {role!r:.60}")
        if "content" not in fields and role != "assistant":
            missing(fields.param("content"), "a string or a list of parts")
        phase = _PHASES.get(fields.text("phase"), "")
        parts = tuple(_content(fields, "content", phase if role == "assistant" else ""))
        self.add(_ROLES[role], *parts)

    def reasoning(self, fields: Fields) -> None:
        text = "".join(item.text("text") for item in fields.each("content"))
        text = text or unseal(fields.text("encrypted_content"))
        text = text or "\n\n".join(item.text("text") for item in fields.each("summary"))
        if text:
            self.add("assistant", Reasoning(text))

    def function(self, fields: Fields) -> None:
        value = fields.get("arguments")
        if isinstance(value, Mapping):
            value = wire.dump(value).decode()
        elif not isinstance(value, str | None):
            invalid(fields.param("arguments"), f"must be a string of JSON; it is {kind(value)}", "invalid_type")
        space = fields.text("namespace") or fields.text("server_label")
        name = self.offer.name(space, fields.required("name", "the name of the function"))
        self._call(fields, name, value or "{}")

    def custom(self, fields: Fields) -> None:
        name = self.offer.name(fields.text("namespace"), fields.required("name", "the name of the tool"))
        self._call(fields, name, wire.dump({"input": fields.text("input")}).decode())

    def shell(self, fields: Fields) -> None:
        self._call(fields, "local_shell", wire.dump(fields.mapping("action")).decode())

    def output(self, fields: Fields) -> None:
        # The shell's results name their call by `id`.
        call_id = fields.text("call_id") or fields.text("id") or missing(fields.param("call_id"), "the id of the call")
        if "output" not in fields:
            missing(fields.param("output"), "what the tool gave back: a string or a list of parts")
        self._result(call_id, *_content(fields, "output"))

    def hosted(self, fields: Fields) -> None:
        """A call at an MCP server, with what came of it; one that was approved stands before it already."""
        call_id = fields.text("approval_request_id")
        if call_id not in self._names:
            call_id = fields.text("id")
            self.asked(fields)
        self.approved.pop(call_id, None)
        error = fields.get("error")
        if error is not None:
            self._result(call_id, Text(_problem(error)), error=True)
        elif "output" in fields:
            self._result(call_id, *_content(fields, "output"))

    def asked(self, fields: Fields) -> None:
        """A call at an MCP server, which waits for approval."""
        self.function(fields)

    def approval(self, fields: Fields) -> None:
        call_id = fields.required("approval_request_id", "the id of the request")
        if fields.flag("approve"):
            self.approved[call_id] = fields.param("approve")
            return
        reason = fields.text("reason")
        self._result(call_id, Text("The user did not allow this call" + (f": {reason}" if reason else ".")), error=True)

    def _result(self, call_id: str, *parts: Part, error: bool = False) -> None:
        self.add("tool", Result(call_id, parts, self._names.get(call_id, ""), error))

    def _call(self, fields: Fields, name: str, arguments: str) -> None:
        call_id = fields.text("call_id") or fields.text("id") or missing(fields.param("call_id"), "the id of the call")
        self._names[call_id] = name
        self.add("assistant", Call(name, arguments, call_id, valid=is_object(arguments)))


_ITEMS: Mapping[str, Callable[[_Reading, Fields], None]] = {
    "reasoning": _Reading.reasoning,
    "function_call": _Reading.function,
    "function_call_output": _Reading.output,
    "custom_tool_call": _Reading.custom,
    "custom_tool_call_output": _Reading.output,
    "local_shell_call": _Reading.shell,
    "local_shell_call_output": _Reading.output,
    "mcp_call": _Reading.hosted,
    "mcp_approval_request": _Reading.asked,
    "mcp_approval_response": _Reading.approval,
}


def _problem(error: Any) -> str:
    """Why a call failed, in words: a text, or an object with a message or with parts."""
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("content") or dict(error)
    if isinstance(error, list) and all(isinstance(part, Mapping) and "text" in part for part in error):
        error = "\n".join(str(part["text"]) for part in error)
    return error if isinstance(error, str) else wire.dump(error).decode()


def _content(fields: Fields, key: str, phase: str = "") -> Iterator[Part]:
    content = fields.get(key)
    if isinstance(content, str):
        if content:
            yield Text(content, phase)
    elif isinstance(content, list | tuple):
        for index, item in enumerate(content):
            yield _part(item, f"{fields.param(key)}[{index}]", phase)
    elif content is not None:
        invalid(fields.param(key), f"must be a string or a list of parts; it is {kind(content)}", "invalid_type")


def _part(item: Any, where: str, phase: str) -> Part:
    if isinstance(item, str):
        return Text(item, phase)
    if not isinstance(item, Mapping):
        invalid(where, f"must be an object with a type; it is {kind(item)}", "invalid_type")
    fields = Fields(item, where)
    name = fields.required("type", f"one of {', '.join(_PARTS)}")
    if name not in _PARTS:
        invalid(fields.param("type"), f"must be one of {', '.join(_PARTS)}; it is {name!r:.60}")
    return _PARTS[name](fields, phase)


def _text(fields: Fields, phase: str) -> Part:
    if "text" not in fields:
        missing(fields.param("text"), "the text of the part")
    return Text(fields.text("text"), phase)


def _refusal(fields: Fields, _: str) -> Part:
    return Text(fields.text("refusal"), "refusal")


def _image(fields: Fields, _: str) -> Part:
    _refuse_id(fields, "image_url")
    holder = fields if isinstance(fields.get("image_url"), str) else fields.inner("image_url")
    url = holder.required("image_url" if holder is fields else "url", "a URL, also data:")
    return Media("image", url, _mime(url))


def _file(fields: Fields, _: str) -> Part:
    _refuse_id(fields, "file_data")
    data = fields.text("file_url") or fields.required("file_data", "the file in base64, or a data: URL")
    url = data if ":" in data[:8] else f"data:application/octet-stream;base64,{data}"
    return Media("file", url, _mime(url), fields.text("filename"))


def _audio(fields: Fields, _: str) -> Part:
    audio = fields.inner("input_audio")
    mime = f"audio/{audio.text('format', 'wav')}"
    return Media("audio", f"data:{mime};base64,{audio.required('data', 'the sound in base64')}", mime)


def _refuse_id(fields: Fields, instead: str) -> None:
    if "file_id" in fields:
        unsupported(fields.param("file_id"), f"is not offered here; send the file itself as {instead}")


def _mime(url: str) -> str:
    return url[5:].partition(",")[0].partition(";")[0] if url.startswith("data:") else ""


_PARTS: Mapping[str, Callable[[Fields, str], Part]] = {
    "input_text": _text,
    "output_text": _text,
    "text": _text,
    "summary_text": _text,
    "reasoning_text": _text,
    "refusal": _refusal,
    "input_image": _image,
    "input_file": _file,
    "input_audio": _audio,
}
