"""A turn, written as one Ollama answer: what the stream of the same turn adds up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..messages import Message, Reasoning, Request, Text, Turn
from . import wire
from .chat_messages import used_ids
from .chat_shape import CallIds, Token, failure
from .ollama_context import pack
from .ollama_request import Settings
from .ollama_shape import Form, call_shape, chat_form, counts, generate_form, head, idle, tokens, usual

__all__ = ["answer_chat", "answer_generate"]


def answer_chat(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    created: int,
    ids: Callable[[], str],
    model: str = "",
    logprobs: Sequence[Iterable[Token]] = (),
    extra: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The whole answer; the arguments are those of `ChatWriter`.  Without a turn it says that the model is loaded.

    Raises:
        Exception: the error that the turn ended with; a failed turn has no good-looking answer.
    """
    names = head(model or request.model, created)
    if not turns:
        return {**names, **chat_form(), **idle(settings.idle)}
    call_ids = CallIds(used_ids(request.messages), ids)
    whole = (call for call in turns[0].calls if call.complete)
    calls = [call_shape(place, call_ids.give(call.id), call.name, call.arguments) for place, call in enumerate(whole)]
    more = {"tool_calls": calls} if calls else {}
    return {**names, **_said(turns[0], chat_form, settings, more), **_end(turns[0], logprobs, extra)}


def answer_generate(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    created: int,
    model: str = "",
    logprobs: Sequence[Iterable[Token]] = (),
    extra: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The same for /api/generate."""
    names = head(model or request.model, created)
    if not turns:
        return {**names, **generate_form(), **idle(settings.idle)}
    context = {} if request.prompts else {"context": pack((*request.messages, _message(turns[0])))}
    return {**names, **_said(turns[0], generate_form, settings, {}), **context, **_end(turns[0], logprobs, extra)}


def _said(turn: Turn, form: Form, settings: Settings, more: Mapping[str, Any]) -> dict[str, Any]:
    if turn.finish in ("error", "cancelled"):
        raise turn.error or failure(turn.finish)
    thinking = _joined(turn, Reasoning) if settings.reasoning_field != "none" else ""
    return form(_joined(turn, Text), **({"thinking": thinking} if thinking else {}), **more)


def _joined(turn: Turn, kind: type[Reasoning | Text]) -> str:
    return wire.clean("\n".join(part.text for part in turn.parts if isinstance(part, kind) and part.text))


def _message(turn: Turn) -> Message:
    return Message("assistant", (Text(_joined(turn, Text)),))


def _end(turn: Turn, logprobs: Sequence[Iterable[Token]], extra: Mapping[str, Any] | None) -> dict[str, Any]:
    shown = {"logprobs": tokens(logprobs[0])} if logprobs else {}
    return {**counts(turn.finish, turn.usage, extra), **shown, **usual(extra)}
