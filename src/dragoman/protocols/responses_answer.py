"""A turn, written as one response: the last word of the stream that the same turn makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Usage
from ..events import Reasoning as Thinking
from ..messages import Call, Reasoning, Request, Text, Turn
from .chat_shape import Token, failure
from .responses_request import Settings
from .responses_stream import Writer

__all__ = ["answer", "rewrite"]


def answer(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    answer_id: str,
    created: int,
    ids: Callable[[], str],
    model: str = "",
    now: Callable[[], float] | None = None,
    logprobs: Sequence[Iterable[Token]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole response; the arguments are those of `Writer`, and the turn with its log probabilities.

    Raises:
        Exception: the error that the turn ended with; a failed turn has no good-looking answer.
    """
    facts: dict[str, Any] = {"answer_id": answer_id, "created": created, "ids": ids, "model": model, "now": now}
    writer = Writer(request, settings, **facts)
    rewrite(writer, turns[0], next(iter(logprobs), ()), extra)
    return writer.response


def rewrite(
    writer: Writer, turn: Turn, logprobs: Iterable[Token] = (), extra: Mapping[str, Any] | None = None
) -> bytes:
    """A turn as the frames of its stream, each text in one delta."""
    if turn.finish in ("error", "cancelled"):
        raise turn.error or failure(turn.finish)
    tokens = list(logprobs)
    frames = []
    for event in _events(turn):
        shown = _tokens_of(event.text, tokens) if isinstance(event, Content) else ()
        frames.append(writer.write([event], 0, shown))
    return b"".join([*frames, writer.close(extra)])


def _events(turn: Turn) -> Iterator[Event]:
    for number, part in enumerate(turn.parts):
        if isinstance(part, Call):
            yield CallStart(number, part.id, part.name, number)
            yield CallArgs(number, part.arguments)
            yield CallEnd(number, part.complete, part.valid, part.missing)
        elif isinstance(part, Reasoning):
            yield Thinking(part.text, part=number)
        elif isinstance(part, Text):
            yield Content(part.text, part=number, phase=part.phase)
    yield turn.usage or Usage()
    yield Finish(turn.finish, turn.stop, turn.error)


def _tokens_of(text: str, tokens: list[Token]) -> list[Token]:
    """Take as many tokens as the text is long."""
    taken, length = [], 0
    while tokens and length < len(text):
        taken.append(tokens.pop(0))
        length += len(taken[-1].token)
    return taken
