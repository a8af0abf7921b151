"""A request, written for an upstream that speaks Messages.

What the system says goes on top, the results of tools into a message of the user.
This protocol wants a limit with every request; where there is none, it gets a high one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Request, Result, Text, Tool
from .chat_sampling import write_sampling
from .messages_api_request import Settings
from .messages_api_shape import input_of

__all__ = ["write_request"]

_HIGH = 32_000  # tokens
_BUDGETS = {"minimal": 1024, "low": 1024, "medium": 4096, "high": 16_384}
_OTHER_NAMES = ("logit_bias", "grammar")


def write_request(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object to send; `read_request` gives the same request again, but for what Messages has no field for."""
    first, rest = _system(request.messages)
    fields = {
        "model": request.model,
        "max_tokens": _HIGH if request.limit is None else request.limit,
        "system": [{"type": "text", "text": text} for text in first] or None,
        "messages": [*_messages(rest)],
        "stream": settings.stream,
        **_tools(request),
        "stop_sequences": list(request.stop) or None,
        "output_config": _schema(request),
        "thinking": _thinking(request.thinking),
        "chat_template_kwargs": dict(request.template_kwargs) or None,
        **{key: value for key, value in write_sampling(request.sampling).items() if key not in _OTHER_NAMES},
    }
    return {key: value for key, value in fields.items() if value is not None}


def _system(messages: Sequence[Message]) -> tuple[list[str], Sequence[Message]]:
    """What the system says before anything else, and the rest."""
    count = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    texts = [part.text for message in messages[:count] for part in message.parts if isinstance(part, Text)]
    return texts, messages[count:]


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Roles take turns: what one role says in a row is one message."""
    for role, group in groupby(messages, lambda message: "user" if message.role == "tool" else message.role):
        blocks = [block for message in group for part in message.parts for block in _block(part)]
        yield {"role": role, "content": blocks}


def _block(part: Part) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text):
        if part.text:
            yield {"type": "text", "text": part.text}
    elif isinstance(part, Media):
        yield _media(part)
    elif isinstance(part, Reasoning):
        yield {"type": "thinking", "thinking": part.text, "signature": part.signature}
    elif isinstance(part, Call):
        yield {"type": "tool_use", "id": part.id, "name": part.name, "input": input_of(part.arguments)}
    else:
        yield _result(part)


def _result(result: Result) -> dict[str, Any]:
    content = [block for part in result.parts for block in _block(part)]
    error = {"is_error": True} if result.error else {}
    return {"type": "tool_result", "tool_use_id": result.id, "content": content, **error}


def _media(media: Media) -> dict[str, Any]:
    kind = "image" if media.kind == "image" else "document"
    source: Mapping[str, str] = {"type": "url", "url": media.url}
    if media.url.startswith("data:"):
        mime, _, data = media.url.removeprefix("data:").partition(";base64,")
        source = {"type": "base64", "media_type": mime, "data": data}
    title = {"title": media.name} if media.name else {}
    return {"type": kind, "source": source, **title}


def _tools(request: Request) -> dict[str, Any]:
    if not request.tools:
        return {}
    word = {"required": "any"}.get(request.choice, request.choice)
    choice: dict[str, Any] = {"type": word}
    if word.startswith("name:"):
        choice = {"type": "tool", "name": word.removeprefix("name:")}
    if not request.parallel and word != "none":
        choice["disable_parallel_tool_use"] = True
    return {"tools": [_tool(tool) for tool in request.tools], "tool_choice": choice}


def _tool(tool: Tool) -> dict[str, Any]:
    told: dict[str, Any] = {"description": tool.description} if tool.description else {}
    strict = {"strict": True} if tool.strict else {}
    return {"name": tool.name, **told, "input_schema": dict(tool.parameters) or {"type": "object"}, **strict}


def _schema(request: Request) -> dict[str, Any] | None:
    if request.schema is None:
        return None
    return {"format": {"type": "json_schema", "schema": dict(request.schema) or {"type": "object"}}}


def _thinking(thinking: bool | str | None) -> dict[str, Any] | None:
    if thinking is None:
        return None
    if thinking is False:
        return {"type": "disabled"}
    return {"type": "enabled", "budget_tokens": _BUDGETS[thinking if isinstance(thinking, str) else "medium"]}
