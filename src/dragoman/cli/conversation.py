"""A conversation with any server that speaks Chat Completions: one turn at a time, as events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from ..errors import UsageError
from ..events import Content, Event, Finish, Reasoning, Usage
from ..messages import Call, Turn
from ..protocols.chat_upstream import Reader
from ..syntax.decode import fold
from .remote import chunks, fetch

__all__ = ["Conversation", "Pace", "base"]


def base(url: str) -> str:
    """The root of a server's API, whatever path of it was given."""
    url = (url if "://" in url else f"http://{url}").rstrip("/")
    for path in ("/chat/completions", "/v1"):
        url = url.removesuffix(path)
    return url


@dataclass(slots=True)
class Pace:
    """How fast a turn came: seconds to its first piece and to its end, and its tokens (pieces, if nobody counted)."""

    first: float = 0.0
    total: float = 0.0
    tokens: int = 0

    def __str__(self) -> str:
        spent = self.total - self.first
        speed = f", {self.tokens / spent:.1f} tokens/s" if spent > 0 and self.tokens > 1 else ""
        return f"first after {self.first:.2f} s, {self.tokens} tokens{speed}"


@dataclass(slots=True)
class Conversation:
    """What was said so far, and who answers.

    Args:
        url: the root of the server's API.
        key: its API key.
        model: the model to ask.
        tools: those on offer, as the protocol spells them.
        settings: further fields of each request.
        messages: what was said.
    """

    url: str
    key: str = ""
    model: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    pace: Pace = field(default_factory=Pace)
    turn: Turn = field(default_factory=Turn)
    answer_id: str = ""

    def pick(self) -> str:
        """The model: the first that the server lists, if none was named.

        Raises:
            UsageError: it lists none, or not as others do.
        """
        if not self.model:
            self.model = _first(fetch(f"{self.url}/v1/models", self.key))
            if not self.model:
                raise UsageError(f"{self.url} lists no model; name one with --model")
        return self.model

    def ask(self) -> Iterator[Event]:
        """The answer to what was said, as it comes; it is part of the conversation once it is whole.

        Raises:
            UsageError: the server is not there, or refuses.
        """
        began, kept, reader = monotonic(), list[Event](), Reader(engine=self.url)
        self.pace, self.answer_id = Pace(), ""
        for event in self._events(reader):
            if isinstance(event, Content | Reasoning) or type(event).__name__.startswith("Call"):
                self.pace.first = self.pace.first or monotonic() - began
                self.pace.tokens += 1
            kept.append(event)
            yield event
        self.pace.total = monotonic() - began
        self._keep(kept)

    def _events(self, reader: Reader) -> Iterator[Event]:
        for data in chunks(f"{self.url}/v1/chat/completions", json.dumps(self._body()), self.key):
            if not self.answer_id:
                self.answer_id = _id(data)
            yield from reader.feed(data)
        yield from reader.close()

    def _body(self) -> dict[str, Any]:
        tools = {"tools": list(self.tools)} if self.tools else {}
        fixed = {"stream": True, "stream_options": {"include_usage": True}}
        return {"model": self.pick(), "messages": self.messages, **fixed, **tools, **self.settings}

    def _keep(self, events: Sequence[Event]) -> None:
        self.turn = turn = fold(events)
        if isinstance(turn.usage, Usage) and turn.usage.completion:
            self.pace.tokens = turn.usage.completion
        if turn.error is None and isinstance(events[-1] if events else None, Finish):
            self.messages.append(_message(turn))

    def results(self, given: Sequence[tuple[Call, str]]) -> None:
        """What the tools gave back."""
        self.messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in given]

    def notices(self) -> list[str]:
        """What the server noticed in the last turn, if it is one of ours."""
        with suppress(UsageError, ValueError):
            told = json.loads(fetch(f"{self.url}/dragoman/turns/{self.answer_id}", self.key))
            return [f"{one['code']}: {one['explained'][0]}" for one in told["explanation"]["notices"]]
        return []


def _first(listed: str) -> str:
    """The name of the first model in a list, "" if there is none."""
    with suppress(ValueError, TypeError, LookupError):
        name = json.loads(listed)["data"][0]["id"]
        return name if isinstance(name, str) else ""
    return ""


def _id(data: bytes) -> str:
    """The answer's id in the first bytes of a stream."""
    with suppress(ValueError, AttributeError):
        return str(json.loads(data.split(b"\n", 1)[0].removeprefix(b"data:")).get("id", ""))
    return ""


def _message(turn: Turn) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": turn.content or None}
    if calls := [call for call in turn.calls if call.complete]:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    if turn.reasoning:
        said["reasoning_content"] = turn.reasoning
    return said
