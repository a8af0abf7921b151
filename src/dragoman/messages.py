"""What was asked, and what was answered as a whole: messages, tools, requests and turns.

A `Turn` is the fold of one turn's events; its parts are those of an assistant `Message`,
so an answer can be put back into a conversation as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .events import Notice, Usage

__all__ = [
    "Call",
    "Grammar",
    "Media",
    "Message",
    "Part",
    "Raw",
    "Reasoning",
    "Request",
    "Result",
    "Text",
    "Tool",
    "Turn",
]


@dataclass(slots=True)
class Text:
    """Text of a message.  `phase`: as in `events.Content`."""

    text: str
    phase: str = ""


@dataclass(slots=True)
class Media:
    """An image, sound or file: a URL (also `data:`), its MIME type if known, and its name if it has one."""

    kind: str
    url: str
    mime: str = ""
    name: str = ""


@dataclass(slots=True)
class Reasoning:
    """The model's thinking in a message; `signature` is ours, given out and taken back."""

    text: str
    signature: str = ""


@dataclass(slots=True)
class Call:
    """A tool call: `arguments` is JSON text, verbatim where it is not `valid`.

    `complete`, `valid` and `missing`: as in `events.CallEnd`.
    """

    name: str
    arguments: str = "{}"
    id: str = ""
    complete: bool = True
    valid: bool = True
    missing: str = ""


@dataclass(slots=True)
class Result:
    """What a tool gave back to the call `id` of the tool `name`."""

    id: str
    parts: tuple[Part, ...] = ()
    name: str = ""
    error: bool = False


Part = Text | Media | Reasoning | Call | Result


@dataclass(slots=True)
class Message:
    """One message: its role (system, user, assistant or tool) and its parts in order."""

    role: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the input of a free-text tool must match: its `syntax` is lark or regex; `param`: where it stood."""

    syntax: str
    definition: str
    param: str = ""


@dataclass(slots=True)
class Tool:
    """A tool on offer.

    `parameters` is a JSON Schema; `kind` is `function` or `custom` (one free text, which may have a `grammar`).
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False
    kind: str = "function"
    grammar: Grammar | None = None


@dataclass(slots=True)
class Raw:
    """A prompt that goes to the model as it is: a text, or the ids of its tokens (then `text` is what they spell)."""

    text: str = ""
    ids: tuple[int, ...] = ()


@dataclass(slots=True)
class Request:
    """One request, whatever protocol it came by.

    `choice`: auto, none, required, or `name:NAME` for one tool.  `limit`: tokens to generate, None for no limit.
    `schema`: a JSON Schema for the answer ({} for any JSON object, None for free text).
    `thinking`: None for the model's default, False, True, or an effort (minimal, low, medium, high).
    `sampling`: temperature, top_p, top_k, min_p, seed, penalties ... by llama.cpp's names.
    `logprobs`: None, or how many alternatives a token shows.
    `template_kwargs`: further variables for the chat template.
    `continue_last`: the last message is the beginning of the answer.
    `prompts`: instead of messages; `n` answers to each of them, in which nothing is decoded.
    """

    model: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    parallel: bool = True
    limit: int | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    thinking: bool | str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1
    logprobs: int | None = None
    template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    continue_last: bool = False
    prompts: tuple[Raw, ...] = ()


@dataclass(slots=True)
class Turn:
    """A whole turn: its parts in order (`Reasoning`, `Text`, `Call`), why it ended, and what was noticed."""

    parts: tuple[Reasoning | Text | Call, ...] = ()
    finish: str = "stop"
    stop: str = ""
    notices: tuple[Notice, ...] = ()
    usage: Usage | None = None
    error: Exception | None = None

    @property
    def reasoning(self) -> str:
        """All thinking, its blocks joined with a newline."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Reasoning))

    @property
    def content(self) -> str:
        """All of the answer's text, its blocks joined with a newline."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls in order, cut ones included."""
        return tuple(part for part in self.parts if isinstance(part, Call))
