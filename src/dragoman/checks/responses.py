"""The rules of a Responses stream: one function each, in the order of the rulebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from .chat import is_object, leaks
from .frames import check_frames, frames
from .response import check_response, check_usage
from .responses_seen import EventSeen, ItemSeen, ResponseSeen
from .rules import Finding
from .seen import mapping, mappings, text

__all__ = ["check_responses_stream", "compare_responses"]

_PARTS = {"content_index": ".content_part.added", "summary_index": ".reasoning_summary_part.added"}
_TEXTS = (  # the events of a text, and where it stands in its item
    (".output_text", "text", "content", "text"),
    (".refusal", "refusal", "content", "refusal"),
    (".reasoning_text", "text", "content", "text"),
    ("response.reasoning", "text", "content", "text"),
    (".reasoning_summary_text", "text", "summary", "text"),
    (".function_call_arguments", "arguments", "", "arguments"),
    (".custom_tool_call_input", "input", "", "input"),
)
_STATUS = {"response.completed": ("completed",), "response.failed": ("failed",)}
_PREFIXES = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}


def check_responses_stream(
    body: bytes, *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that the bytes of a stream break; the arguments are those of `check_chat_stream`."""
    found = frames(body)
    seen = ResponseSeen(found, request or {}, marks)
    return [*check_frames(found), *(finding for rule in _RULES for finding in rule(seen))]


def compare_responses(stream: bytes, answer: Mapping[str, Any]) -> list[Finding]:
    """How a stream and an answer to the same request differ."""
    final = ResponseSeen(frames(stream), {}, ()).final
    for key in ("status", "incomplete_details", "usage"):
        if final.get(key) != answer.get(key):
            return [Finding("S8", f"{key} is {final.get(key)!r} in the stream, {answer.get(key)!r} in the answer")]
    streamed, whole = ([_said(item) for item in mappings(one.get("output"))] for one in (final, answer))
    if streamed != whole:
        return [Finding("S8", f"the output is {streamed!r:.300} in the stream, {whole!r:.300} in the answer")]
    return []


def _said(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """An item without the names that are made anew for every answer."""
    return {key: value for key, value in item.items() if key not in ("id", "call_id")}


# --- the life of a response


def _s06_last(seen: ResponseSeen) -> Iterator[Finding]:
    ends = [event.frame for event in seen.terminal] + seen.done
    for frame in seen.frames:
        if ends and frame.number > ends[0] and not (frame.is_done and seen.done[:1] == [frame.number]):
            yield Finding("S6", "a frame after the end", frame.number)


def _r01_created(seen: ResponseSeen) -> Iterator[Finding]:
    created = [event for event in seen.events if event.type == "response.created"]
    if not seen.events or seen.events[0].type != "response.created":
        yield Finding("R1", "the first event is not response.created", 0)
    for event in created[1:]:
        yield Finding("R1", "response.created again", event.frame)
    for event in created[:1]:
        response = mapping(event.data.get("response"))
        if response.get("status") not in ("in_progress", "queued") or response.get("output") != []:
            yield Finding("R1", "response.created has not the status in_progress and an empty output", event.frame)


def _r02_numbers(seen: ResponseSeen) -> Iterator[Finding]:
    for number, event in enumerate(seen.events):
        if event.name != event.type:
            yield Finding("R2", f"the event line says {event.name!r}, the type is {event.type!r}", event.frame)
        if event.data.get("sequence_number") != number:
            yield Finding(
                "R2", f"sequence_number {event.data.get('sequence_number')!r}, expected {number}", event.frame
            )


def _r03_id(seen: ResponseSeen) -> Iterator[Finding]:
    ids = [(event.frame, mapping(event.data.get("response")).get("id")) for event in seen.life]
    for frame, response_id in ids:
        if response_id != ids[0][1]:
            yield Finding("R3", f"another response id: {response_id!r}", frame)
        if not text(response_id).startswith("resp_"):
            yield Finding("R3", f"the response id {response_id!r} does not begin with resp_", frame)


def _r12_terminal(seen: ResponseSeen) -> Iterator[Finding]:
    if len(seen.terminal) != 1:
        yield Finding("R12", f"{len(seen.terminal)} terminal events")
    for event in seen.terminal[:1]:
        status = seen.final.get("status")
        if status not in _STATUS.get(event.type, ("incomplete", "cancelled")):
            yield Finding("R12", f"{event.type} with the status {status!r}", event.frame)
        reason = mapping(seen.final.get("incomplete_details")).get("reason")
        if (status == "incomplete") != isinstance(reason, str):
            yield Finding("R12", f"the status {status!r} with incomplete_details.reason {reason!r}", event.frame)
    for item in seen.output[:-1]:
        if item.get("status") == "incomplete":
            yield Finding("R12", f"the item {item.get('id')!r} is incomplete, but not the last one")


def _r13_error(seen: ResponseSeen) -> Iterator[Finding]:
    for event in seen.events:
        if event.type == "error":
            if not isinstance(event.data.get("message"), str) or "code" not in event.data or "param" not in event.data:
                yield Finding("R13", "an error without message, code and param", event.frame)
            if not any(end.type == "response.failed" for end in seen.terminal):
                yield Finding("R13", "an error that no response.failed follows", event.frame)
    for event in seen.terminal:
        error = seen.final.get("error")
        facts = mapping(error)
        told = isinstance(facts.get("code"), str) and isinstance(facts.get("message"), str)
        if told != (event.type == "response.failed"):
            yield Finding("R13", f"{event.type} with the error {error!r:.100}", event.frame)


def _r14_object(seen: ResponseSeen) -> Iterator[Finding]:
    for event in seen.life:
        response = mapping(event.data.get("response"))
        yield from check_response(response, request=seen.request, frame=event.frame)
        if event not in seen.terminal and response.get("usage") is not None:
            yield Finding("R15", "usage before the end", event.frame)
    for event in seen.terminal:
        yield from check_usage(seen.final.get("usage"), event.frame)


# --- items


def _r04_indexes(seen: ResponseSeen) -> Iterator[Finding]:
    added = [event for event in seen.events if event.type == "response.output_item.added"]
    for place, event in enumerate(added):
        if event.data.get("output_index") != place:
            yield Finding("R4", f"output_index {event.data.get('output_index')!r}, expected {place}", event.frame)


def _r05_ids(seen: ResponseSeen) -> Iterator[Finding]:
    for item in seen.items.values():
        for event in item.events:
            if event.data.get("item_id") != item.first.get("id"):
                yield Finding("R5", f"item_id {event.data.get('item_id')!r}, not that of its item", event.frame)
        for key in ("id", "type", "call_id"):
            if item.done and item.first.get(key) != item.last.get(key):
                yield Finding("R5", f"{key} is {item.last.get(key)!r}, was {item.first.get(key)!r}", item.done.frame)
        prefix = _PREFIXES.get(text(item.first.get("type")), "")
        if not text(item.first.get("id")).startswith(prefix):
            yield Finding("R5", f"the id {item.first.get('id')!r} does not begin with {prefix}", item.frame)
    for key in ("id", "call_id"):
        given = [repr(item.first[key]) for item in seen.items.values() if key in item.first]
        if len(set(given)) < len(given):
            yield Finding("R5", f"two items have the same {key}")


def _r06_parts(seen: ResponseSeen) -> Iterator[Finding]:
    for item in seen.items.values():
        for key, ending in _PARTS.items():
            added: list[Any] = []
            for event in item.events:
                if event.type.endswith(ending):
                    if event.data.get(key) != len(added):
                        yield Finding("R6", f"{key} {event.data.get(key)!r}, expected {len(added)}", event.frame)
                    added.append(event.data.get(key))
                elif key in event.data and event.data[key] not in added:
                    yield Finding("R6", f"{event.type} before its part was added", event.frame)


def _r07_closed(seen: ResponseSeen) -> Iterator[Finding]:
    for item in seen.items.values():
        if item.added is None or item.done is None:
            what = "added" if item.added is None else "done"
            yield Finding("R7", f"item {item.index!r} has no response.output_item.{what}", item.frame)
            continue
        for event in item.events:
            if not item.added.frame < event.frame < item.done.frame:
                yield Finding("R7", f"{event.type} outside of its item", event.frame)
        for part in ("content_part", "reasoning_summary_part"):
            if len(item.of(f"{part}.added")) != len(item.of(f"{part}.done")):
                yield Finding("R7", f"item {item.index!r} has a {part} that was not closed", item.frame)
    yield from _one_open(list(seen.items.values()))


def _one_open(items: Sequence[ItemSeen]) -> Iterator[Finding]:
    for before, after in pairwise(items):
        if before.done and after.added and after.added.frame < before.done.frame:
            yield Finding("R7", "an item is added while another is open", after.added.frame)


def _r08_texts(seen: ResponseSeen) -> Iterator[Finding]:
    for item in seen.items.values():
        for name, key, holder, inner in _TEXTS:
            deltas, done = item.of(f"{name}.delta"), item.of(f"{name}.done")
            if deltas or done:
                yield from _text(item, deltas, done, key)
                yield from _repeated(item, name, holder, inner)
                yield from _leaks(item.joined(f"{name}.delta"), seen.marks, item.frame)
        for event in item.of(".output_text.delta"):
            if not isinstance(event.data.get("logprobs"), list):
                yield Finding("R8", "a delta of text without the list logprobs", event.frame)


def _text(item: ItemSeen, deltas: Sequence[EventSeen], done: Sequence[EventSeen], key: str) -> Iterator[Finding]:
    for event in deltas:
        if not isinstance(event.data.get("delta"), str) or not event.data["delta"]:
            yield Finding("R8", f"the delta is {event.data.get('delta')!r}", event.frame)
    joined = "".join(text(event.data.get("delta")) for event in deltas)
    if len(done) != 1:
        yield Finding("R7", f"{len(done)} done events of the {key} of item {item.index!r}", item.frame)
    for event in done[:1]:
        if event.data.get(key) != joined:
            yield Finding("R8", f"{key} is {event.data.get(key)!r:.80}, the deltas were {joined!r:.80}", event.frame)


def _repeated(item: ItemSeen, name: str, holder: str, inner: str) -> Iterator[Finding]:
    """The item at its end repeats the text."""
    if item.done is None:
        return
    holders = mappings(item.last.get(holder)) if holder else [item.last]
    whole = "".join(text(one.get(inner)) for one in holders)
    if whole != item.joined(f"{name}.delta"):
        yield Finding("R8", f"the item's {inner} {whole!r:.80} is not what its deltas were", item.done.frame)


def _leaks(said: str, marks: Sequence[str], frame: int) -> Iterator[Finding]:
    return (Finding("R8", finding.message, frame) for finding in leaks(said, marks, "text"))


def _r09_calls(seen: ResponseSeen) -> Iterator[Finding]:
    for item in seen.items.values():
        kind = item.first.get("type")
        if kind not in ("function_call", "custom_tool_call"):
            continue
        key = "arguments" if kind == "function_call" else "input"
        for one in (item.first, item.last) if item.done else (item.first,):
            absent = [name for name in ("id", "call_id", "name", key) if not isinstance(one.get(name), str)]
            if absent:
                yield Finding("R9", f"a call without {', '.join(absent)}", item.frame)
        if item.first.get(key) != "" or item.first.get("call_id") == item.first.get("id"):
            yield Finding("R9", f"a call begins with no {key}, and its call_id is not its id", item.frame)
        if kind == "function_call" and item.last.get("status") == "completed":
            yield from _arguments(item)


def _arguments(item: ItemSeen) -> Iterator[Finding]:
    if not item.of(".delta"):
        yield Finding("R9", "a call without a delta", item.frame)
    if not is_object(text(item.last.get("arguments"))):
        yield Finding("R9", f"the arguments {item.last.get('arguments')!r:.60} are no JSON object", item.frame)


def _r16_output(seen: ResponseSeen) -> Iterator[Finding]:
    done = [item.last for item in seen.items.values() if item.done]
    if seen.terminal and done != seen.output:
        yield Finding("R16", "the final output is not the items that were done", seen.terminal[0].frame)


_RULES: Sequence[Callable[[ResponseSeen], Iterator[Finding]]] = (
    _s06_last,
    _r01_created,
    _r02_numbers,
    _r03_id,
    _r04_indexes,
    _r05_ids,
    _r06_parts,
    _r07_closed,
    _r08_texts,
    _r09_calls,
    _r12_terminal,
    _r13_error,
    _r14_object,
    _r16_output,
)
