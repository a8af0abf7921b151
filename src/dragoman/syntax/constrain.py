"""Constrain: a dialect and its tools to a grammar under which a model writes only valid calls.

A turn is, in this order

    reasoning    once, if the prompt left room for it; in full where the prompt opened it already
    content      text without any mark that means something (only where the choice is left to the model)
    calls        one, or several as the dialect puts them one behind the other

or, where no call is wanted, an answer in place of content and calls: text, or JSON by a schema.
A named tool is called once, and no turn holds more than `MOST` calls: a small model repeats itself until it is stopped.
Reasoning that the prompt did not open is on offer only if the tokenizer, where it is known, has the mark for it: a
model that never learned to think would never come to an end.
White space is what the templates write.  In a framed dialect each of these is a message, and what begins a message
stands between two.

Marks that end a turn are in no grammar: an engine takes its end token whenever the grammar is through, and fails if
the grammar asks for it.  So the last mark of a framed message is left out, as is that of a call where it is a special
token (it ends the turn for the engine, which is why there is only one call then).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import UsageError
from ..messages import Tool
from .dialect import Dialect
from .document import document
from .extent import check_extent, check_length, together
from .gbnf import gbnf
from .grammar import NEVER, Node, Rule, alt
from .lark import lark
from .parts import MOST, Calls, Parts
from .schema import value
from .structural import structural_tag
from .suffix import suffixed

__all__ = ["FORMS", "MOST", "constrain", "grammar"]


def constrain(
    dialect: Dialect,
    tools: Iterable[Tool],
    choice: str = "auto",
    *,
    form: str = "gbnf",
    prompt: str = "",
    specials: Mapping[str, int] | None = None,
    parallel: bool = True,
    reasoning: bool = True,
    schema: Mapping[str, Any] | None = None,
) -> str:
    """The grammar as text.

    Args:
        dialect: what the model writes.
        tools: the tools on offer.
        choice: auto, required, none, or `name:NAME` for one tool.
        form: gbnf (llama.cpp), lark (llguidance), structural_tag (xgrammar: vLLM, SGLang), or json_schema, for calls and
            answers that are one JSON document.
        prompt: the rendered prompt; it may have opened or closed the reasoning.
        specials: mark -> token id; such marks are written as tokens.
        parallel: whether there may be more than one call; a named tool is called once.
        reasoning: whether reasoning may come first.
        schema: a JSON Schema for an answer that is no call ({} for any object).

    Raises:
        UsageError: an argument is wrong, a tool's schema admits no arguments or is too large, or the turn has no such form.
    """
    if form not in FORMS:
        raise UsageError(f"grammar form {form!r}: use one of {', '.join(FORMS)}")
    dialect = suffixed(dialect, specials, prompt, "")
    asked = _Asked(dialect, list(tools), choice, prompt, specials or {}, parallel, reasoning, schema)
    with together():
        return check_length(FORMS[form](asked))


def grammar(
    dialect: Dialect,
    tools: Iterable[Tool],
    choice: str = "auto",
    *,
    prompt: str = "",
    specials: Mapping[str, int] | None = None,
    parallel: bool = True,
    reasoning: bool = True,
    schema: Mapping[str, Any] | None = None,
) -> Node:
    """The grammar of one turn, as a tree (arguments and errors as for `constrain`)."""
    dialect = suffixed(dialect, specials, prompt, "")
    asked = _Asked(dialect, list(tools), choice, prompt, specials or {}, parallel, reasoning, schema)
    with together():
        return asked.node()


@dataclass
class _Asked:
    """What was asked for (as for `constrain`), and the parts that it leads to."""

    dialect: Dialect
    tools: list[Tool]
    choice: str
    prompt: str
    specials: Mapping[str, int]
    parallel: bool
    reasoning: bool
    schema: Mapping[str, Any] | None
    chosen: list[Tool] = field(init=False)
    parts: Parts = field(init=False)

    def __post_init__(self) -> None:
        self.chosen = _chosen(self.tools, self.choice)
        named = [(f"the schema of the tool {tool.name!r}", tool.parameters) for tool in self.chosen]
        check_extent([*named, ("the schema of the answer", self.schema)])
        if self.chosen and not self.dialect.forms:
            raise UsageError(f"{self.dialect.name} has no way to write a call")
        self.parts = Parts(self.dialect, self.prompt, self.specials, reasoning=self.reasoning)

    @cached_property
    def calls(self) -> Calls | None:
        """The calls, None where none may be."""
        return self.parts.calls(self.chosen, parallel=self.many) if self.chosen else None

    @property
    def many(self) -> bool:
        """Whether there may be more than one call."""
        return self.parallel and not self.choice.startswith("name:")

    def node(self) -> Node:
        """The whole turn."""
        return self.turn(self.calls.node() if self.calls else NEVER)

    def turn(self, calls: Node) -> Node:
        """The whole turn around its calls."""
        if self.choice not in ("auto", "none"):
            return self.parts.after_reasoning(calls)
        if self.schema is not None:
            return self.parts.after_reasoning(alt(self.parts.answer(_json(self.schema)), calls))
        return self.parts.freely(calls)


def _json(schema: Mapping[str, Any]) -> Node:
    node = value(schema or {"type": "object"})
    if node == NEVER:
        raise UsageError("the schema of the answer admits no value")
    return node


def _chosen(tools: Sequence[Tool], choice: str) -> list[Tool]:
    """The tools that may be called."""
    kind, _, name = choice.partition(":")
    if choice == "none":
        return []
    if choice not in ("auto", "required") and not (kind == "name" and name):
        raise UsageError(f"tool choice {choice!r}: use auto, required, none, or name:NAME")
    chosen = [tool for tool in tools if not name or tool.name == name]
    if not chosen and choice != "auto":
        offered = ", ".join(tool.name for tool in tools) or "none"
        lacking = f"no tool is named {name!r}" if name else f"tool choice {choice!r} needs a tool"
        raise UsageError(f"{lacking}; on offer: {offered}")
    return list({tool.name: tool for tool in chosen}.values())


# --- the forms


def _structural(asked: _Asked) -> str:
    if asked.calls is None:
        return structural_tag(asked.node())
    place = Rule("calls", asked.calls.node())
    return structural_tag(asked.turn(place), {place: asked.calls})


def _document(asked: _Asked) -> str:
    forced = asked.choice not in ("auto", "none")
    if not forced and (asked.schema is None or asked.chosen):
        raise UsageError(
            "form 'json_schema' needs a choice that leaves no text: required, name:NAME, or none with a schema"
        )
    return document(asked.dialect, asked.chosen, None if forced else asked.schema, parallel=asked.many)


FORMS: Mapping[str, Callable[[_Asked], str]] = {
    "gbnf": lambda asked: gbnf(asked.node(), asked.specials),
    "lark": lambda asked: lark(asked.node(), asked.specials),
    "structural_tag": _structural,
    "json_schema": _document,
}
"""How a grammar can be printed."""
