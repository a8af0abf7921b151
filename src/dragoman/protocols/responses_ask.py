"""A request, written for an upstream that speaks Responses.

The conversation goes as items, whole each time; nothing is kept there (`store` is off).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..messages import Call, Media, Message, Part, Reasoning, Request, Result, Text, Tool
from . import wire
from .chat_sampling import write_sampling
from .chat_thinking import write_thinking
from .responses_request import Settings

__all__ = ["write_request"]

_PHASES = {"commentary": "commentary", "final": "final_answer"}
_LOGPROBS = "message.output_text.logprobs"


def write_request(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object to send; `read_request` gives the same request again, but for what Responses has no field for."""
    custom = {tool.name for tool in request.tools if tool.kind == "custom"}
    effort: dict[str, Any] = (
        {"reasoning_effort": "none"} if request.thinking is False else write_thinking(request.thinking)
    )
    fields = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message, custom)],
        "stream": settings.stream,
        "store": False,
        **_tools(request),
        "max_output_tokens": request.limit,
        "text": _format(request),
        "reasoning": {"effort": effort["reasoning_effort"]} if "reasoning_effort" in effort else None,
        "chat_template_kwargs": {**effort.get("chat_template_kwargs", {}), **request.template_kwargs} or None,
        **write_sampling(request.sampling),
        "include": [_LOGPROBS] if request.logprobs is not None else None,
        "top_logprobs": request.logprobs or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _tools(request: Request) -> dict[str, Any]:
    if not request.tools:
        return {}
    choice: Any = request.choice
    if choice.startswith("name:"):
        choice = {"type": "function", "name": choice.removeprefix("name:")}
        if any(tool.name == choice["name"] and tool.kind == "custom" for tool in request.tools):
            choice["type"] = "custom"
    return {
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": choice,
        "parallel_tool_calls": None if request.parallel else False,
    }


def _tool(tool: Tool) -> dict[str, Any]:
    told = {"name": tool.name, **({"description": tool.description} if tool.description else {})}
    if tool.kind == "custom":
        return {"type": "custom", **told}
    return {"type": "function", **told, "parameters": dict(tool.parameters), "strict": tool.strict}


def _format(request: Request) -> dict[str, Any] | None:
    if request.schema is None:
        return None
    if not request.schema:
        return {"format": {"type": "json_object"}}
    form = {"type": "json_schema", "name": "answer", "schema": dict(request.schema), "strict": True}
    return {"format": form}


def _items(message: Message, custom: set[str]) -> Iterator[dict[str, Any]]:
    """The items of a message; texts in a row are one."""
    texts: list[Text | Media] = []
    for part in message.parts:
        if isinstance(part, Text | Media) and (message.role != "assistant" or not texts or _alike(texts[-1], part)):
            texts.append(part)
            continue
        if texts:
            yield _message(message.role, texts)
            texts = []
        if isinstance(part, Text | Media):
            texts.append(part)
        else:
            yield _other(part, custom)
    if texts or not message.parts:
        yield _message(message.role, texts)


def _alike(one: Text | Media, other: Text | Media) -> bool:
    """Whether two texts can stand in one item: it has one phase."""
    return getattr(one, "phase", "") == getattr(other, "phase", "")


def _message(role: str, texts: list[Text | Media]) -> dict[str, Any]:
    phase = _PHASES.get(getattr(texts[0], "phase", ""), "") if texts else ""
    said = role == "assistant"
    content = [_part(part, "output_text" if said else "input_text") for part in texts]
    return {"type": "message", "role": role, **({"phase": phase} if phase else {}), "content": content}


def _part(part: Text | Media, form: str) -> dict[str, Any]:
    if isinstance(part, Text):
        refusal = part.phase == "refusal"
        return {"type": "refusal", "refusal": part.text} if refusal else {"type": form, "text": part.text}
    if part.kind == "image":
        return {"type": "input_image", "image_url": part.url}
    if part.kind == "audio" and part.url.startswith("data:"):
        form, _, data = part.url.partition(";base64,")
        return {"type": "input_audio", "input_audio": {"data": data, "format": form.rpartition("/")[2]}}
    key = "file_data" if part.url.startswith("data:") else "file_url"
    return {"type": "input_file", key: part.url, **({"filename": part.name} if part.name else {})}


def _other(part: Part, custom: set[str]) -> dict[str, Any]:
    if isinstance(part, Reasoning):
        return {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": part.text}]}
    if isinstance(part, Result):
        texts = [item for item in part.parts if isinstance(item, Text | Media)]
        plain = len(texts) == 1 and isinstance(texts[0], Text)
        output: Any = (
            texts[0].text if plain and isinstance(texts[0], Text) else [_part(text, "input_text") for text in texts]
        )
        kind = "custom_tool_call_output" if part.name in custom else "function_call_output"
        return {"type": kind, "call_id": part.id, "output": output}
    assert isinstance(part, Call)
    return _call(part, custom)


def _call(call: Call, custom: set[str]) -> dict[str, Any]:
    names = {"call_id": call.id, "name": call.name}
    if call.name in custom:
        return {"type": "custom_tool_call", **names, "input": _input(call.arguments)}
    return {"type": "function_call", **names, "arguments": call.arguments}


def _input(arguments: str) -> str:
    """The free text in arguments; what has another form is sent as it is."""
    try:
        value = wire.load(arguments)
    except ValueError:
        return arguments
    text = value.get("input") if isinstance(value, dict) else None
    return text if isinstance(text, str) else arguments
