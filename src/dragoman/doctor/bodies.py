"""Requests, written as the clients of each protocol send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..messages import Call, Message, Request, Result, Text, Tool

__all__ = ["chat", "completions", "messages", "ollama", "responses"]


def chat(request: Request, stream: bool) -> dict[str, Any]:
    """Chat Completions."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [item for message in request.messages for item in _chat(message)],
        "stream": stream,
        "max_tokens": request.limit,
        **request.sampling,
    }
    if request.tools:
        body |= {"tools": [{"type": "function", "function": _function(tool)} for tool in request.tools]}
        body["tool_choice"] = _choice(request.choice, nested=True)
    if not request.parallel:
        body["parallel_tool_calls"] = False
    if request.stop:
        body["stop"] = list(request.stop)
    if request.schema is not None:
        form = {"name": "answer", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.thinking is not None:
        body["reasoning_effort"] = _effort(request.thinking)
    return body


def completions(request: Request, stream: bool) -> dict[str, Any]:
    """The older Completions: the text of the last message as a prompt."""
    body = {"model": request.model, "prompt": _text(request.messages[-1]), "stream": stream}
    more = {"stop": list(request.stop)} if request.stop else {}
    return {**body, "max_tokens": request.limit, **request.sampling, **more}


def responses(request: Request, stream: bool) -> dict[str, Any]:
    """Responses."""
    sampling = {key: value for key, value in request.sampling.items() if key != "seed"}
    body: dict[str, Any] = {
        "model": request.model,
        "input": [item for message in request.messages for item in _items(message)],
        "stream": stream,
        "max_output_tokens": request.limit,
        "store": False,
        **sampling,
    }
    if request.tools:
        body["tools"] = [{"type": "function", **_function(tool)} for tool in request.tools]
        body["tool_choice"] = _choice(request.choice, nested=False)
    if not request.parallel:
        body["parallel_tool_calls"] = False
    if request.schema is not None:
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": request.schema, "strict": True}}
    if request.thinking is not None:
        body["reasoning"] = {"effort": _effort(request.thinking)}
    return body


def messages(request: Request, stream: bool) -> dict[str, Any]:
    """Messages."""
    system = "\n".join(_text(message) for message in request.messages if message.role == "system")
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _merged(request),
        "stream": stream,
        "max_tokens": request.limit or 256,
        **{key: value for key, value in request.sampling.items() if key != "seed"},
    }
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        words = {"auto": "auto", "none": "none", "required": "any"}
        choice = words.get(request.choice)
        body["tool_choice"] = {"type": choice} if choice else {"type": "tool", "name": request.choice[5:]}
        if not request.parallel:
            body["tool_choice"]["disable_parallel_tool_use"] = True
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if request.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    if request.thinking is not None:
        on = {"type": "enabled", "budget_tokens": 1024}
        body["thinking"] = on if request.thinking else {"type": "disabled"}
        body["max_tokens"] += 1024 if request.thinking else 0
    return body


def ollama(request: Request, stream: bool) -> dict[str, Any]:
    """Ollama's chat."""
    options = {**request.sampling, "num_predict": request.limit, "stop": list(request.stop)}
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_plain(message) for message in request.messages],
        "stream": stream,
        "options": {key: value for key, value in options.items() if value not in (None, [])},
    }
    if request.tools and request.choice != "none":
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.tools]
    if request.schema is not None:
        body["format"] = request.schema
    if request.thinking is not None:
        body["think"] = bool(request.thinking)
    return body


# --- messages


def _chat(message: Message) -> Iterator[dict[str, Any]]:
    results = [part for part in message.parts if isinstance(part, Result)]
    for result in results:
        yield {"role": "tool", "tool_call_id": result.id, "content": _words(result.parts)}
    if not results:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in _calls(message)
        ]
        yield {"role": message.role, "content": _text(message), **({"tool_calls": calls} if calls else {})}


def _items(message: Message) -> Iterator[dict[str, Any]]:
    if _text(message):
        yield {"role": message.role, "content": _text(message)}
    for part in message.parts:
        if isinstance(part, Call):
            names = {"call_id": part.id, "name": part.name}
            yield {"type": "function_call", **names, "arguments": part.arguments}
        elif isinstance(part, Result):
            yield {"type": "function_call_output", "call_id": part.id, "output": _words(part.parts)}


def _merged(request: Request) -> list[dict[str, Any]]:
    """Messages of one role in a row are one: results stand together in a message of the user."""
    found: list[dict[str, Any]] = []
    for message in request.messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if not found or found[-1]["role"] != role:
            found.append({"role": role, "content": []})
        found[-1]["content"] += [_block(part) for part in message.parts]
    return found


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, Call):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": json.loads(part.arguments)}
    if isinstance(part, Result):
        return {"type": "tool_result", "tool_use_id": part.id, "content": _words(part.parts)}
    return {"type": "text", "text": part.text}


def _plain(message: Message) -> dict[str, Any]:
    results = [part for part in message.parts if isinstance(part, Result)]
    if results:
        names = {"tool_name": results[0].name, "tool_call_id": results[0].id}
        return {"role": "tool", **names, "content": _words(results[0].parts)}
    calls = [
        {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.arguments)}}
        for call in _calls(message)
    ]
    return {"role": message.role, "content": _text(message), **({"tool_calls": calls} if calls else {})}


def _calls(message: Message) -> list[Call]:
    return [part for part in message.parts if isinstance(part, Call)]


def _text(message: Message) -> str:
    return _words(message.parts)


def _words(parts: Any) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


# --- tools


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _choice(choice: str, *, nested: bool) -> Any:
    if not choice.startswith("name:"):
        return choice
    name = {"name": choice[5:]}
    return {"type": "function", "function": name} if nested else {"type": "function", **name}


def _effort(thinking: bool | str) -> str:
    return thinking if isinstance(thinking, str) else "medium" if thinking else "none"
