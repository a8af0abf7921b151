"""A Chat Completions stream in readable lines, each chunk held against the official client's types on the way."""

from __future__ import annotations

import json
from typing import Any

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from dragoman.protocols import sse


def chunks(body: bytes) -> list[dict[str, Any]]:
    """The JSON of all data lines but the last mark."""
    reader = sse.Reader()
    messages = [*reader.feed(body), *reader.close()]
    return [json.loads(message.data) for message in messages if message.data != "[DONE]"]


def lines(body: bytes) -> list[str]:
    """One line for each frame:

    role | content 'text' | reasoning 'text' | call 0 id name | args 0 'text' | finish stop | usage 3+4 | error text | done
    with `1>` before it for a choice other than 0.
    """
    reader = sse.Reader()
    messages = [*reader.feed(body), *reader.close()]
    return [_line(message.data) for message in messages]


def completion(body: bytes) -> ChatCompletion:
    """What the official client's own helper makes of a stream."""
    state = ChatCompletionStreamState()
    for chunk in chunks(body):
        list(state.handle_chunk(ChatCompletionChunk.model_validate(chunk, strict=True)))
    return state.current_completion_snapshot


def _line(data: str) -> str:
    if data == "[DONE]":
        return "done"
    chunk = json.loads(data)
    if "error" in chunk:
        return f"error {chunk['error']['message']}"
    ChatCompletionChunk.model_validate(chunk, strict=True)
    if not chunk["choices"]:
        usage = chunk["usage"]
        return f"usage {usage['prompt_tokens']}+{usage['completion_tokens']}"
    (choice,) = chunk["choices"]
    prefix = f"{choice['index']}> " if choice["index"] else ""
    return prefix + _choice(choice)


def _choice(choice: dict[str, Any]) -> str:
    delta = choice["delta"]
    if choice["finish_reason"]:
        return f"finish {choice['finish_reason']}" + (f" {delta}" if delta else "")
    if "role" in delta:
        return "role" if delta == {"role": "assistant", "content": ""} else f"role {delta}"
    words = []
    for key, value in delta.items():
        name = {"reasoning_content": "reasoning"}.get(key, key)
        words.append(_call(value) if key == "tool_calls" else f"{name} {value!r}")
    return ", ".join(words)


def _call(items: list[dict[str, Any]]) -> str:
    (item,) = items
    function = item["function"]
    if "id" not in item:
        return f"args {item['index']} {function['arguments']!r}"
    assert item["type"] == "function"
    arguments = f" {function['arguments']}" if function["arguments"] else ""
    return f"call {item['index']} {item['id']} {function['name']}{arguments}"
