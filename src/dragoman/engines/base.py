"""What every engine is: a prompt goes in, batches of pieces come out, and an `End` at the end.

An engine never decodes a dialect.  Closing the iterator (or cancelling the task that reads it) stops the generation
and frees what it held.

An engine that talks (its attribute `talks` is true) is a server that takes conversations and decodes by itself.
It gets the `Request` and no prompt; its text comes as pieces, in which marks may have leaked, and what it has split off
(reasoning, calls) as events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import UnsupportedFeature
from ..events import Event
from ..pieces import Alternative, End, Piece

__all__ = [
    "Alternative",
    "End",
    "Engine",
    "Item",
    "ModelInfo",
    "Options",
    "Piece",
    "Progress",
    "Prompt",
    "Segment",
    "Token",
    "Tokenizer",
    "grammars",
    "schemas",
    "talks",
    "tokenizer",
    "voices",
]


@dataclass(slots=True)
class Segment:
    """A stretch of a prompt.

    `foreign`: text of users, tools or documents, never read as special tokens.
    `ids`: the tokens themselves; then `text` only tells what they spell.
    """

    text: str
    foreign: bool = False
    ids: Sequence[int] = ()


@dataclass(slots=True)
class Prompt:
    """A rendered prompt: segments of the template and of foreign text."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The whole prompt as one text."""
        return "".join(segment.text for segment in self.segments)


@dataclass(slots=True)
class Options:
    """How to generate.

    `limit`: tokens, None for no limit.  `grammar`: text by `form` (gbnf, lark, structural_tag, json_schema), or "".
    `around`: what stands before and behind the text under a JSON schema; the engine adds both.
    `sampling`: as in `Request.sampling`.  `logprobs`: alternatives per token, None for none.
    `marks`: special tokens that must arrive as text (the dialect's marks).  Stop strings are matched by us, never sent.
    """

    limit: int | None = None
    grammar: str = ""
    form: str = "gbnf"
    sampling: Mapping[str, Any] = field(default_factory=dict)
    logprobs: int | None = None
    marks: tuple[str, ...] = ()
    around: tuple[str, str] = ("", "")


@dataclass(slots=True)
class Progress:
    """The prompt is being evaluated: tokens done of tokens in all, of which `cached` were known."""

    done: int
    total: int
    cached: int = 0


Item = Piece | Progress | End | Event


@dataclass(slots=True)
class ModelInfo:
    """What is known of a served model.

    `template`: its chat template (Jinja), or "".  `specials`: mark -> token id, for all control and user-defined tokens.
    `context`: tokens per request, None if unknown.  `bos`/`eos`: texts of these tokens, for the template.
    `family`: its architecture, `size`: of its file in bytes; "" and 0 if unknown.
    `hint`: a text that tells its dialect but is no template of ours.
    `thinking`: its answers begin in reasoning that the engine leaves in the text, without its opening mark.
    `writes`, `embeds`: it writes text; it makes vectors, as far as is known.  `vision`: it is shown images.
    `partial`: `specials` holds only those that were looked for, there may be more.  `source`: where all this was found.
    """

    name: str
    dialect: str = ""
    template: str = ""
    specials: Mapping[str, int] = field(default_factory=dict)
    context: int | None = None
    bos: str = ""
    eos: str = ""
    created: int = 0
    family: str = ""
    size: int = 0
    hint: str = ""
    thinking: bool = False
    partial: bool = False
    source: str = ""
    writes: bool = True
    embeds: bool = False
    vision: bool = False


class Engine(Protocol):
    """Runs models.  All methods raise `EngineError` where the engine fails, never a foreign exception.

    An engine that runs only so many streams at once says so by an attribute `places`; the server keeps the queue.
    """

    name: str

    async def start(self) -> None:
        """Make it ready: load, connect, learn the model's metadata."""

    async def stop(self) -> None:
        """Release everything it opened."""

    async def models(self) -> Sequence[ModelInfo]:
        """The models it serves."""

    async def count(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt, None where it cannot tell."""

    def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate.  What was read together comes as one batch; the last item of the last batch is an `End`.

        `request` is the `Request` behind the prompt, for engines that choose by it (the script), serve several models
        (`request.model` is one of their names), or talk.

        Raises:
            RequestError: the prompt does not fit (code `context_length_exceeded`), or the grammar is refused.
            EngineError: it failed, also in the middle.
        """


@dataclass(slots=True)
class Token:
    """A token of a text: its id, and what it spells (bytes, as it may be half a character)."""

    id: int
    piece: bytes


class Tokenizer(Protocol):
    """What an engine that tells its tokens has as its attribute `tokenizer`; not every engine has one."""

    async def tokenize(self, text: str, *, special: bool = True, start: bool = False) -> Sequence[Token]:
        """The tokens of a text.  `special`: special tokens are read.  `start`: with what stands before every prompt."""

    async def spell(self, ids: Sequence[int]) -> str:
        """The text of tokens.

        Raises:
            RequestError: one of them is no token.
        """


def voices(engine: Engine) -> Sequence[Engine]:
    """Its models as engines of their own, where it has one for each (its attribute `voices`); else itself."""
    found: Sequence[Engine] | None = getattr(engine, "voices", None)
    return (engine,) if found is None else found


def talks(engine: Engine) -> bool:
    """Whether it takes conversations instead of prompts."""
    return bool(getattr(engine, "talks", False))


def schemas(engine: Engine) -> bool:
    """Whether a JSON schema for all that it writes is the only constraint it takes (its attribute `schemas`)."""
    return bool(getattr(engine, "schemas", False))


def grammars(engine: Engine) -> str:
    """The form of grammar it writes under (its attribute `grammars`): gbnf, lark, structural_tag, or "" for none."""
    return str(getattr(engine, "grammars", "gbnf"))


def tokenizer(engine: Engine) -> Tokenizer:
    """The engine's tokenizer.

    Raises:
        UnsupportedFeature: it has none (501).
    """
    found: Tokenizer | None = getattr(engine, "tokenizer", None)
    if found is None:
        problem = f"the engine ({engine.name}) does not tell the tokens of a text"
        raise UnsupportedFeature(problem, code="no_tokenizer", status=501)
    return found
