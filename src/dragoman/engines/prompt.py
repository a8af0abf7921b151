"""A request becomes a prompt: by the model's own chat template, or in the dialect's words where it has none.

Three steps.  The messages are made ready: results in the order of their calls, special tokens that users, tools and
models spelled out hidden behind private-use characters.  The template renders them; what it does not know (tools,
calls, results) is written in the dialect's own words.  At last the private-use characters become foreign segments.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import RequestError
from ..messages import Message, Reasoning, Request, Text
from ..syntax.dialect import Dialect
from ..syntax.template import marks, split
from . import jinja, own
from .ability import Abilities, abilities
from .base import ModelInfo, Prompt
from .conversation import declared, entries
from .foreign import Disguise, Spellings, shaped
from .history import hidden, joined, named, ordered, reasoning, texts

__all__ = ["render", "suspects"]

_EFFORTS = {"minimal": "low"}  # templates know low, medium and high


def render(request: Request, model: ModelInfo, dialect: Dialect) -> Prompt:
    """The prompt for a request.

    Raises:
        RequestError: the template refuses the messages, or they hold what the model cannot read.
        EngineError: the template is broken.
    """
    request = replace(request, messages=named(request.messages))
    special = tuple(model.specials) or (*dialect.special, *dialect.ends)
    disguise = Disguise(Spellings(special), _texts(request, model))
    job = _Job(request, model, dialect, disguise)
    return disguise.reveal(job.continued() if request.continue_last else job.text(job.messages))


def suspects(request: Request) -> list[str]:
    """What in a request has the shape of a special token, for engines that do not tell all of theirs."""
    return shaped(_given(replace(request, messages=named(request.messages))))


class _Job:
    """One rendering."""

    def __init__(self, request: Request, model: ModelInfo, dialect: Dialect, disguise: Disguise) -> None:
        self.request, self.model, self.dialect, self.disguise = request, model, dialect, disguise
        kept = _reasoning_marks(dialect)
        self.messages = [hidden(message, disguise, kept) for message in ordered(request.messages)]
        offered = () if request.choice == "none" else request.tools
        self.tools = [disguise.hide_in(declared(tool)) for tool in offered]

    def text(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the model begins to write."""
        if self.model.template:
            return self.rendered(messages, ask=True)
        return own.conversation(own.told(messages, self.dialect, self.tools), self.dialect)

    def continued(self) -> str:
        """The prompt, up to the end of what the model is to continue."""
        last = self.beginning()
        is_text = isinstance(last.parts[-1], Text)
        if self.model.template and is_text:
            stand = self.disguise.stand()
            marked = Message(last.role, (*last.parts[:-1], Text(joined(last.parts[-1:]) + stand)))
            text, found, _ = self.rendered([*self.messages[:-1], marked], ask=False).partition(stand)
            if found:
                return text
        base = self.text(self.messages[:-1])
        if is_text:
            return base + own.said(self.dialect, last.parts, prompt=base)
        opener = split(self.dialect.reasoning)[0] if self.dialect.reasoning else ""
        return base + ("" if base.rstrip().endswith(opener.strip()) else opener) + reasoning(last.parts)

    def beginning(self) -> Message:
        """The message to continue: only the marks that would end it are hidden in it."""
        last = ordered(self.request.messages)[-1:]
        if not last or last[0].role != "assistant" or not isinstance(last[0].parts[-1], Text | Reasoning):
            raise RequestError("only a last message of the assistant that is text can be continued", param="messages")
        return hidden(last[0], self.disguise, frozenset(self.model.specials) - frozenset(self.dialect.ends))

    def rendered(self, messages: Sequence[Message], *, ask: bool) -> str:
        """The template's rendering; without its reasoning if it refuses to show that."""
        able, tools = abilities(self.model.template), self.tools
        if not able.tools:
            messages, tools = own.told(messages, self.dialect, tools), []
        if not (able.tools and able.arguments):
            messages = own.written(messages, self.dialect, able)
        try:
            return self.filled(messages, tools, able, ask=ask)
        except RequestError:
            if not any(reasoning(message.parts) for message in messages):
                raise
            plain = [Message(message.role, _without_reasoning(message)) for message in messages]
            return self.filled(plain, tools, able, ask=ask)

    def filled(self, messages: Sequence[Message], tools: Sequence[Any], able: Abilities, *, ask: bool) -> str:
        model = self.model
        variables = {
            **_thinking(self.request.thinking),
            **self.extra(),
            "messages": entries(messages, able, model.template),
            "tools": tools or None,
            "add_generation_prompt": ask,
            "bos_token": model.bos,
            "eos_token": model.eos,
        }
        return jinja.render(model.template, variables)

    def extra(self) -> Mapping[str, Any]:
        """Variables of the request's own; documents are foreign text."""
        given = dict(self.request.template_kwargs)
        return {**given, "documents": self.disguise.hide_in(given["documents"])} if "documents" in given else given


def _texts(request: Request, model: ModelInfo) -> Iterator[str]:
    yield model.template
    yield from _given(request)


def _given(request: Request) -> Iterator[str]:
    yield from texts(request.messages)
    for tool in request.tools:
        yield json.dumps(declared(tool), ensure_ascii=False, default=str)
    yield json.dumps(dict(request.template_kwargs), ensure_ascii=False, default=str)


def _reasoning_marks(dialect: Dialect) -> frozenset[str]:
    """Templates look for these in the assistant's text, to drop old thinking."""
    if not dialect.reasoning:
        return frozenset()
    before, _, after = split(dialect.reasoning)
    return frozenset(marks(before) + marks(after))


def _thinking(wanted: bool | str | None) -> dict[str, Any]:
    """The switches that templates know, under all their names."""
    if wanted is None:
        return {}
    switch = {"enable_thinking": bool(wanted), "thinking": bool(wanted)}
    return {**switch, "reasoning_effort": _EFFORTS.get(wanted, wanted)} if isinstance(wanted, str) else switch


def _without_reasoning(message: Message) -> tuple[Any, ...]:
    return tuple(part for part in message.parts if not isinstance(part, Reasoning))
