"""Messages in the shape that chat templates expect, fitted to what the template at hand can do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ..messages import Call, Message, Result, Tool
from .ability import Abilities, content
from .history import arguments, joined, reasoning

__all__ = ["declared", "entries"]

_SEPARATOR = "\n\n"
_REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")

Entry = dict[str, Any]


def entries(messages: Iterable[Message], able: Abilities, template: str) -> list[Entry]:
    """The messages as this template takes them."""
    keys = [key for key in _REASONING_KEYS if key in template] or [_REASONING_KEYS[0]]
    shaped = _systems([_entry(message, able, keys) for message in messages], able)
    return [_typed(entry, able) for entry in (shaped if able.repeats else _merged(shaped))]


def declared(tool: Tool) -> dict[str, Any]:
    """A tool as templates know it."""
    text = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    parameters = text if tool.kind == "custom" else dict(tool.parameters) or {"type": "object", "properties": {}}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _entry(message: Message, able: Abilities, keys: Sequence[str]) -> Entry:
    entry: Entry = {"role": message.role, "content": joined(message.parts)}
    for part in message.parts:
        if isinstance(part, Result):
            named = {"name": part.name, "tool_call_id": _id(part.id, able)}
            return {"role": "tool", "content": joined(part.parts), **named}
    if thought := reasoning(message.parts):
        entry |= dict.fromkeys(keys, thought)
    if calls := [_call(part, able) for part in message.parts if isinstance(part, Call)]:
        entry["tool_calls"] = calls
    return entry


def _call(call: Call, able: Abilities) -> Entry:
    given = arguments(call)
    shown = json.dumps(given, ensure_ascii=False) if able.arguments == "text" else given
    return {"id": _id(call.id, able), "type": "function", "function": {"name": call.name, "arguments": shown}}


def _id(text: str, able: Abilities) -> str:
    if able.short_ids and not (len(text) == 9 and text.isascii() and text.isalnum()):
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:9]
    return text


def _systems(shaped: Sequence[Entry], able: Abilities) -> list[Entry]:
    """One system message at the beginning, later ones where the template shows them, else all in one; or none at all."""
    head = next((place for place, entry in enumerate(shaped) if entry["role"] != "system"), len(shaped))
    first, rest = list(shaped[:head]), list(shaped[head:])
    if not able.late_system:
        first += [entry for entry in rest if entry["role"] == "system"]
        rest = [entry for entry in rest if entry["role"] != "system"]
    text = _SEPARATOR.join(entry["content"] for entry in first if entry["content"])
    if not text:
        return rest
    return [{"role": "system", "content": text}, *rest] if able.system else _prepended(text, rest)


def _prepended(text: str, shaped: list[Entry]) -> list[Entry]:
    """The system's text in the first message of the user, for templates without a system message."""
    for place, entry in enumerate(shaped):
        if entry["role"] == "user":
            told = {**entry, "content": text + _SEPARATOR + entry["content"]}
            return [*shaped[:place], told, *shaped[place + 1 :]]
    return [{"role": "user", "content": text}, *shaped]


def _merged(shaped: Sequence[Entry]) -> list[Entry]:
    """Messages of one role in a row as one, for templates that insist on taking turns."""
    merged: list[Entry] = []
    for entry in shaped:
        last = merged[-1] if merged else {}
        if last.get("role") == entry["role"] and entry["role"] in ("user", "assistant") and "tool_calls" not in last:
            both = (last["content"], entry["content"])
            merged[-1] = {**last, **entry, "content": _SEPARATOR.join(text for text in both if text)}
        else:
            merged.append(entry)
    return merged


def _typed(entry: Entry, able: Abilities) -> Entry:
    return {**entry, "content": content(entry["content"], typed=able.typed)}
