"""Turns, written as one Chat Completions answer: what the stream of the same turns adds up to, cut calls left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ..messages import Call, Reasoning, Request, Text, Turn
from . import wire
from .chat_messages import used_ids
from .chat_request import Settings
from .chat_shape import (
    CallIds,
    Joints,
    Token,
    extras,
    failure,
    finish_word,
    logprobs_shape,
    named_word,
    reasoning_keys,
    usage_shape,
)

__all__ = ["answer"]

_TAKEN = ("id", "object", "created", "model", "choices", "usage", "error")


def answer(
    turns: Sequence[Turn],
    request: Request,
    settings: Settings,
    *,
    answer_id: str,
    created: int,
    ids: Callable[[], str],
    model: str = "",
    logprobs: Sequence[Iterable[Token]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The whole answer; the arguments are those of `Writer`, one turn (and its log probabilities) for each choice.

    Raises:
        Exception: the error that a turn ended with; a failed turn has no good-looking answer.
    """
    call_ids = CallIds(used_ids(request.messages), ids)
    custom = {tool.name for tool in request.tools if tool.kind == "custom"}
    choices = [_choice(index, turn, request, settings, call_ids, custom) for index, turn in enumerate(turns)]
    for choice, tokens in zip(choices, logprobs, strict=False):
        choice["logprobs"] = logprobs_shape(tokens)
    return {
        "id": answer_id,
        "object": "chat.completion",
        "created": created,
        "model": model or request.model,
        "choices": choices,
        "usage": usage_shape(turn.usage for turn in turns),
        **extras(extra, _TAKEN),
    }


def _choice(
    index: int, turn: Turn, request: Request, settings: Settings, ids: CallIds, custom: Collection[str]
) -> dict[str, Any]:
    if turn.finish in ("error", "cancelled"):
        raise turn.error or failure(turn.finish)
    calls = [call for call in turn.calls if call.complete]
    named = named_word(request.choice, settings.finish_reason_named)
    word = finish_word(turn.finish, called=bool(calls), functions=settings.functions, named=named)
    message = {**_texts(turn, settings), **_calls(calls, settings, ids, custom)}
    if calls and not message["content"]:
        message["content"] = None
    stop = {"stop_reason": wire.clean(turn.stop)} if turn.stop else {}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": word, **stop}


def _texts(turn: Turn, settings: Settings) -> dict[str, Any]:
    """The role and all text of a message, joined as the stream joins it."""
    joints = Joints(inline=settings.reasoning_field == "inline")
    keys = {"reasoning": reasoning_keys(settings.reasoning_field), "content": ("content",), "refusal": ("refusal",)}
    texts: dict[str, str] = {"content": ""}
    for number, part in enumerate(turn.parts):
        if isinstance(part, Call):
            texts["content"] += joints.leave()
            continue
        kind = _kind(part)
        text = joints.before(kind, number) + part.text if part.text else ""
        for key in keys[kind] if text else ():
            texts[key] = texts.get(key, "") + wire.clean(text)
    texts["content"] += joints.leave()
    return {"role": "assistant", "refusal": None, **texts}


def _kind(part: Reasoning | Text) -> str:
    if isinstance(part, Reasoning):
        return "reasoning"
    return "refusal" if part.phase == "refusal" else "content"


def _calls(calls: Sequence[Call], settings: Settings, ids: CallIds, custom: Collection[str]) -> dict[str, Any]:
    if not calls:
        return {}
    if settings.functions:
        return {"function_call": _function(calls[0])}
    return {"tool_calls": [_call(call, ids, custom) for call in calls]}


def _call(call: Call, ids: CallIds, custom: Collection[str]) -> dict[str, Any]:
    free = _free_text(call) if call.name in custom else None
    if free is not None:
        return {"id": ids.give(call.id), "type": "custom", "custom": {"name": call.name, "input": free}}
    return {"id": ids.give(call.id), "type": "function", "function": _function(call)}


def _function(call: Call) -> dict[str, str]:
    return {"name": wire.clean(call.name), "arguments": wire.clean(call.arguments) or "{}"}


def _free_text(call: Call) -> str | None:
    """The input of a custom tool, None if the model did not write it as one."""
    try:
        arguments = wire.load(call.arguments)
    except ValueError:
        return None
    text = arguments.get("input") if isinstance(arguments, dict) else None
    return wire.clean(text) if isinstance(text, str) else None
