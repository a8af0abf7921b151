"""What a Chat Completions stream and a whole answer have in common, so that they cannot differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..errors import Broken, Cancelled, DragomanError
from ..events import Usage
from . import wire
from .call_ids import wire_id

__all__ = [
    "CallIds",
    "Joints",
    "Token",
    "extras",
    "failure",
    "finish_word",
    "logprobs_shape",
    "named_word",
    "reasoning_keys",
    "usage_shape",
]

_LEAST = -9999.0  # what stands for a probability of zero


class Token(Protocol):
    """A token with its log probability and the tokens beside it (see `engines.base.Alternative`)."""

    @property
    def token(self) -> str:
        """Its text."""

    @property
    def logprob(self) -> float:
        """The natural logarithm of its probability."""

    @property
    def bytes(self) -> Sequence[int]:
        """Its bytes, empty if not known."""

    @property
    def top(self) -> Sequence[Token]:
        """The likeliest tokens at its place."""


class CallIds:
    """Ids of calls as clients see them: the model's own, if need be in other characters, else one that `make` gives.

    One that the conversation has already is never given again.
    """

    def __init__(self, used: Collection[str], make: Callable[[], str]) -> None:
        self._used, self._make = set(used), make

    def give(self, own: str) -> str:
        """The id for a call that the model itself calls `own` ("" for no name)."""
        given = wire_id(own)
        if not given or given in self._used:
            given = self._make()
        self._used.add(given)
        return given


class Joints:
    """What stands between the blocks of an answer: a newline between two of one kind.

    Reasoning that is written inline stands between tags, in the content.
    """

    def __init__(self, *, inline: bool = False) -> None:
        self._inline = inline
        self._seen: set[str] = set()
        self._block: tuple[str, int] | None = None
        self._thinking = False

    def before(self, kind: str, part: int) -> str:
        """What goes before text of this kind (content, reasoning, refusal) and part."""
        begins = (kind, part) != self._block
        self._block = kind, part
        if self._inline and kind != "refusal":
            return self._tagged(kind, begins=begins)
        joint = "\n" if begins and kind in self._seen else ""
        self._seen.add(kind)
        return joint

    def leave(self) -> str:
        """What goes into the content before a call and at the end."""
        closing = "\n</think>" if self._thinking else ""
        self._thinking, self._block = False, None
        return closing

    def _tagged(self, kind: str, *, begins: bool) -> str:
        joint = "\n" if begins and "content" in self._seen else ""
        self._seen.add("content")
        if kind == "reasoning" and not self._thinking:
            self._thinking = True
            return joint + "<think>\n"
        if kind != "reasoning" and self._thinking:
            self._thinking = False
            return "\n</think>\n\n"
        return joint


def reasoning_keys(field: str) -> tuple[str, ...]:
    """The names that reasoning goes by, for a `Settings.reasoning_field`."""
    both = ("reasoning_content", "reasoning")
    return {"both": both, "none": (), "inline": ("content",)}.get(field, (field,))


def finish_word(reason: str, *, called: bool, functions: bool = False, named: str = "tool_calls") -> str:
    """The `finish_reason`: the limit always wins, then a whole call, then stop.

    `named`: the word for a call that the request named, where it did.
    """
    if reason == "length":
        return "length"
    if reason == "filter":
        return "content_filter"
    if called and named != "stop":
        return "function_call" if functions else "tool_calls"
    return "stop"


def named_word(choice: str, word: str) -> str:
    """`word` (a `Settings.finish_reason_named`) where the choice names a tool."""
    return word if choice.startswith("name:") else "tool_calls"


def failure(reason: str) -> DragomanError:
    """The error of a turn that failed (error, cancelled) without saying why."""
    return Cancelled("the request was cancelled") if reason == "cancelled" else Broken("the answer failed")


def usage_shape(usages: Iterable[Usage | None]) -> dict[str, Any]:
    """The usage of all choices together: they share the prompt.  What is unknown counts as 0."""
    known = [usage for usage in usages if usage is not None]
    prompt = max((usage.prompt or 0 for usage in known), default=0)
    completion = sum(usage.completion or 0 for usage in known)
    cached = max((usage.cached or 0 for usage in known), default=0)
    reasoning = sum(usage.reasoning or 0 for usage in known)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": min(cached, prompt)},
        "completion_tokens_details": {"reasoning_tokens": min(reasoning, completion)},
    }


def logprobs_shape(tokens: Iterable[Token]) -> dict[str, Any]:
    """The `logprobs` of a choice."""
    content = [{**_token(token), "top_logprobs": [_token(other) for other in token.top]} for token in tokens]
    return {"content": content, "refusal": None}


def extras(extra: Mapping[str, Any] | None, taken: Collection[str]) -> dict[str, Any]:
    """Further facts that ride along, without those that would hide one of the answer's own."""
    return {key: value for key, value in (extra or {}).items() if key not in taken}


def _token(token: Token) -> dict[str, Any]:
    text = wire.clean(token.token)
    return {"token": text, "logprob": max(token.logprob, _LEAST), "bytes": list(token.bytes or text.encode())}
