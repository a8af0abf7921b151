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

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..messages import Tool
from .dialect import Dialect
from .gbnf import gbnf
from .grammar import EMPTY, NEVER, Node, Rule, alt, chars, keep_out, literal, markup, maybe, repeat, seq, text
from .lark import lark
from .plan import plan
from .schema import value
from .template import Hole, marks, parse, split

__all__ = ["constrain", "grammar"]

MOST = 16
"""Calls of one turn."""

_FORMS = {"gbnf": gbnf, "lark": lark}
_ID = repeat(chars("A-Za-z0-9"), 9, 9)
_INDEX = repeat(chars("0-9"), 1, 2)


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
    """The grammar as text (arguments as for `grammar`; `form`: gbnf or lark).

    Raises:
        UsageError: an argument is wrong, or a tool's schema admits no arguments.
    """
    if form not in _FORMS:
        raise UsageError(f"grammar form {form!r}: use one of {', '.join(_FORMS)}")
    node = grammar(
        dialect, tools, choice, prompt=prompt, specials=specials, parallel=parallel, reasoning=reasoning, schema=schema
    )
    return _FORMS[form](node, specials)


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
    """The grammar of one turn, as a tree.

    Args:
        dialect: what the model writes.
        tools: the tools on offer.
        choice: auto, required, none, or `name:NAME` for one tool.
        prompt: the rendered prompt; it may have opened or closed the reasoning.
        specials: mark -> token id; such marks are written as tokens.
        parallel: whether there may be more than one call; a named tool is called once.
        reasoning: whether reasoning may come first.
        schema: a JSON Schema for an answer that is no call ({} for any object).

    Raises:
        UsageError: an argument is wrong, or a tool's schema admits no arguments.
    """
    chosen = _chosen(list(tools), choice)
    turn = _Turn(dialect, prompt, specials or {}, reasoning=reasoning)
    calls = turn.calls(chosen, parallel=parallel and not choice.startswith("name:")) if chosen else NEVER
    if choice not in ("auto", "none"):
        return turn.after_reasoning(calls)
    if schema is not None:
        return turn.after_reasoning(alt(turn.answer(_json(schema)), calls))
    return turn.freely(calls)


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
        raise UsageError(f"tool choice {choice!r} needs a tool; on offer: {offered}")
    return list({tool.name: tool for tool in chosen}.values())


class _Turn:
    """The parts of a turn behind one prompt."""

    def __init__(self, dialect: Dialect, prompt: str, specials: Mapping[str, int], *, reasoning: bool) -> None:
        self.dialect, self.specials, self.reasoning = dialect, specials, reasoning
        self.begun = _assistant(prompt, dialect)
        self.between = markup(dialect.begins) if dialect.frame is not None else EMPTY

    # --- reasoning

    def after_reasoning(self, rest: Node) -> Node:
        """Reasoning as the prompt left it, then the rest."""
        if not self.dialect.reasoning:
            return seq(self._missing_start(), rest)
        before, _, after = split(self.dialect.reasoning)
        opened = self.begun.rfind(before.rstrip())
        closed = self.begun.rfind(after.strip())
        if opened > closed:
            lead = _missing(self.begun[opened:], before)
            return seq(
                markup(lead), self._thoughts(after) if self.reasoning else EMPTY, markup(after), self.between, rest
            )
        if closed >= 0 or not self.reasoning:
            return seq(
                markup(_missing(self.begun[closed:], after)) if closed >= 0 else EMPTY, self._missing_start(), rest
            )
        tags = [mark for mark in marks(before) if mark[0] in "<["]  # a phrase is a token nowhere
        unknown = bool(self.specials and tags) and tags[0] not in self.specials
        block = seq(markup(before), self._thoughts(after), markup(after), self.between)
        return seq(self._missing_start(), EMPTY if unknown else maybe(block), rest)

    def _missing_start(self) -> Node:
        """What begins the next message, if the prompt ended one."""
        frame = self.dialect.frame
        return self.between if frame is not None and self.begun.rstrip().endswith(frame.closes) else EMPTY

    def _thoughts(self, after: str) -> Node:
        return text(self._marks(reasoning=True), before=after, name="thoughts")

    def _marks(self, *, reasoning: bool = False) -> tuple[str, ...]:
        """All that means something in reasoning or in content."""
        frame, dialect = self.dialect.frame, self.dialect
        if frame is not None:
            return (frame.start, frame.channel, frame.message, *frame.noise, *frame.closes, *dialect.ends)
        made = plan(dialect)
        known = {*made.opens, *made.closes, *made.forms, *dialect.ends}
        found = made.stop(reasoning=reasoning, calls=True, recover=True).marks
        return tuple(mark for mark in found if mark in known or mark.startswith("<"))  # others are common words

    # --- content

    def freely(self, calls: Node) -> Node:
        """What the model likes: content, calls, or both."""
        content = self.dialect.content
        if self.dialect.frame is None:
            return self.after_reasoning(seq(self._content(), maybe(calls)))
        preambles = (seq(self._message(one), self.between) for one in content[1:])
        return self.after_reasoning(seq(maybe(alt(*preambles)), alt(self.answer(self._content()), calls)))

    def answer(self, inside: Node) -> Node:
        """The answer, in its frame where the dialect has one."""
        return seq(markup(split(self.dialect.content[0])[0]), inside) if self.dialect.content else inside

    def _message(self, template: str) -> Node:
        before, _, after = split(template)
        return seq(markup(before), self._content(), markup(after))

    def _content(self) -> Node:
        return text(self._marks(), name="content")

    # --- calls

    def calls(self, tools: Sequence[Tool], *, parallel: bool) -> Node:
        """One call, or several one behind the other."""
        pieces = list(parse(self.dialect.call))
        first = markup(str(pieces.pop(0))) if not isinstance(pieces[0], Hole) else EMPTY
        last = str(pieces.pop()) if not isinstance(pieces[-1], Hole) else ""
        bodies = keep_out(Rule("call", alt(*(self._body(pieces, tool) for tool in tools))), self._openers())
        if self.dialect.frame is not None and any(mark in self.specials for mark in marks(last)):
            return seq(first, bodies)
        most = MOST if parallel else 1
        if around := self.dialect.forms[0].codec.several:
            before, between, after = map(literal, around)
            calls = seq(first, before, _times(bodies, between, most), after, markup(last))
        else:
            calls = _times(seq(first, bodies, markup(last)), self._separator(), most)
        opening, _, closing = self.dialect.section.partition("{calls}")
        return seq(markup(opening), calls, markup(closing))

    def _body(self, pieces: Sequence[str | Hole], tool: Tool) -> Node:
        """What tells the calls of one tool from those of others."""
        return seq(*(self._piece(piece, tool) if isinstance(piece, Hole) else markup(piece) for piece in pieces))

    def _piece(self, piece: Hole, tool: Tool) -> Node:
        if piece.name in ("args", "call"):
            return self.dialect.forms[0].codec.grammar(tool)
        return {"name": literal(tool.name), "id": _ID, "index": _INDEX, "type": literal("function")}[piece.name]

    def _openers(self) -> tuple[str, ...]:
        """Marks that would begin another call within an open text."""
        return next((forms[0].scope.openers for forms in plan(self.dialect).forms.values()), ())

    def _separator(self) -> Node:
        if self.dialect.frame is not None:
            return self.between
        return EMPTY if self.dialect.touching else literal("\n")


def _times(call: Node, between: Node, most: int) -> Node:
    """A call, and perhaps more behind it."""
    return seq(call, repeat(seq(between, call), 0, most - 1))


def _assistant(prompt: str, dialect: Dialect) -> str:
    """What the prompt wrote of the turn already; all of it, where nothing tells (a header would tell)."""
    begins = dialect.begins.strip()
    if begins and begins in prompt:
        return prompt.rpartition(begins)[2]
    return "" if dialect.frame is not None else prompt


def _missing(found: str, wanted: str) -> str:
    """What of the white space behind a mark the prompt has not written yet."""
    mark, space = wanted.rstrip(), wanted[len(wanted.rstrip()) :]
    written = found[found.index(mark.strip()) + len(mark.strip()) :]
    return space[len(written) :] if space.startswith(written) else ""
