"""The rules of a Chat Completions stream: one function each, in the order of the rulebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..protocols import wire
from .frames import check_frames, frames
from .rules import Finding
from .seen import ChoiceSeen, StreamSeen, delta_of, items_of, mapping, mappings, text

__all__ = ["check_chat_stream", "check_error", "check_ids", "check_usage", "is_object", "leaks"]

_WORDS = ("stop", "length", "tool_calls", "content_filter", "function_call")
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_REASONING = ("reasoning_content", "reasoning")


def check_chat_stream(
    body: bytes, *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that the bytes of a stream break.

    Args:
        body: the whole stream as it was received.
        request: the request's JSON object; without it, what depends on it is not looked at.
        marks: marks of the model's dialect, which no text may contain.
    """
    found = frames(body)
    seen = StreamSeen(found, request or {}, marks)
    return [*check_frames(found), *(finding for rule in _RULES for finding in rule(seen))]


def is_object(arguments: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(wire.load(arguments), dict)
    except ValueError:
        return False


def leaks(said: str, marks: Sequence[str], what: str) -> Iterator[Finding]:
    """Marks that stand in a text."""
    for mark in marks:
        if mark in said:
            yield Finding("C5", f"the mark {mark!r} in the {what}")


def check_usage(usage: Any, frame: int | None = None) -> Iterator[Finding]:
    """The numbers of a usage object."""
    usage = mapping(usage)
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, completion, total = (usage.get(name) for name in names)
    if not all(isinstance(number, int) for number in (prompt, completion, total)):
        yield Finding("C14", f"usage needs the integers {', '.join(names)}", frame)
        return
    if prompt + completion != total:
        yield Finding("C14", f"{prompt} + {completion} is not {total}", frame)
    for details, part, whole in (
        ("prompt_tokens_details", "cached_tokens", prompt),
        ("completion_tokens_details", "reasoning_tokens", completion),
    ):
        number = mapping(usage.get(details)).get(part, 0)
        if not isinstance(number, int) or number > whole:
            yield Finding("C14", f"{details}.{part} is {number!r}, of {whole}", frame)


def check_ids(ids: Sequence[tuple[str, int | None]], request: Mapping[str, Any]) -> Iterator[Finding]:
    """The ids of calls, each with its frame."""
    messages = mappings(request.get("messages"))
    used = {text(call.get("id")) for message in messages for call in mappings(message.get("tool_calls"))}
    for call_id, frame in ids:
        if not _ID.fullmatch(call_id):
            yield Finding("C10", f"the id {call_id!r} is not up to 40 of A-Z a-z 0-9 _ -", frame)
        if call_id in used:
            yield Finding("C10", f"the id {call_id!r} was used before", frame)
        used.add(call_id)


def check_error(body: Any, frame: int | None = None) -> Iterator[Finding]:
    """The shape of an error's body."""
    error = mapping(body).get("error")
    if not isinstance(error, Mapping):
        yield Finding("C21", "the error is not an object under the key error", frame)
        return
    for key, types in (("message", str), ("type", str), ("param", str | None), ("code", str | None)):
        if key not in error or not isinstance(error[key], types):
            yield Finding("C21", f"error.{key} is {error.get(key, 'missing')!r}", frame)


# --- the transport's end


def _s06_last(seen: StreamSeen) -> Iterator[Finding]:
    for number in seen.done[:1]:
        for frame in seen.frames:
            if frame.number > number and not frame.is_done:
                yield Finding("S6", "a frame after [DONE]", frame.number)


# --- chunks


def _c01_chunks(seen: StreamSeen) -> Iterator[Finding]:
    first = seen.chunks[0][1] if seen.chunks else {}
    for frame, chunk in seen.chunks:
        for key in ("id", "object", "created", "model", "choices"):
            if key not in chunk:
                yield Finding("C1", f"no {key}", frame)
            elif key != "choices" and chunk[key] != first.get(key):
                yield Finding("C1", f"another {key}: {chunk[key]!r}, before it was {first.get(key)!r}", frame)
        if chunk.get("object", "") != "chat.completion.chunk":
            yield Finding("C1", f"the object is {chunk.get('object')!r}", frame)


def _c02_role(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        roles = [frame for frame, delta in choice.deltas if delta.get("role") is not None]
        if delta_of(choice.chunks[0][1]).get("role") != "assistant":
            yield Finding("C2", f"choice {choice.index} does not begin with the role assistant", choice.chunks[0][0])
        for frame in roles[1:]:
            yield Finding("C2", "the role again", frame)


def _c03_fields(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        for frame, chunk in choice.chunks:
            if not isinstance(chunk.get("index"), int):
                yield Finding("C3", "a choice without index", frame)
            if not isinstance(chunk.get("delta"), Mapping):
                yield Finding("C3", f"the delta is {chunk.get('delta')!r}", frame)
            if "finish_reason" not in chunk:
                yield Finding("C3", "no finish_reason (null until the end)", frame)
            if chunk.get("logprobs") is not None and seen.request and not seen.request.get("logprobs"):
                yield Finding("C3", "logprobs that nobody asked for", frame)
            for key, value in delta_of(chunk).items():
                if value is None:
                    yield Finding("C3", f"{key} is null; leave it out", frame)


def _c04_order(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        finished = False
        for frame, chunk in choice.chunks:
            if finished and delta_of(chunk):
                yield Finding("C4", "a delta after the finish", frame)
            finished = finished or chunk.get("finish_reason") is not None
        yield from _texts_in_calls(choice)


def _texts_in_calls(choice: ChoiceSeen) -> Iterator[Finding]:
    last: Any = None
    between = False
    for frame, delta in choice.deltas:
        for item in items_of(delta):
            if between and item.get("index") == last:
                yield Finding("C4", f"text within call {last}", frame)
            last, between = item.get("index"), False
        between = between or any(delta.get(key) for key in ("content", *_REASONING))


def _c05_content(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        for frame, delta in choice.deltas:
            content = delta.get("content", "x")
            if not isinstance(content, str | None):  # C3 tells of null
                yield Finding("C5", f"content is {content!r:.60}", frame)
            if content == "" and "role" not in delta:
                yield Finding("C5", "an empty content delta", frame)
        yield from leaks(choice.content, seen.marks, "content")
        yield from leaks(choice.reasoning, seen.marks, "reasoning")


def _c06_reasoning(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        for frame, delta in choice.deltas:
            if all(delta.get(key) for key in _REASONING):
                yield Finding("C6", "reasoning under two names at once", frame)
            for key in _REASONING:
                if not isinstance(delta.get(key, "x"), str) or delta.get(key) == "":
                    yield Finding("C6", f"{key} is {delta[key]!r}", frame)


# --- calls


def _c07_starts(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        begun: set[Any] = set()
        for frame, item in choice.items:
            index = item.get("index") if isinstance(item.get("index"), int) else None
            given = _given(item)
            if index not in begun and len(given) < len(_STARTS):
                missing = ", ".join(key for key in _STARTS if key not in given)
                yield Finding("C7", f"call {index} begins without {missing}", frame)
            if index in begun and given:
                yield Finding("C7", f"call {index} gets {', '.join(given)} again", frame)
            begun.add(index)


_STARTS = ("id", "type", "name")


def _given(item: Mapping[str, Any]) -> list[str]:
    both = {**item, "name": mapping(item.get("function")).get("name")}
    return [key for key in _STARTS if both.get(key)]


def _c08_indexes(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        last = -1
        for frame, item in choice.items:
            index = item.get("index")
            if not isinstance(index, int):
                yield Finding("C8", f"the index of a call is {index!r}", frame)
            elif index not in (last, last + 1):
                yield Finding("C8", f"call {index} after call {last}" if last >= 0 else f"first is call {index}", frame)
            last = index if isinstance(index, int) else last


def _c09_arguments(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        for frame, item in choice.items:
            arguments = mapping(item.get("function")).get("arguments", "")
            if not isinstance(arguments, str):
                yield Finding("C9", f"arguments are {arguments!r:.60}, not a string", frame)
        if choice.finish in ("stop", "tool_calls"):
            for call in choice.calls.values():
                if not is_object(call.arguments):
                    yield Finding("C9", f"the arguments {call.arguments!r:.60} are no JSON object", call.frame)


def _c10_ids(seen: StreamSeen) -> Iterator[Finding]:
    calls = [call for choice in seen.choices.values() for call in choice.calls.values()]
    yield from check_ids([(call.id, call.frame) for call in calls if call.id], seen.request)


# --- the end


def _c11_finish(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        ends = [(frame, chunk) for frame, chunk in choice.chunks if chunk.get("finish_reason") is not None]
        if not ends and not seen.errors:
            yield Finding("C11", f"choice {choice.index} has no finish_reason")
        for frame, _ in ends[1:]:
            yield Finding("C11", f"choice {choice.index} finishes again", frame)
        for frame, chunk in ends:
            if chunk["finish_reason"] not in _WORDS:
                yield Finding("C11", f"the finish_reason is {chunk['finish_reason']!r}", frame)
            if delta_of(chunk):
                yield Finding("C11", "the chunk with the finish_reason has a delta", frame)
    if not seen.choices and not seen.errors:
        yield Finding("C11", "the stream has no choice at all")


def _c12_calls(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        if choice.finish == "tool_calls" and not choice.calls:
            yield Finding("C12", "finish_reason tool_calls, but no call")
        if choice.finish == "stop" and any(is_object(call.arguments) for call in choice.calls.values()):
            yield Finding("C12", "finish_reason stop, but a whole call was given")


def _c13_usage(seen: StreamSeen) -> Iterator[Finding]:
    with_usage = [(frame, chunk) for frame, chunk in seen.chunks if chunk.get("usage") is not None]
    if seen.request and not seen.wants_usage:
        for frame, chunk in with_usage:
            if not chunk.get("choices"):
                yield Finding("C13", "a usage chunk that nobody asked for", frame)
        return
    if seen.wants_usage and not with_usage and not seen.errors:
        yield Finding("C13", "no usage chunk")
    for frame, chunk in with_usage:
        if chunk.get("choices"):
            yield Finding("C13", "usage in a chunk with choices", frame)
        if frame != seen.chunks[-1][0]:
            yield Finding("C13", "chunks after the usage", frame)


def _c14_numbers(seen: StreamSeen) -> Iterator[Finding]:
    for frame, chunk in seen.chunks:
        if chunk.get("usage") is not None:
            yield from check_usage(chunk["usage"], frame)


def _c15_done(seen: StreamSeen) -> Iterator[Finding]:
    if not seen.done and not seen.errors:
        yield Finding("C15", "the stream does not end with [DONE]")
    for frame in seen.done[1:]:
        yield Finding("C15", "[DONE] again", frame)


def _c16_choices(seen: StreamSeen) -> Iterator[Finding]:
    if list(seen.choices) != list(range(len(seen.choices))):
        yield Finding("C16", f"the choices appear in the order {', '.join(map(str, seen.choices))}")
    wanted = seen.request.get("n") or 1
    if seen.request and len(seen.choices) != wanted and not seen.errors:
        yield Finding("C16", f"{len(seen.choices)} choices, asked for were {wanted}")


def _c17_logprobs(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        for frame, chunk in choice.chunks:
            for token in mappings(mapping(chunk.get("logprobs")).get("content")):
                absent = [key for key in ("token", "logprob", "bytes", "top_logprobs") if key not in token]
                if absent or not isinstance(token["logprob"], int | float):
                    yield Finding("C17", f"a token without {', '.join(absent) or 'a number'}", frame)


def _c21_error(seen: StreamSeen) -> Iterator[Finding]:
    for frame, body in seen.errors:
        yield from check_error(body, frame)
        for other in seen.frames:
            if other.number > frame:
                yield Finding(
                    "C21", "[DONE] after an error" if other.is_done else "a frame after an error", other.number
                )


def _c22_cut(seen: StreamSeen) -> Iterator[Finding]:
    for choice in seen.choices.values():
        calls = list(choice.calls.values())
        for call in calls[:-1]:
            if choice.finish == "length" and not is_object(call.arguments):
                yield Finding("C22", f"a call follows the cut call {text(call.name)!r}", call.frame)


_RULES: Sequence[Callable[[StreamSeen], Iterator[Finding]]] = (
    _s06_last,
    _c01_chunks,
    _c02_role,
    _c03_fields,
    _c04_order,
    _c05_content,
    _c06_reasoning,
    _c07_starts,
    _c08_indexes,
    _c09_arguments,
    _c10_ids,
    _c11_finish,
    _c12_calls,
    _c13_usage,
    _c14_numbers,
    _c15_done,
    _c16_choices,
    _c17_logprobs,
    _c21_error,
    _c22_cut,
)
