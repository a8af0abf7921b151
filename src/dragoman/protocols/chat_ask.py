"""A request, written for an upstream that speaks Chat Completions.

What Chat has no shape for is told as its servers tell it: free-text tools are functions with one string,
an answer to be continued is `continue_final_message`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Request, Result, Text, Tool
from .chat_request import Settings
from .chat_sampling import write_sampling
from .chat_thinking import write_thinking

__all__ = ["write_request"]


def write_request(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object to send; `read_request` gives the same request again."""
    thinking = write_thinking(request.thinking)
    kwargs = {**thinking.pop("chat_template_kwargs", {}), **request.template_kwargs}
    fields = {
        "model": request.model,
        "messages": [message for item in request.messages for message in _messages(item)],
        "stream": settings.stream,
        "stream_options": {"include_usage": True} if settings.stream and settings.include_usage else None,
        **_tools(request),
        "max_tokens": request.limit,
        "stop": list(request.stop) or None,
        "response_format": _response_format(request),
        **thinking,
        "chat_template_kwargs": kwargs or None,
        **write_sampling(request.sampling),
        "n": request.n if request.n > 1 else None,
        "logprobs": True if request.logprobs is not None else None,
        "top_logprobs": request.logprobs or None,
        "continue_final_message": request.continue_last or None,
        "add_generation_prompt": False if request.continue_last else None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _tools(request: Request) -> dict[str, Any]:
    if not request.tools:
        return {}
    choice: Any = request.choice
    if choice.startswith("name:"):
        choice = {"type": "function", "function": {"name": choice.removeprefix("name:")}}
    return {
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": choice,
        "parallel_tool_calls": None if request.parallel else False,
    }


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "parameters": dict(tool.parameters)}
    if tool.description:
        function["description"] = tool.description
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _response_format(request: Request) -> dict[str, Any] | None:
    if request.schema is None:
        return None
    if not request.schema:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(request.schema), "strict": True}}


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "assistant":
        yield _assistant(message.parts)
        return
    if not message.parts and message.role != "tool":
        yield {"role": message.role, "content": ""}
    for is_result, parts in groupby(message.parts, lambda part: isinstance(part, Result)):
        if is_result:
            yield from (_result(part) for part in parts if isinstance(part, Result))
        else:
            yield {"role": message.role, "content": _content(tuple(parts))}


def _result(result: Result) -> dict[str, Any]:
    name = {"name": result.name} if result.name else {}
    return {"role": "tool", "tool_call_id": result.id, **name, "content": _content(result.parts)}


def _assistant(parts: Sequence[Part]) -> dict[str, Any]:
    texts = tuple(part for part in parts if isinstance(part, Text | Media))
    calls = [_call(part) for part in parts if isinstance(part, Call)]
    reasoning = "\n".join(part.text for part in parts if isinstance(part, Reasoning))
    message: dict[str, Any] = {"role": "assistant", "content": _content(texts) if texts else None if calls else ""}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = calls
    return message


def _call(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _content(parts: Sequence[Part]) -> Any:
    if not parts:
        return ""
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Text) and first.phase != "refusal":
        return first.text
    return [_part(part) for part in parts if isinstance(part, Text | Media)]


def _part(part: Text | Media) -> dict[str, Any]:
    if isinstance(part, Text):
        key = "refusal" if part.phase == "refusal" else "text"
        return {"type": key, key: part.text}
    if part.kind == "file":
        return {"type": "file", "file": {"filename": part.name, "file_data": part.url}}
    if part.kind == "audio" and part.url.startswith("data:"):
        form, _, data = part.url.partition(";base64,")
        return {"type": "input_audio", "input_audio": {"data": data, "format": form.rpartition("/")[2]}}
    return {"type": f"{part.kind}_url", f"{part.kind}_url": {"url": part.url}}
