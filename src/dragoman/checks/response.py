"""The rules of a response object, whole or within a stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .chat import leaks
from .rules import Finding
from .seen import mapping, mappings, text

__all__ = ["check_response", "check_usage"]

_KEYS = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
]
_STATES = ("queued", "in_progress", "completed", "incomplete", "failed", "cancelled")
_PHASES = (None, "commentary", "final_answer")


def check_response(
    response: Mapping[str, Any],
    *,
    request: Mapping[str, Any] | None = None,
    marks: Sequence[str] = (),
    frame: int | None = None,
) -> list[Finding]:
    """Every rule that a response breaks; the arguments are those of `check_chat_stream`."""
    return [
        *(Finding("R14", f"no {key}", frame) for key in _KEYS if key not in response),
        *_values(response, frame),
        *(finding for tool in mappings(response.get("tools")) for finding in _tool(tool, frame)),
        *(finding for item in mappings(response.get("output")) for finding in _item(item, request or {}, marks, frame)),
        *(check_usage(response.get("usage"), frame) if response.get("status") == "completed" else ()),
    ]


def check_usage(usage: Any, frame: int | None = None) -> Iterator[Finding]:
    """The numbers of a usage object."""
    usage = mapping(usage)
    numbers = [usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")]
    if not all(isinstance(number, int) for number in numbers):
        yield Finding("R15", "usage needs the integers input_tokens, output_tokens and total_tokens", frame)
        return
    if numbers[0] + numbers[1] != numbers[2]:
        yield Finding("R15", f"{numbers[0]} + {numbers[1]} is not {numbers[2]}", frame)
    for details, part, whole in (
        ("input_tokens_details", "cached_tokens", numbers[0]),
        ("output_tokens_details", "reasoning_tokens", numbers[1]),
    ):
        number = mapping(usage.get(details)).get(part)
        if not isinstance(number, int) or number > whole:
            yield Finding("R15", f"{details}.{part} is {number!r}, of {whole}", frame)


def _values(response: Mapping[str, Any], frame: int | None) -> Iterator[Finding]:
    if response.get("object") != "response":
        yield Finding("R14", f"the object is {response.get('object')!r}", frame)
    if response.get("status") not in _STATES:
        yield Finding("R14", f"the status is {response.get('status')!r}", frame)
    if not isinstance(response.get("output"), list):
        yield Finding("R14", f"the output is {response.get('output')!r}", frame)


def _tool(tool: Mapping[str, Any], frame: int | None) -> Iterator[Finding]:
    if tool.get("type") == "function":
        absent = [key for key in ("name", "strict", "description", "parameters") if key not in tool]
        if absent:
            yield Finding("R14", f"a tool without {', '.join(absent)}", frame)


def _item(
    item: Mapping[str, Any], request: Mapping[str, Any], marks: Sequence[str], frame: int | None
) -> Iterator[Finding]:
    kind = item.get("type")
    if kind == "message":
        yield from _message(item, marks, frame)
    elif kind == "reasoning":
        yield from _reasoning(item, request, frame)
    elif not isinstance(item.get("call_id"), str):
        yield Finding("R9", f"the item {item.get('id')!r} has no call_id", frame)


def _message(item: Mapping[str, Any], marks: Sequence[str], frame: int | None) -> Iterator[Finding]:
    if item.get("role") != "assistant" or item.get("phase") not in _PHASES:
        yield Finding("R17", f"a message of the role {item.get('role')!r}, phase {item.get('phase')!r}", frame)
    for part in mappings(item.get("content")):
        if part.get("type") == "output_text" and not isinstance(part.get("annotations"), list):
            yield Finding("R17", "output_text without annotations", frame)
        for finding in leaks(text(part.get("text")), marks, "text"):
            yield Finding("R8", finding.message, frame)


def _reasoning(item: Mapping[str, Any], request: Mapping[str, Any], frame: int | None) -> Iterator[Finding]:
    if not isinstance(item.get("summary"), list):
        yield Finding("R10", "reasoning without the list summary", frame)
    said, told = ("".join(text(part.get("text")) for part in mappings(item.get(key))) for key in ("content", "summary"))
    wanted = mapping(request.get("reasoning")).get("summary")
    if request and bool(wanted) != bool(told) and said:
        yield Finding("R10", f"reasoning.summary is {wanted!r}, the summary {told!r:.60}", frame)
