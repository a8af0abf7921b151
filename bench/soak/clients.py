"""What the client of each protocol asks, and how it sees that an answer is whole, or that it failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["CLIENTS", "TOOL", "Client"]

_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather", "parameters": _PARAMETERS}


@dataclass(frozen=True)
class Client:
    """One protocol.

    `ask`: the body of a request with this prompt and, if it is true, a tool.  `told`: what a chunk of a stream says.
    `text`: what a whole answer says.  `over`: what stands at the end of a good stream only.
    """

    path: str
    ask: Callable[[str, bool], dict[str, Any]]
    told: Callable[[Any], str]
    text: Callable[[Any], str]
    over: bytes
    raw_only: bool = False

    def good(self, body: bytes) -> bool:
        """A stream says that it is whole."""
        return self.over in body and b'"error":{' not in body[-2000:] and b'{"error":' not in body[-2000:]

    def failed(self, body: bytes) -> bool:
        """A stream says that it failed."""
        return not self.good(body) and b"error" in body[-4000:]

    def said(self, body: bytes) -> str:
        """All that a stream says."""
        return "".join(map(self.told, _chunks(body)))


def _chunks(body: bytes) -> Iterator[Any]:
    for line in body.splitlines():
        data = line.removeprefix(b"data: ")
        if data.startswith(b"{"):
            yield json.loads(data)


def _messages(prompt: str) -> list[Any]:
    return [{"role": "user", "content": prompt}]


def _chat(prompt: str, tool: bool) -> dict[str, Any]:
    return {"messages": _messages(prompt), **({"tools": [{"type": "function", "function": TOOL}]} if tool else {})}


def _responses(prompt: str, tool: bool) -> dict[str, Any]:
    return {"input": prompt, **({"tools": [{"type": "function", **TOOL}]} if tool else {})}


def _anthropic(prompt: str, tool: bool) -> dict[str, Any]:
    mine = {"name": TOOL["name"], "input_schema": TOOL["parameters"]}
    return {"max_tokens": 1000, "messages": _messages(prompt), **({"tools": [mine]} if tool else {})}


def _chat_told(chunk: Any) -> str:
    deltas = [choice["delta"] for choice in chunk.get("choices", ())]
    calls = [call["function"].get("arguments") or "" for delta in deltas for call in delta.get("tool_calls") or ()]
    return "".join([*(delta.get("content") or "" for delta in deltas), *calls])


def _chat_text(answer: Any) -> str:
    message = answer["choices"][0]["message"]
    calls = [call["function"]["arguments"] for call in message.get("tool_calls") or ()]
    return "".join([message.get("content") or "", *calls])


def _responses_text(answer: Any) -> str:
    parts = [part["text"] for item in answer["output"] for part in item.get("content") or () if "text" in part]
    return "".join([*parts, *(item.get("arguments", "") for item in answer["output"])])


def _anthropic_told(chunk: Any) -> str:
    delta = chunk.get("delta", {})
    return str(delta.get("text", "") or delta.get("partial_json", ""))


def _anthropic_text(answer: Any) -> str:
    return "".join(
        block.get("text", "") or json.dumps(block.get("input", ""), ensure_ascii=False) for block in answer["content"]
    )


def _ollama_text(answer: Any) -> str:
    message = answer.get("message", {})
    calls = [json.dumps(call["function"]["arguments"], ensure_ascii=False) for call in message.get("tool_calls") or ()]
    return "".join([message.get("content", ""), answer.get("response", ""), *calls])


CLIENTS = {
    "chat": Client("/v1/chat/completions", _chat, _chat_told, _chat_text, b"data: [DONE]"),
    "completions": Client(
        "/v1/completions",
        lambda prompt, _: {"prompt": prompt},
        lambda chunk: "".join(choice["text"] for choice in chunk.get("choices", ())),
        lambda answer: str(answer["choices"][0]["text"]),
        b"data: [DONE]",
        raw_only=True,
    ),
    "responses": Client(
        "/v1/responses",
        _responses,
        lambda chunk: str(chunk["delta"]) if str(chunk.get("type")).endswith(".delta") else "",
        _responses_text,
        b"response.completed",
    ),
    "messages": Client("/v1/messages", _anthropic, _anthropic_told, _anthropic_text, b"message_stop"),
    "ollama": Client("/api/chat", _chat, _ollama_text, _ollama_text, b'"done":true'),
}
