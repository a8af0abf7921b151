"""The rules of a Chat Completions answer that is not streamed, and of a pair of the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .chat import check_ids, check_usage, is_object, leaks
from .frames import frames
from .rules import Finding
from .seen import ChoiceSeen, StreamSeen, mapping, mappings, number, text

__all__ = ["check_chat_answer", "compare"]

_WORDS = ("stop", "length", "tool_calls", "content_filter", "function_call")
_FIELDS = ("id", "object", "created", "model", "choices", "usage")


def check_chat_answer(
    answer: Mapping[str, Any], *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that an answer breaks; the arguments are those of `check_chat_stream`."""
    request = request or {}
    findings = [Finding("C23", f"no {key}") for key in _FIELDS if key not in answer]
    if answer.get("object") != "chat.completion":
        findings.append(Finding("C23", f"the object is {answer.get('object')!r}"))
    choices = mappings(answer.get("choices"))
    if request and len(choices) != (request.get("n") or 1):
        findings.append(Finding("C16", f"{len(choices)} choices, asked for were {request.get('n') or 1}"))
    ids = [(text(call.get("id")), None) for choice in choices for call in _calls(choice)]
    return [
        *findings,
        *check_usage(answer.get("usage")),
        *check_ids(ids, request),
        *(finding for index, choice in enumerate(choices) for finding in _choice(index, choice, marks)),
    ]


def compare(stream: bytes, answer: Mapping[str, Any]) -> list[Finding]:
    """How a stream and an answer to the same request differ; a cut call is only in the stream."""
    seen = StreamSeen(frames(stream), {}, ())
    choices = {number(choice.get("index")): choice for choice in mappings(answer.get("choices"))}
    findings = [] if seen.choices.keys() == choices.keys() else [Finding("S8", "not the same choices")]
    for index in seen.choices.keys() & choices.keys():
        findings += _differences(seen.choices[index], choices[index])
    usage = next((chunk["usage"] for _, chunk in seen.chunks if chunk.get("usage")), None)
    if usage is not None and usage != answer.get("usage"):
        findings.append(Finding("S8", f"the usage is {usage} in the stream, {answer.get('usage')} in the answer"))
    return findings


def _choice(index: int, choice: Mapping[str, Any], marks: Sequence[str]) -> Iterator[Finding]:
    message = mapping(choice.get("message"))
    if choice.get("index") != index:
        yield Finding("C16", f"choice {index} has the index {choice.get('index')!r}")
    if choice.get("finish_reason") not in _WORDS:
        yield Finding("C11", f"the finish_reason is {choice.get('finish_reason')!r}")
    yield from _message(message)
    yield from _call_rules(choice)
    yield from leaks(text(message.get("content")), marks, "content")
    yield from leaks(_reasoning(message), marks, "reasoning")


def _message(message: Mapping[str, Any]) -> Iterator[Finding]:
    if message.get("role") != "assistant":
        yield Finding("C23", f"the role is {message.get('role')!r}")
    for key in ("content", "refusal"):
        if key not in message or not isinstance(message[key], str | None):
            yield Finding("C23", f"{key} is {message.get(key, 'missing')!r:.60}")
    if "tool_calls" in message and not message["tool_calls"]:
        yield Finding("C23", f"tool_calls is {message['tool_calls']!r}; leave it out")
    if message.get("content") is None and not (message.get("tool_calls") or message.get("function_call")):
        yield Finding("C23", "content is null, but there is no call")


def _call_rules(choice: Mapping[str, Any]) -> Iterator[Finding]:
    calls = _calls(choice)
    for call in calls:
        arguments = mapping(call.get("function")).get("arguments")
        if call.get("type") == "custom":
            continue
        if not isinstance(arguments, str):
            yield Finding("C9", f"arguments are {arguments!r:.60}, not a string")
        elif not is_object(arguments):
            rule = "C22" if choice.get("finish_reason") == "length" else "C9"
            yield Finding(rule, f"the arguments {arguments!r:.60} are no JSON object")
    if choice.get("finish_reason") == "tool_calls" and not calls:
        yield Finding("C12", "finish_reason tool_calls, but no call")
    if choice.get("finish_reason") == "stop" and calls:
        yield Finding("C12", "finish_reason stop, but a call was given")


def _differences(seen: ChoiceSeen, choice: Mapping[str, Any]) -> Iterator[Finding]:
    message = mapping(choice.get("message"))
    calls = [_name_and_arguments(call) for call in _calls(choice)]
    for what, streamed, whole in (
        ("finish_reason", seen.finish, choice.get("finish_reason")),
        ("content", seen.content, text(message.get("content"))),
        ("reasoning", seen.reasoning, _reasoning(message)),
        ("refusal", seen.refusal, text(message.get("refusal"))),
        ("calls", _streamed_calls(seen, len(calls)), calls),
    ):
        if streamed != whole:
            yield Finding("S8", f"the {what} is {streamed!r:.200} in the stream, {whole!r:.200} in the answer")


def _streamed_calls(seen: ChoiceSeen, count: int) -> list[tuple[str, str]]:
    """The calls of a stream without one more at the end that was cut."""
    calls = [(call.name, call.arguments) for call in seen.calls.values()]
    return calls[:-1] if len(calls) == count + 1 and not is_object(calls[-1][1]) else calls


def _name_and_arguments(call: Mapping[str, Any]) -> tuple[str, str]:
    function = mapping(call.get("function"))
    return text(function.get("name")), text(function.get("arguments"))


def _calls(choice: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return mappings(mapping(choice.get("message")).get("tool_calls"))


def _reasoning(message: Mapping[str, Any]) -> str:
    return text(message.get("reasoning_content")) or text(message.get("reasoning"))
