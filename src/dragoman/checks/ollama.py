"""The rules of Ollama's answers, streamed in lines or whole: one function each, in the order of the rulebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .frames import json_of
from .rules import Finding
from .seen import mapping, mappings, text

__all__ = ["check_ollama_answer", "check_ollama_error", "check_ollama_stream", "compare_ollama"]

_WORDS = ("stop", "length", "load", "unload")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_NUMBERS = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)
_PARTS = ("load_duration", "prompt_eval_duration", "eval_duration")


@dataclass(slots=True)
class _Seen:
    """The lines of an answer with their numbers, and what its request and its model's dialect are."""

    lines: list[tuple[int | None, Mapping[str, Any]]]
    request: Mapping[str, Any]
    marks: Sequence[str]
    findings: list[Finding] = field(default_factory=list)

    @property
    def said(self) -> list[tuple[int | None, Mapping[str, Any]]]:
        """All lines but errors."""
        return [(number, line) for number, line in self.lines if "error" not in line]

    @property
    def errors(self) -> list[tuple[int | None, Mapping[str, Any]]]:
        """The lines that tell an error."""
        return [(number, line) for number, line in self.lines if "error" in line]


def check_ollama_stream(
    body: bytes, *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that the bytes of a stream break.

    Args:
        body: the whole stream as it was received.
        request: the request's JSON object; without it, what depends on it is not looked at.
        marks: marks of the model's dialect, which no text may contain.
    """
    seen = _read(body, request or {}, marks)
    return [*seen.findings, *_broken(seen), *_o03_end(seen)]


def check_ollama_answer(
    answer: Mapping[str, Any], *, request: Mapping[str, Any] | None = None, marks: Sequence[str] = ()
) -> list[Finding]:
    """Every rule that an answer in one piece breaks; the arguments are those of `check_ollama_stream`."""
    seen = _Seen([(None, answer)], request or {}, marks)
    ending = [] if answer.get("done") is True else [Finding("O3", "the answer is not done")]
    return [*ending, *_broken(seen), *_numbers(None, answer)]


def check_ollama_error(body: Any, line: int | None = None) -> Iterator[Finding]:
    """The shape of an error."""
    error = mapping(body).get("error")
    if not isinstance(error, str) or not error:
        yield Finding("O7", f"the error is {error!r:.60}, not a text", line)


def compare_ollama(stream: bytes, answer: Mapping[str, Any]) -> list[Finding]:
    """How a stream and an answer to the same request differ."""
    lines = [line for _, line in _read(stream, {}, ()).said]
    last = lines[-1] if lines else {}
    pairs: list[tuple[str, Any, Any]] = [
        ("content", "".join(map(_content, lines)), _content(answer)),
        ("thinking", "".join(map(_thinking, lines)), _thinking(answer)),
        ("calls", [_essence(call) for line in lines for call in _calls(line)], list(map(_essence, _calls(answer)))),
    ]
    same = ("done_reason", "prompt_eval_count", "eval_count", "context")
    pairs += [(key, last.get(key), answer.get(key)) for key in same]
    return [
        Finding("S8", f"the {what} is {streamed!r:.200} in the stream, {whole!r:.200} in the answer")
        for what, streamed, whole in pairs
        if streamed != whole
    ]


def _broken(seen: _Seen) -> Iterator[Finding]:
    for rule in _RULES:
        yield from rule(seen)


def _read(body: bytes, request: Mapping[str, Any], marks: Sequence[str]) -> _Seen:
    seen = _Seen([], request, marks)
    *lines, rest = body.decode(errors="surrogateescape").split("\n")
    if rest:
        seen.findings.append(Finding("O1", "the last line has no end", len(lines)))
    for number, line in enumerate([*lines, rest] if rest else lines):
        value, problem = json_of(line)
        if problem or not isinstance(value, dict):
            seen.findings.append(Finding("O1", problem or f"{line!r:.60} is no object", number))
        else:
            seen.lines.append((number, value))
    return seen


# --- the rules


def _o02_lines(seen: _Seen) -> Iterator[Finding]:
    for number, line in seen.said:
        if not text(line.get("model")):
            yield Finding("O2", "no model", number)
        if not _MOMENT.fullmatch(text(line.get("created_at"))):
            yield Finding("O2", f"created_at is {line.get('created_at')!r}", number)
        if not isinstance(line.get("done"), bool):
            yield Finding("O2", f"done is {line.get('done')!r}", number)
        if not isinstance(_holder(line).get("content", line.get("response")), str):
            yield Finding("O2", "neither message.content nor response is a text", number)
        if "message" in line and _holder(line).get("role") != "assistant":
            yield Finding("O2", f"the role is {_holder(line).get('role')!r}", number)


def _o03_end(seen: _Seen) -> Iterator[Finding]:
    ends = [number for number, line in seen.said if line.get("done")]
    if len(ends) != 1 and not seen.errors:
        yield Finding("O3", f"{len(ends)} lines are the last one")
    for number, line in seen.said:
        if ends and number is not None and number > (ends[0] or 0):
            yield Finding("O3", "a line after the last one", number)
        elif line.get("done"):
            yield from _numbers(number, line)
            if _content(line):
                yield Finding("O3", "the last line has a text", number)


def _numbers(number: int | None, line: Mapping[str, Any]) -> Iterator[Finding]:
    if line.get("done_reason") in ("load", "unload"):
        return
    absent = [key for key in _NUMBERS if not isinstance(line.get(key), int)]
    if absent:
        yield Finding("O3", f"no number for {', '.join(absent)}", number)
    elif sum(line[key] for key in _PARTS) > line["total_duration"] + 1000:
        yield Finding("O3", "the durations add up to more than total_duration", number)


def _o04_calls(seen: _Seen) -> Iterator[Finding]:
    for number, line in seen.said:
        if "tool_calls" in _holder(line) and not _calls(line):
            yield Finding("O4", "tool_calls is empty; leave it out", number)
        for call in _calls(line):
            function = mapping(call.get("function"))
            if not text(function.get("name")):
                yield Finding("O4", "a call without a name", number)
            if not isinstance(function.get("arguments"), Mapping):
                yield Finding("O4", f"arguments are {function.get('arguments')!r:.60}, not an object", number)


def _o05_thinking(seen: _Seen) -> Iterator[Finding]:
    content, thinking = "", ""
    for number, line in seen.said:
        content, thinking = content + _content(line), thinking + _thinking(line)
        if "thinking" in _holder(line) and not _thinking(line):
            yield Finding("O5", "thinking is empty; leave it out", number)
    if thinking and seen.request.get("think") is False:
        yield Finding("O5", "thinking, though none was wanted")
    for mark in seen.marks:
        if mark in content or mark in thinking:
            yield Finding("O5", f"the mark {mark!r} in the text")


def _o06_reason(seen: _Seen) -> Iterator[Finding]:
    for number, line in seen.said:
        reason = line.get("done_reason")
        if line.get("done") and reason not in _WORDS:
            yield Finding("O6", f"the done_reason is {reason!r}", number)
        if not line.get("done") and reason:
            yield Finding("O6", "a done_reason before the end", number)


def _o07_error(seen: _Seen) -> Iterator[Finding]:
    for number, line in seen.errors:
        yield from check_ollama_error(line, number)
        if line is not seen.lines[-1][1]:
            yield Finding("O7", "a line after an error", number)


_RULES: Sequence[Callable[[_Seen], Iterator[Finding]]] = (
    _o02_lines,
    _o04_calls,
    _o05_thinking,
    _o06_reason,
    _o07_error,
)


# --- an answer's parts


def _holder(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where the text stands: the message of /api/chat, or the line itself."""
    return mapping(line["message"]) if "message" in line else line


def _content(line: Mapping[str, Any]) -> str:
    return text(_holder(line).get("content" if "message" in line else "response"))


def _thinking(line: Mapping[str, Any]) -> str:
    return text(_holder(line).get("thinking"))


def _calls(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return mappings(_holder(line).get("tool_calls"))


def _essence(call: Mapping[str, Any]) -> Any:
    """Name and arguments; ids are made anew for every answer."""
    function = mapping(call.get("function"))
    return function.get("name"), function.get("arguments")
