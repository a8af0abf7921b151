"""A request, written for an upstream that speaks Ollama's /api/chat.

It cannot be told to call a tool; its calls have an object as arguments, and a schema is its `format`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Request, Result, Text, Tool
from .messages_api_shape import input_of
from .ollama_request import Settings

__all__ = ["write_options", "write_request"]

_OTHER_NAMES = ("logit_bias", "grammar", "ignore_eos")  # that are no options there


def write_request(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object to send; `read_request` gives the same request again, but for what Ollama has no field for."""
    offered = () if request.choice == "none" else request.tools
    fields = {
        "model": request.model,
        "messages": [message for item in request.messages for message in _messages(item)],
        "stream": settings.stream,
        "tools": [_tool(tool) for tool in offered] or None,
        "format": None if request.schema is None else dict(request.schema) or "json",
        "think": "low" if request.thinking == "minimal" else request.thinking,
        "options": write_options(request) or None,
        "logprobs": True if request.logprobs is not None else None,
        "top_logprobs": request.logprobs or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def write_options(request: Request) -> dict[str, Any]:
    """How tokens are drawn, and how many."""
    options = {key: value for key, value in request.sampling.items() if key not in _OTHER_NAMES}
    limit = {} if request.limit is None else {"num_predict": request.limit}
    return {**options, **limit, **({"stop": list(request.stop)} if request.stop else {})}


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, Result)]
    for result in results:
        name = {"tool_name": result.name} if result.name else {}
        yield {"role": "tool", "tool_call_id": result.id, **name, **_content(result.parts)}
    rest = [part for part in message.parts if not isinstance(part, Result)]
    if rest or not results:
        yield {"role": message.role, **_content(rest), **_said(rest)}


def _content(parts: Sequence[Part]) -> dict[str, Any]:
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    images = [part.url.partition(";base64,")[2] or part.url for part in parts if isinstance(part, Media)]
    return {"content": text, **({"images": images} if images else {})}


def _said(parts: Sequence[Part]) -> dict[str, Any]:
    """What only an assistant says."""
    thinking = "\n".join(part.text for part in parts if isinstance(part, Reasoning))
    calls = [_call(part) for part in parts if isinstance(part, Call)]
    return {**({"thinking": thinking} if thinking else {}), **({"tool_calls": calls} if calls else {})}


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": input_of(call.arguments)}}
