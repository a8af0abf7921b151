"""The rules of a Messages answer that is not streamed, and of a pair of the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..protocols import wire
from .chat import is_object, leaks
from .frames import frames
from .messages_seen import BlockSeen, MessageSeen
from .messages_stream import check_calls, check_reason, check_tokens
from .rules import Finding
from .seen import mapping, mappings, text

__all__ = ["check_messages_answer", "compare_messages"]

_FIXED = {"type": "message", "role": "assistant"}
_TOKENS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def check_messages_answer(
    answer: Mapping[str, Any], *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that an answer breaks; the arguments are those of `check_messages_stream`."""
    request = request or {}
    blocks = mappings(answer.get("content"))
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    whole = sum(isinstance(call.get("input"), Mapping) for call in calls)
    return [
        *_fields(answer),
        *check_tokens("M14", answer.get("usage"), _TOKENS),
        *(finding for block in blocks for finding in _block(block, marks)),
        *check_calls([(call, None) for call in calls], request),
        *check_reason(answer, len(calls), whole, request),
    ]


def compare_messages(stream: bytes, answer: Mapping[str, Any]) -> list[Finding]:
    """How a stream and an answer to the same request differ; a cut call is only in the stream."""
    seen = MessageSeen(frames(stream), {}, ())
    streamed = [_shown(block) for block in seen.blocks]
    if streamed and seen.blocks[-1].kind == "tool_use" and not is_object(_json(seen.blocks[-1])):
        streamed.pop()
    last = mapping(next((event for _, event in seen.of("message_delta")), {}))
    ended = mapping(last.get("delta"))
    return [
        Finding("S8", f"the {what} is {one!r:.200} in the stream, {other!r:.200} in the answer")
        for what, one, other in (
            ("content", streamed, [_plain(block) for block in mappings(answer.get("content"))]),
            ("stop_reason", ended.get("stop_reason"), answer.get("stop_reason")),
            ("stop_sequence", ended.get("stop_sequence"), answer.get("stop_sequence")),
            ("usage", last.get("usage"), answer.get("usage")),
        )
        if one != other
    ]


def _fields(answer: Mapping[str, Any]) -> Iterator[Finding]:
    for key, value in _FIXED.items():
        if answer.get(key) != value:
            yield Finding("M14", f"{key} is {answer.get(key, 'missing')!r}")
    for key in ("id", "model"):
        if not isinstance(answer.get(key), str):
            yield Finding("M14", f"{key} is {answer.get(key, 'missing')!r}")
    if not isinstance(answer.get("content"), list):
        yield Finding("M14", f"content is {answer.get('content', 'missing')!r:.60}")


def _block(block: Mapping[str, Any], marks: Sequence[str]) -> Iterator[Finding]:
    kind = block.get("type")
    if kind == "text":
        if not text(block.get("text")):
            yield Finding("M14", f"the text of a block is {block.get('text')!r}")
    elif kind == "thinking":
        if not isinstance(block.get("thinking"), str):
            yield Finding("M14", f"the thinking of a block is {block.get('thinking')!r}")
        if not text(block.get("signature")):
            yield Finding("M6", f"the signature of a thinking block is {block.get('signature')!r}")
    elif kind == "tool_use":
        if not isinstance(block.get("input"), Mapping):
            yield Finding("M14", f"the input of a call is {block.get('input')!r:.60}, not an object")
    else:
        yield Finding("M14", f"a block of the type {kind!r}")
    for key in ("text", "thinking"):
        yield from (Finding("M5", leak.message) for leak in leaks(text(block.get(key)), marks, key))


def _shown(block: BlockSeen) -> tuple[Any, ...]:
    """A block as it is compared; ids are made anew for each answer."""
    if block.kind == "tool_use":
        return block.kind, block.start.get("name"), _loaded(_json(block))
    if block.kind == "thinking":
        return block.kind, block.texts.get("thinking_delta", "")
    return block.kind, block.texts.get("text_delta", "")


def _plain(block: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = text(block.get("type"))
    if kind == "tool_use":
        return kind, block.get("name"), block.get("input")
    return kind, block.get("thinking" if kind == "thinking" else "text")


def _json(block: BlockSeen) -> str:
    return block.texts.get("input_json_delta", "")


def _loaded(arguments: str) -> Any:
    try:
        return wire.load(arguments)
    except ValueError:
        return arguments
