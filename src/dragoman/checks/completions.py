"""The rules of the older Completions, streamed and whole: text alone, in the same object both times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .chat import check_usage
from .frames import check_frames, frames
from .rules import Finding
from .seen import mapping, mappings, number, text

__all__ = ["check_completions_answer", "check_completions_stream", "compare_completions"]

_WORDS = ("stop", "length", "content_filter")
_KEYS = ("id", "object", "created", "model", "choices")


def check_completions_stream(body: bytes, *, request: Mapping[str, Any] | None = None) -> list[Finding]:
    """Every rule that the bytes of a stream break; what depends on the request is looked at if it is given."""
    found = frames(body)
    chunks = [(frame.number, frame.json) for frame in found if isinstance(frame.json, dict)]
    failed = any("error" in chunk for _, chunk in chunks)
    said = [(frame, chunk) for frame, chunk in chunks if "error" not in chunk]
    broken = [finding for frame, chunk in said for finding in _object(chunk, frame)]
    done = [frame.number for frame in found if frame.is_done]
    ends = [] if failed else [*_ends(said), *_done(done), *_usage(said, request or {})]
    return [*check_frames(found), *broken, *ends]


def check_completions_answer(answer: Mapping[str, Any], *, request: Mapping[str, Any] | None = None) -> list[Finding]:
    """Every rule that a whole answer breaks."""
    ended = [Finding("L1", f"the finish_reason is {word!r}") for word in _finishes(answer) if word not in _WORDS]
    findings = [*_object(answer, None), *ended, *check_usage(answer.get("usage"))]
    prompts = (request or {}).get("prompt")
    count = len(prompts) if isinstance(prompts, list) and prompts and isinstance(prompts[0], str | list) else 1
    wanted = count * ((request or {}).get("n") or 1)
    if request and len(_finishes(answer)) != wanted:
        findings.append(Finding("C16", f"{len(_finishes(answer))} choices, asked for were {wanted}"))
    return findings


def compare_completions(stream: bytes, answer: Mapping[str, Any]) -> list[Finding]:
    """How a stream and an answer to the same request differ."""
    chunks = [frame.json for frame in frames(stream) if isinstance(frame.json, dict)]
    streamed, whole = _texts(chunks), _texts([answer])
    if streamed != whole:
        return [Finding("S8", f"the text is {streamed!r:.200} in the stream, {whole!r:.200} in the answer")]
    return []


def _object(chunk: Mapping[str, Any], frame: int | None) -> Iterator[Finding]:
    for key in _KEYS:
        if key not in chunk:
            yield Finding("L1", f"no {key}", frame)
    if chunk.get("object") != "text_completion":
        yield Finding("L1", f"the object is {chunk.get('object')!r}", frame)
    for choice in mappings(chunk.get("choices")):
        if not isinstance(choice.get("text"), str):
            yield Finding("L1", f"the text is {choice.get('text')!r}", frame)
        for key in ("index", "finish_reason"):
            if key not in choice:
                yield Finding("L1", f"a choice without {key}", frame)


def _finishes(chunk: Mapping[str, Any]) -> list[Any]:
    return [choice.get("finish_reason") for choice in mappings(chunk.get("choices"))]


def _ends(chunks: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Finding]:
    ends = [word for _, chunk in chunks for word in _finishes(chunk) if word is not None]
    if not ends:
        yield Finding("L1", "no choice has a finish_reason")
    for word in ends:
        if word not in _WORDS:
            yield Finding("L1", f"the finish_reason is {word!r}")


def _usage(chunks: Sequence[tuple[int, Mapping[str, Any]]], request: Mapping[str, Any]) -> Iterator[Finding]:
    told = [frame for frame, chunk in chunks if chunk.get("usage")]
    if not mapping(request.get("stream_options")).get("include_usage"):
        if request and told:
            yield Finding("C13", "usage that nobody asked for", told[0])
    elif told != [frame for frame, _ in chunks][-1:]:
        yield Finding("C13", f"usage in {len(told)} chunks, not in the last one alone")


def _done(done: list[int]) -> Iterator[Finding]:
    if len(done) != 1:
        yield Finding("C15", f"{len(done)} times [DONE]")


def _texts(chunks: list[Any]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for chunk in chunks:
        for choice in mappings(chunk.get("choices")):
            index = number(choice.get("index"))
            texts[index] = texts.get(index, "") + text(choice.get("text"))
    return texts
