"""The parts of a turn as grammar: reasoning, content, calls, each as one dialect writes it behind one prompt.

`constrain` says in which order they stand; what a call's arguments are is said by the codecs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..messages import Tool
from .dialect import Dialect
from .grammar import EMPTY, Node, Rule, alt, chars, keep_out, literal, markup, maybe, repeat, seq, text
from .plan import plan
from .template import Hole, marks, parse, split

__all__ = ["MOST", "Calls", "Parts"]

MOST = 16
"""Calls of one turn."""

_ID = repeat(chars("A-Za-z0-9"), 9, 9)
_INDEX = repeat(chars("0-9"), 1, 2)


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a turn: what each of them may be, and what stands around, between and outside of them.

    `openers` are marks that would begin another call within an open text.
    """

    bodies: tuple[Node, ...]
    before: Node
    openers: tuple[str, ...]
    after: Node = EMPTY
    between: Node = EMPTY
    start: Node = EMPTY
    end: Node = EMPTY
    most: int = MOST

    def node(self) -> Node:
        """All of it as a grammar."""
        call = seq(self.before, keep_out(Rule("call", alt(*self.bodies)), self.openers), self.after)
        return seq(self.start, call, repeat(seq(self.between, call), 0, self.most - 1), self.end)

    def ways(self) -> list[Node]:
        """Each call that may be, whole."""
        return [seq(self.before, keep_out(body, self.openers), self.after) for body in self.bodies]


class Parts:
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

    def calls(self, tools: Sequence[Tool], *, parallel: bool) -> Calls:
        """One call, or several one behind the other."""
        pieces = list(parse(self.dialect.call))
        first = markup(str(pieces.pop(0))) if not isinstance(pieces[0], Hole) else EMPTY
        last = str(pieces.pop()) if not isinstance(pieces[-1], Hole) else ""
        bodies = tuple(self._body(pieces, tool) for tool in tools)
        if self.dialect.frame is not None and any(mark in self.specials for mark in marks(last)):
            return Calls(bodies, first, self._openers(), most=1)
        opening, _, closing = self.dialect.section.partition("{calls}")
        start, end, last_one = markup(opening), markup(closing), markup(last)
        most = MOST if parallel else 1
        if around := self.dialect.forms[0].codec.several:
            before, between, after = map(literal, around)
            start, end = seq(start, first, before), seq(after, last_one, end)
            return Calls(bodies, EMPTY, self._openers(), EMPTY, between, start, end, most)
        return Calls(bodies, first, self._openers(), last_one, self._separator(), start, end, most)

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
