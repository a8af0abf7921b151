"""The rules of a Messages stream: one function each, in the order of the rulebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .chat import is_object, leaks
from .frames import check_frames, frames
from .messages_seen import DELTAS, BlockSeen, MessageSeen, used_ids
from .rules import Finding
from .seen import mapping, text

__all__ = ["check_calls", "check_messages_error", "check_messages_stream", "check_reason", "check_tokens"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REASONS = (
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
)
_CUTS = ("max_tokens", "model_context_window_exceeded")
_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}


def check_messages_stream(
    body: bytes, *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that the bytes of a stream break.

    Args:
        body: the whole stream as it was received.
        request: the request's JSON object; without it, what depends on it is not looked at.
        marks: marks of the model's dialect, which no text may contain.
    """
    found = frames(body)
    seen = MessageSeen(found, request or {}, marks)
    return [*check_frames(found), *(finding for rule in _RULES for finding in rule(seen))]


def check_tokens(rule: str, usage: Any, names: Sequence[str], frame: int | None = None) -> Iterator[Finding]:
    """The numbers of a usage object."""
    for name in names:
        value = mapping(usage).get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            yield Finding(rule, f"usage.{name} is {value!r}", frame)


def check_reason(
    fields: Mapping[str, Any], calls: int, whole: int, request: Mapping[str, Any], frame: int | None = None
) -> Iterator[Finding]:
    """Why a message ended; `whole`: how many of its calls have JSON objects as their input."""
    reason, stop = fields.get("stop_reason"), fields.get("stop_sequence")
    if reason not in _REASONS:
        yield Finding("M10", f"the stop_reason is {reason!r}", frame)
    if reason == "tool_use" and not calls:
        yield Finding("M10", "stop_reason tool_use, but no call", frame)
    if reason in ("end_turn", "stop_sequence") and whole:
        yield Finding("M10", f"stop_reason {reason}, but a whole call was given", frame)
    if (reason == "stop_sequence") != bool(stop):
        yield Finding("M10", f"stop_reason {reason!r} with the stop_sequence {stop!r}", frame)
    if stop and request and stop not in request.get("stop_sequences", ()):
        yield Finding("M10", f"the stop_sequence {stop!r} was not asked for", frame)


def check_calls(calls: Iterable[tuple[Mapping[str, Any], int | None]], request: Mapping[str, Any]) -> Iterator[Finding]:
    """The names and ids of calls, each with its frame."""
    used = used_ids(request)
    for call, frame in calls:
        call_id = text(call.get("id"))
        if not _ID.fullmatch(call_id):
            yield Finding("M4", f"the id {call.get('id')!r} is not up to 64 of A-Z a-z 0-9 _ -", frame)
        if call_id in used:
            yield Finding("M4", f"the id {call_id!r} was used before", frame)
        if not text(call.get("name")):
            yield Finding("M4", f"the name of a call is {call.get('name')!r}", frame)
        used.add(call_id)


def check_messages_error(body: Any, frame: int | None = None) -> Iterator[Finding]:
    """The shape of an error's body."""
    error = mapping(mapping(body).get("error"))
    if mapping(body).get("type") != "error" or not error:
        yield Finding("M13", "the body is not of type error with an object under the key error", frame)
        return
    for key in ("type", "message"):
        if not text(error.get(key)):
            yield Finding("M13", f"error.{key} is {error.get(key, 'missing')!r}", frame)


def _m01_names(seen: MessageSeen) -> Iterator[Finding]:
    for frame in seen.frames:
        name, kind = dict(frame.fields).get("event", ""), mapping(frame.json).get("type")
        if name != kind:
            yield Finding("M1", f"the event {name!r} has data of the type {kind!r}", frame.number)


def _m02_start(seen: MessageSeen) -> Iterator[Finding]:
    starts = seen.of("message_start")
    if (not starts or seen.events[0] != starts[0]) and not (seen.failed and not starts):
        yield Finding("M2", "the stream does not begin with message_start")
    for frame, _ in starts[1:]:
        yield Finding("M2", "message_start again", frame)
    for frame, event in starts:
        message = mapping(event.get("message"))
        yield from _fields(message, frame)
        names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        yield from check_tokens("M2", message.get("usage"), names, frame)


def _fields(message: Mapping[str, Any], frame: int) -> Iterator[Finding]:
    fixed: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    for key, value in fixed.items():
        if message.get(key, "missing") != value:
            yield Finding("M2", f"message.{key} is {message.get(key, 'missing')!r}", frame)
    for key in ("id", "model"):
        if not isinstance(message.get(key), str):
            yield Finding("M2", f"message.{key} is {message.get(key, 'missing')!r}", frame)


def _m03_indexes(seen: MessageSeen) -> Iterator[Finding]:
    before: BlockSeen | None = None
    for place, block in enumerate(seen.blocks):
        if block.index != place:
            yield Finding("M3", f"block {place} has the index {block.index!r}", block.frame)
        if before and before.stops and before.stops[0] > block.frame:
            yield Finding("M3", f"block {place} begins before block {place - 1} has stopped", block.frame)
        before = block
    for frame, event in seen.strays:
        yield Finding("M3", f"{event['type']} of the block {event.get('index')!r}, which has not begun", frame)


def _m04_starts(seen: MessageSeen) -> Iterator[Finding]:
    for block in seen.blocks:
        if block.kind not in _EMPTY:
            yield Finding("M4", f"a block of the type {block.start.get('type')!r}", block.frame)
        for key, value in _EMPTY.get(block.kind, {}).items():
            if block.start.get(key, "missing") != value:
                yield Finding("M4", f"a block begins with {key} {block.start.get(key, 'missing')!r}", block.frame)
    calls = [(block.start, block.frame) for block in seen.blocks if block.kind == "tool_use"]
    yield from check_calls(calls, seen.request)


def _m05_deltas(seen: MessageSeen) -> Iterator[Finding]:
    for block in seen.blocks:
        for place, (frame, delta) in enumerate(block.deltas):
            kind = text(delta.get("type"))
            key = DELTAS.get(block.kind, {}).get(kind)
            if key is None:
                yield Finding("M5", f"a {kind} in a block of the type {block.kind}", frame)
            elif not isinstance(delta.get(key), str):
                yield Finding("M5", f"{key} is {delta.get(key)!r:.60}", frame)
            elif not delta[key] and not (kind == "input_json_delta" and place == 0):
                yield Finding("M5", f"an empty {kind}", frame)
        for kind in ("text_delta", "thinking_delta"):
            yield from (
                Finding("M5", leak.message, block.frame) for leak in leaks(block.texts.get(kind, ""), seen.marks, kind)
            )


def _m06_signatures(seen: MessageSeen) -> Iterator[Finding]:
    for block in seen.blocks:
        signed = [place for place, (_, delta) in enumerate(block.deltas) if delta.get("type") == "signature_delta"]
        if block.kind == "thinking" and block.stops and signed != [len(block.deltas) - 1]:
            yield Finding("M6", f"a thinking block with {len(signed)} signatures, or one that is not last", block.frame)


def _m07_input(seen: MessageSeen) -> Iterator[Finding]:
    for block in seen.blocks:
        given = block.texts.get("input_json_delta", "")
        cut = seen.failed or (seen.stop_reason in _CUTS and block is seen.blocks[-1])
        if block.kind == "tool_use" and not cut and not is_object(given):
            yield Finding("M7", f"the input {given!r:.60} is no JSON object", block.frame)


def _m08_stops(seen: MessageSeen) -> Iterator[Finding]:
    for block in seen.blocks:
        if len(block.stops) != 1 and not (seen.failed and not block.stops):
            yield Finding("M8", f"block {block.index} has {len(block.stops)} content_block_stop", block.frame)
        for frame, _ in block.deltas:
            if block.stops and frame > block.stops[0]:
                yield Finding("M8", "a delta after the stop of its block", frame)


def _m09_delta(seen: MessageSeen) -> Iterator[Finding]:
    deltas = seen.of("message_delta")
    if len(deltas) != 1 and not seen.failed:
        yield Finding("M9", f"{len(deltas)} message_delta")
    for frame, event in deltas:
        yield from check_tokens("M9", event.get("usage"), ("output_tokens",), frame)
        for block in seen.blocks:
            if any(stop > frame for stop in block.stops) or block.frame > frame:
                yield Finding("M9", "message_delta before the last block has stopped", frame)


def _m10_reason(seen: MessageSeen) -> Iterator[Finding]:
    calls = [block.texts.get("input_json_delta", "") for block in seen.blocks if block.kind == "tool_use"]
    for frame, event in seen.of("message_delta"):
        yield from check_reason(
            mapping(event.get("delta")), len(calls), sum(map(is_object, calls)), seen.request, frame
        )


def _m11_last(seen: MessageSeen) -> Iterator[Finding]:
    if seen.failed:
        return
    if len(seen.of("message_stop")) != 1 or seen.events[-1][1].get("type") != "message_stop":
        yield Finding("M11", "the stream does not end with one message_stop")
    if any(frame.is_done for frame in seen.frames):
        yield Finding("M11", "[DONE], which this protocol does not know")


def _m12_ping(seen: MessageSeen) -> Iterator[Finding]:
    for frame, event in seen.of("ping"):
        if seen.events[0] == (frame, event):
            yield Finding("M12", "a ping before message_start", frame)


def _m13_error(seen: MessageSeen) -> Iterator[Finding]:
    for frame, event in seen.of("error"):
        yield from check_messages_error(event, frame)
        for other, _ in seen.events:
            if other > frame:
                yield Finding("M13", "an event after an error", other)


_RULES: Sequence[Callable[[MessageSeen], Iterator[Finding]]] = (
    _m01_names,
    _m02_start,
    _m03_indexes,
    _m04_starts,
    _m05_deltas,
    _m06_signatures,
    _m07_input,
    _m08_stops,
    _m09_delta,
    _m10_reason,
    _m11_last,
    _m12_ping,
    _m13_error,
)
