"""A Messages request, read: every field is mapped, ignored, or refused by name.

Unknown fields are ignored, because clients send many: caches, containers, tiers, who the user is.
A known field is refused where ignoring it would change what the answer means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Message, Reasoning, Request, Text
from .chat_sampling import read_sampling
from .fields import Fields, fields_of, invalid, kind, unsupported
from .left_out import left_out
from .messages_api_messages import read_messages
from .messages_api_thinking import read_thinking
from .messages_api_tools import read_tools

__all__ = ["Settings", "read_request"]


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `stream`: as events.  `thinking`: full, omitted (blocks are empty but for their signature), or none (left out).
    `tool_arguments`: live, or buffered.  A call is always held until it is whole and valid,
    but for the tools in `eager`, whose clients asked for pieces as they are written; buffered holds these too.
    `key`: what signatures are made with.  `stats`: with timings and the like, where the engine tells them.
    `ignored`: fields whose value was not understood, and tools that were left out.
    """

    stream: bool = False
    thinking: str = "full"
    tool_arguments: str = "live"
    eager: frozenset[str] = frozenset()
    key: bytes = b""
    stats: bool = False
    ignored: tuple[str, ...] = ()


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; `defaults` are the server's own settings.

    Raises:
        RequestError: a field is missing, wrong or not offered; `param` is its path.
    """
    fields, defaults = fields_of(data), defaults or Settings()
    if fields.items("mcp_servers"):
        unsupported("mcp_servers", "are not offered here; call their tools yourself and send the results")
    offer = read_tools(fields)
    thinking, shown, ignored = read_thinking(fields)
    messages = read_messages(fields, defaults.key)
    request = Request(
        model=fields.text("model"),
        messages=messages,
        tools=offer.tools,
        choice=offer.choice,
        parallel=offer.parallel,
        limit=fields.integer("max_tokens", None, 1),
        stop=_stop(fields),
        schema=_schema(fields),
        thinking=thinking,
        sampling=read_sampling(fields),
        template_kwargs=fields.mapping("chat_template_kwargs"),
        continue_last=_continues(messages),
    )
    settings = replace(
        defaults,
        stream=fields.flag("stream", default=defaults.stream),
        thinking=shown,
        eager=offer.eager if defaults.tool_arguments == "live" else frozenset(),
        stats=fields.flag("stats", default=defaults.stats),
        ignored=(*ignored, *offer.left_out, *left_out(fields)),
    )
    return request, settings


def _continues(messages: tuple[Message, ...]) -> bool:
    """The last message is the beginning of the answer."""
    last = messages[-1] if messages else Message("user")
    if last.role != "assistant":
        return False
    if not isinstance(last.parts[-1], Text | Reasoning):
        invalid("messages", "must not end with a tool_use block; send its tool_result")
    return True


def _stop(fields: Fields) -> tuple[str, ...]:
    stops = fields.items("stop_sequences")
    for index, text in enumerate(stops):
        if not isinstance(text, str):
            invalid(f"stop_sequences[{index}]", f"must be a string; it is {kind(text)}", "invalid_type")
    return tuple(text for text in stops if text)


def _schema(fields: Fields) -> Mapping[str, Any] | None:
    output = fields.inner("output_config")
    holder, key = (output, "format") if "format" in output else (fields, "output_format")
    if key not in holder:
        return None
    form = holder.inner(key)
    if form.text("type") != "json_schema":
        unsupported(form.param("type"), f"must be json_schema; it is {form.text('type')!r:.60}")
    return form.mapping("schema")
