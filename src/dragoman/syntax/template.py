r"""What a model writes, as an example with holes.

    "<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>"

One template serves three directions: decode reads by it, encode fills it in, constrain turns it into a grammar.

Rules

1.  Holes: `{text}` (reasoning or content), `{name}`, `{id}`, `{index}` (from 0), `{number}` (from 1), `{args}` (the arguments by the dialect's
    codec), `{call}` (a whole call by the codec: the name is inside), `{calls}` (calls one after the other, in a
    section).  Everything else is literal.
2.  The marks before the first hole open the block.  Blocks that begin alike are told apart by what comes next.
3.  After a hole only white space and the marks of the next literal are markup.  Anything else means that those
    marks are missing: a `Notice`, and what stands there is read anew.
4.  White space in a literal is exact when written, optional when read.
5.  `{name}` ends where the literal behind it begins, else at the first character outside `[\w.-]`.

A literal is cut into marks at its white space and between one tag and the next, so `"</function>\n</tool_call>"`
is two marks, and so is `"<tool_call>call:"`.  A tag is one mark although it has blanks; quotes at its edge do not count.
A tag may be made of two, with words between them (`"<|open|>think<|sep|>"`), or go on with a hole (`"<|open|>call tool="`).
A token in brackets that point outward (`]<]x[>[`) belongs to the tag behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Hole", "attribute", "holes", "marks", "parse", "split"]

HOLES = ("text", "name", "id", "index", "number", "type", "args", "call", "calls")

_HOLE = re.compile(r"\{(%s)\}" % "|".join(HOLES))
_MARK = re.compile(
    r"\]<\][^\s<>\[\]]*\[>\[(?:<[^<>\n]*>?)?|"
    r"<\|\w+\|>[A-Za-z][\w =\"]*(?:<\|\w+\|>|=\"?\Z)|<{2,}[^<>\n]+>*|<[^<>\n]*>?|\[{2,}[^\[\]\n]+\]*|\[[^\[\]\s]*\]|\[[A-Z][^\[\]\n]*\]|[^\s<\[]+|\["
)


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a template that is filled in."""

    name: str


def attribute(text: str) -> str:
    """Text as it stands between the quotes of a tag."""
    return text.replace("&", "&amp;").replace('"', "&quot;")


@lru_cache(512)
def parse(template: str) -> tuple[str | Hole, ...]:
    """`"a{name}b"` as `("a", Hole("name"), "b")`."""
    pieces = _HOLE.split(template)
    return tuple(Hole(piece) if i % 2 else piece for i, piece in enumerate(pieces) if piece)


def holes(template: str) -> tuple[str, ...]:
    """The names of a template's holes, in order."""
    return tuple(piece.name for piece in parse(template) if isinstance(piece, Hole))


def marks(literal: str) -> tuple[str, ...]:
    """The parts of a literal that must appear, white space and quotes at their edges aside."""
    return tuple(mark for found in _MARK.findall(literal) if (mark := found.strip("\"' ")))


def split(template: str) -> tuple[str, str, str]:
    """A template with one hole as (before, hole, after)."""
    before, hole, after = _HOLE.split(template)
    return before, hole, after
