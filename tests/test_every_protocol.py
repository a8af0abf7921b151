"""Every case of the corpus in every protocol, streamed and whole: no rule is broken, both say the same, the SDKs agree.

The events are those of a whole generation, as the server makes them: in pieces as they came, and in single characters.
Every frame is read by the types of the protocol's own SDK, strictly.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

import corpus
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from corpus import Case
from ollama import ChatResponse
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel
from streams import singly

from dragoman import api, checks
from dragoman.engines.base import End, Piece
from dragoman.events import CallEnd, Content, Event, Finish, Usage
from dragoman.generation import Generation
from dragoman.messages import Raw, Request
from dragoman.protocols import chat, completions, messages_api, ollama, responses, wire
from dragoman.syntax.decode import Policy
from dragoman.syntax.fold import fold

CASES = corpus.everything()
DIALECTS = sorted({case.dialect for case in CASES})


@dataclass(frozen=True)
class Protocol:
    """A protocol, the checks of it, and the types of its SDK."""

    module: Any
    frame: Callable[[bytes], Any]
    whole: type[BaseModel]
    check_stream: Callable[..., Sequence[Any]]
    check_answer: Callable[..., Sequence[Any]]
    compare: Callable[..., Sequence[Any]]
    asked: dict[str, Any] = field(default_factory=dict)
    settings: tuple[dict[str, Any], ...] = ({},)


def strictly(model: type[BaseModel]) -> Callable[[bytes], Any]:
    """Read a frame as this type."""
    return partial(model.model_validate_json, strict=True)


def one_of(union: Any) -> Callable[[bytes], Any]:
    """Read a frame as the one of these types that its `type` names; pydantic would try all of them."""
    kinds = {get_args(kind.model_fields["type"].annotation)[0].encode(): kind for kind in get_args(get_args(union)[0])}
    name = re.compile(rb'"type":"([^"]+)"')
    return lambda frame: kinds[name.search(frame)[1]].model_validate_json(frame, strict=True)  # type: ignore[index]


def unfinished(frame: bytes) -> Any:
    """The type of a chunk of text says that every chunk ends its choice; the API itself sends null until the end."""
    return strictly(Completion)(frame.replace(b'"finish_reason":null', b'"finish_reason":"stop"'))


HELD = {"tool_arguments": "buffered"}
USAGE = {"include_usage": True}
PROTOCOLS = {
    "chat": Protocol(
        chat, strictly(ChatCompletionChunk), ChatCompletion,
        checks.check_chat_stream, checks.check_chat_answer, checks.compare,
        {"stream_options": USAGE}, (USAGE, {**USAGE, **HELD}, {**USAGE, "reasoning_field": "inline"}),
    ),
    "responses": Protocol(
        responses, one_of(ResponseStreamEvent), Response,
        checks.check_responses_stream, checks.check_response, checks.compare_responses,
        {}, ({}, HELD),
    ),
    "messages": Protocol(
        messages_api, one_of(RawMessageStreamEvent), Message,
        checks.check_messages_stream, checks.check_messages_answer, checks.compare_messages,
        {}, ({"key": b"k"}, {"key": b"k", "thinking": "omitted"}),
    ),
    "ollama": Protocol(
        ollama, strictly(ChatResponse), ChatResponse,
        checks.check_ollama_stream, checks.check_ollama_answer, checks.compare_ollama,
    ),
    "completions": Protocol(
        completions, unfinished, Completion,
        checks.check_completions_stream, checks.check_completions_answer, checks.compare_completions,
        {"stream_options": USAGE}, (USAGE,),
    ),
}  # fmt: skip


def named() -> Callable[[], str]:
    """Makes one new id after the other."""
    numbers = itertools.count()
    return lambda: f"call_{next(numbers)}"


def generated(case: Case, pieces: Sequence[tuple[str, bool]]) -> list[Event]:
    """All events of the case's generation."""
    asked = Request(tools=case.tools or (), stop=case.stop, parallel=case.parallel)
    policy = Policy(**case.policy)
    made = Generation(api.get(case.dialect), asked, case.prompt, None, policy=policy, ids=named())
    events = [event for text, special in pieces for event in made.feed(Piece(text, special=special))]
    return events + made.close(End(case.finish, 3, len(pieces)))


def raw(case: Case) -> list[Event]:
    """The same text where nothing is decoded."""
    pieces: list[Event] = [Content(text) for text, _ in case.pieces]
    reason = "length" if case.finish == "length" else "stop"
    return [*pieces, Usage(3, len(case.pieces)), Finish(reason)]


def frames(name: str, body: bytes) -> Iterator[bytes]:
    """The JSON of each frame."""
    for line in body.split(b"\n"):
        if name == "ollama" and line:
            yield line
        elif line.startswith(b"data: {"):
            yield line[6:]


def problems(name: str, events: Sequence[Event], how: dict[str, Any]) -> Iterator[Any]:
    """Everything that is wrong with what a protocol makes of a turn."""
    protocol = PROTOCOLS[name]
    settings = protocol.module.Settings(**how)
    request = Request("m", limit=1, prompts=(Raw("x"),) if name == "completions" else ())
    facts: dict[str, Any] = {"answer_id": "resp_1", "created": 7, "ids": named()}
    writer = protocol.module.Writer(request, settings, **facts)
    body = writer.write([Usage(3)] if writer.counts else [])
    body += b"".join(writer.write([event]) for event in events) + writer.close({"timings": {"n": 1}})
    whole = protocol.module.answer([fold(events)], request, settings, **facts, extra={"timings": {"n": 1}})
    answer = json.loads(wire.dump(whole))
    for frame in frames(name, body):
        protocol.frame(frame)
    protocol.whole.model_validate_json(wire.dump(whole), strict=True)
    yield from protocol.check_stream(body, request=protocol.asked)
    yield from protocol.check_answer(answer, request=protocol.asked)
    yield from protocol.compare(body, answer)


def is_known(finding: Any, events: Sequence[Event]) -> bool:
    """Arguments that are no JSON are given as the model wrote them, and the call says so."""
    broken = any(isinstance(event, CallEnd) and not event.valid for event in events)
    return broken and finding.rule in ("C9", "C22", "R9", "M7")


@pytest.mark.must("S8")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_rule_is_broken_and_the_sdks_agree(dialect: str, name: str) -> None:
    for case in CASES:
        if case.dialect != dialect:
            continue
        ways = (
            [raw(case)] if name == "completions" else [generated(case, p) for p in (case.pieces, singly(case.pieces))]
        )
        for events in ways:
            for how in PROTOCOLS[name].settings if events is ways[0] else PROTOCOLS[name].settings[:1]:
                found = [finding for finding in problems(name, events, how) if not is_known(finding, events)]
                assert not found, (case.title, how, [str(finding) for finding in found])
