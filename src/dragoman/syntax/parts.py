"""The parts of a turn as grammar: reasoning, content, calls, each as one dialect writes it behind one prompt.

`constrain` says in which order they stand; what a call's arguments are is said by the codecs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..messages import Tool
from .codecs.params import Params
from .dialect import Dialect
from .grammar import EMPTY, Node, Rule, alt, chars, keep_out, literal, markup, maybe, repeat, seq, text
from .plan import plan
from .template import Hole, attribute, marks, parse, split

__all__ = ["MOST", "Calls", "Parts"]

MOST = 16
"""Calls of one turn."""

_ID = repeat(chars("A-Za-z0-9"), 1, 9)
_INDEX = repeat(chars("0-9"), 1, 2)
_NUMBER = seq(chars("1-9"), repeat(chars("0-9"), 0, 1))


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

    def ways(self) -> Iterator[Node]:
        """Each call that may be, whole."""
        return (seq(self.before, keep_out(body, self.openers), self.after) for body in self.bodies)


class Parts:
    """The parts of a turn behind one prompt."""

    def __init__(self, dialect: Dialect, prompt: str, specials: Mapping[str, int], *, reasoning: bool) -> None:
        self.dialect, self.specials, self.reasoning = dialect, specials, reasoning
        self.begun = _assistant(prompt, dialect)
        frame = dialect.frame
        again = dialect.again or (dialect.begins if frame is not None else "")
        self.between = markup(again)
        itself = frame is not None and dialect.call.startswith(frame.start)
        self.before_call = EMPTY if itself else self.between
        self.open = next((block for block in dialect.content if dialect.blocks and self._opened(block)), "")

    def _opened(self, block: str) -> bool:
        """Whether the prompt began this block of the answer already."""
        before, _, after = split(block)
        mark = before.rstrip() or before
        closed = self.begun.rfind(after.strip()) if after.strip() else -1
        thought = self.begun.rfind(split(self.dialect.reasoning)[0].strip()) if self.dialect.reasoning else -1
        return self.begun.rfind(mark) > max(closed, thought) or not mark

    # --- reasoning

    def after_reasoning(self, rest: Node) -> Node:
        """Reasoning as the prompt left it, then the rest."""
        if self.open:
            return rest
        if not self.dialect.reasoning:
            return seq(self._missing_start(), rest)
        before, _, after = split(self.dialect.reasoning)
        opened = self.begun.rfind(before.rstrip())
        closed = self.begun.rfind(after.strip()) if after.strip() else -1  # a newline alone tells nothing
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
        unknown = bool(self.specials and tags) and not self._token(tags[0])
        block = seq(markup(before), self._thoughts(after), markup(after), self.between)
        return seq(self._missing_start(), EMPTY if unknown else maybe(block), rest)

    def _token(self, mark: str) -> bool:
        """Whether a mark is, or begins with, one token."""
        return mark in self.specials or mark[: mark.find(">") + 1] in self.specials

    def _missing_start(self) -> Node:
        """What begins the next message, if the prompt ended one."""
        frame = self.dialect.frame
        return self.between if frame is not None and self.begun.rstrip().endswith(frame.closes) else EMPTY

    def _thoughts(self, after: str) -> Node:
        """Without marks behind them, thoughts are one line: any other end would be one that they may hold."""
        line = ("\n",) if not after.strip() else ()
        return text((*self._marks(reasoning=True), *line), before=after, name="thoughts")

    def _marks(self, *, reasoning: bool = False) -> tuple[str, ...]:
        """All that means something in reasoning or in content."""
        frame, dialect = self.dialect.frame, self.dialect
        if frame is not None:
            return (*frame.marks, *dialect.ends)
        made = plan(dialect)
        known = {*made.opens, *made.closes, *made.forms, *dialect.ends}
        found = made.stop(reasoning=reasoning, calls=True, recover=True).marks
        return tuple(mark for mark in found if mark in known or mark.startswith("<"))  # others are common words

    # --- content

    def freely(self, calls: Node) -> Node:
        """What the model likes: content, calls, or both."""
        content = self.dialect.content
        if not self.dialect.blocks:
            return self.after_reasoning(seq(self._content(), maybe(calls)))
        answer = self.answer(self._content())
        if self.open:
            return alt(answer, seq(self._content(), calls))
        if len(content) == 1:
            closed = bool(split(content[0])[2].strip())  # else nothing tells where it ends and a call begins
            preamble = maybe(seq(self._message(content[0]), self.before_call)) if closed else EMPTY
            return self.after_reasoning(alt(answer, seq(preamble, calls)))
        preambles = (seq(self._message(one), self.between) for one in content[1:])
        return self.after_reasoning(seq(maybe(alt(*preambles)), alt(answer, calls)))

    def answer(self, inside: Node) -> Node:
        """The answer in its block, whose end an engine may keep to itself."""
        if not self.dialect.content:
            return inside
        before, _, after = split(self.open or self.dialect.content[0])
        end = maybe(markup(after)) if self.dialect.blocks and self.dialect.frame is None else EMPTY
        return seq(EMPTY if self.open else markup(before), inside, end)

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
        opening, _, closing = self.dialect.section.partition("{calls}")
        last, ends = self._kept(last)
        start, end, last_one = seq(self._closing(), markup(opening)), markup(closing), markup(last)
        most = MOST if parallel and not (ends and not self.dialect.forms[0].codec.several) else 1
        if around := self.dialect.forms[0].codec.several:
            before, between, after = map(literal, around)
            start, end = seq(start, first, before), seq(after, last_one, end)
            return Calls(bodies, EMPTY, self._openers(), EMPTY, between, start, end, most)
        return Calls(bodies, first, self._openers(), last_one, self._separator(), start, end, most)

    def _kept(self, last: str) -> tuple[str, bool]:
        """What closes a call, without a token of a frame that ends the turn; whether there is one."""
        found = [mark for mark in marks(last) if mark in self.specials] if self.dialect.frame is not None else []
        return (last[: last.rindex(found[-1])], True) if found else (last, False)

    def _closing(self) -> Node:
        """What closes an answer that the prompt began, before calls."""
        return seq(markup(split(self.open)[2]), self.before_call) if self.open else EMPTY

    def _body(self, pieces: Sequence[str | Hole], tool: Tool) -> Node:
        """What tells the calls of one tool from those of others."""
        return seq(*(self._piece(piece, tool) if isinstance(piece, Hole) else markup(piece) for piece in pieces))

    def _piece(self, piece: Hole, tool: Tool) -> Node:
        if piece.name in ("args", "call"):
            return self.dialect.forms[0].codec.grammar(tool)
        quoted = '="{name}"' in self.dialect.call
        name = literal(attribute(tool.name) if quoted else tool.name)
        return {"name": name, "id": _ID, "index": _INDEX, "number": _NUMBER, "type": literal("function")}[piece.name]

    def _openers(self) -> tuple[str, ...]:
        """Marks that would begin another call, or message, within an open text."""
        if self.dialect.frame is not None:
            return (*self.dialect.frame.marks, *self.dialect.ends) if isinstance(self.dialect.args, Params) else ()
        return next((forms[0].scope.openers for forms in plan(self.dialect).forms.values()), ())

    def _separator(self) -> Node:
        if self.dialect.frame is not None:
            return self.before_call
        return literal(self.dialect.between)


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
