"""A grammar as a small tree: what the text of one turn may be.

The tree knows no engine: `gbnf` and `lark` print it, `sample` walks it.
Nodes are values and never change; the only cycles go through a `Rule`, whose body is set once after it was made.

    Literal   this text
    Mark      text of a template: what of it a tokenizer has as a special token must be written as that token
    Chars     one character of a class
    Text      characters that hold none of some spellings (see `automaton`)
    Seq       one after the other
    Alt       one of them; none at all is `NEVER`, which no text satisfies
    Repeat    the same again, within bounds
    Rule      a part with a name: printed once, and the way to recursion

The functions in lower case (`seq`, `alt`, ...) keep trees small: they merge literals, flatten, and let `NEVER`
swallow what cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from .reader import spelling

__all__ = [
    "ANY",
    "EMPTY",
    "NEVER",
    "Alt",
    "Chars",
    "Literal",
    "Mark",
    "Node",
    "Repeat",
    "Rule",
    "Seq",
    "Spelling",
    "Text",
    "alt",
    "chars",
    "keep_out",
    "literal",
    "markup",
    "maybe",
    "rebuilt",
    "repeat",
    "seq",
    "spelled",
    "text",
    "tokenized",
]

Spelling = tuple[tuple[str, bool], ...]
"""A text to keep out, step by step: the characters of a step, and whether the step may be left out."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Fixed text of a template; `tokenized` parts it where the tokenizer has special tokens."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character within the ranges (outside of them if `negated`)."""

    ranges: tuple[tuple[str, str], ...] = ()
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated

    def less(self, excluded: str) -> Chars:
        """The class without some characters."""
        if self.negated:
            return Chars((*self.ranges, *((c, c) for c in excluded if c in self)), negated=True)
        ranges = self.ranges
        for char in excluded:
            ranges = tuple(part for one in ranges for part in _split(one, char))
        return Chars(ranges)


@dataclass(frozen=True, slots=True)
class Text:
    """Any characters, from `low` to `high` of them, that hold none of the spellings `without`.

    `opens`: characters that may not come first.
    `before`: the text that follows; no spelling may begin here and end within it before its last character.
    `open`: marks of what stands around it would end it too; `keep_out` tells it which.
    """

    without: tuple[Spelling, ...] = ()
    low: int = 0
    high: int | None = None
    before: str = ""
    opens: str = ""
    open: bool = False
    name: str = field(default="text", compare=False)


@dataclass(frozen=True, slots=True)
class Seq:
    """One part after the other."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Alt:
    """One of the parts."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part again and again: at least `low` times, at most `high` (None: no end)."""

    part: Node
    low: int = 0
    high: int | None = None


@dataclass(eq=False, slots=True)
class Rule:
    """A part with a name.  Names need not differ; printers number them.  `node` may be set once, later."""

    name: str
    node: Node = field(default=Seq(), repr=False)


Node = Literal | Mark | Chars | Text | Seq | Alt | Repeat | Rule

EMPTY = Seq()
NEVER = Alt()
ANY = Chars(negated=True)


def literal(text: str) -> Node:
    """Fixed text."""
    return Literal(text) if text else EMPTY


def markup(text: str) -> Node:
    """Fixed text of a template: what is in it may be special tokens."""
    return Mark(text) if text else EMPTY


def seq(*parts: Node) -> Node:
    """The parts in order."""
    flat: list[Node] = []
    for part in parts:
        if type(part) is Seq:
            for inner in part.parts:
                _append(flat, inner)
        elif type(part) is Alt and not part.parts:
            return NEVER
        else:
            _append(flat, part)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def _append(flat: list[Node], part: Node) -> None:
    if flat and type(part) is Literal and type(last := flat[-1]) is Literal:
        flat[-1] = Literal(last.text + part.text)
    else:
        flat.append(part)


def alt(*parts: Node) -> Node:
    """Any one of the parts."""
    flat = tuple(dict.fromkeys(inner for part in parts for inner in (part.parts if type(part) is Alt else (part,))))
    return flat[0] if len(flat) == 1 else Alt(flat)


def repeat(part: Node, low: int = 0, high: int | None = None) -> Node:
    """The part from `low` to `high` times."""
    if part == NEVER:
        return EMPTY if low == 0 else NEVER
    if high is not None and high < low:
        return NEVER
    if high == 0 or part == EMPTY:
        return EMPTY
    return part if low == high == 1 else Repeat(part, low, high)


def maybe(part: Node) -> Node:
    """The part, or nothing."""
    return repeat(part, 0, 1)


def chars(ranges: str, *, negated: bool = False) -> Chars:
    """A class from its usual spelling: `chars("a-z_")`.  A "-" at the end is itself."""
    found = re.findall(r"(?s)(.)-(.)|(.)", ranges)
    return Chars(tuple((low, high) if low else (one, one) for low, high, one in found), negated)


def text(
    without: Iterable[str | Spelling] = (),
    low: int = 0,
    high: int | None = None,
    *,
    before: str = "",
    opens: str = "",
    open: bool = False,
    name: str = "text",
) -> Node:
    """Characters that hold none of the marks `without`, in any of their spellings; the rest as in `Text`."""
    kept_out = tuple(spelled(mark) if isinstance(mark, str) else mark for mark in dict.fromkeys(without) if mark)
    if high is not None and high < low:
        return NEVER
    return Text(kept_out, low, high, before, opens, open, name) if kept_out or opens else repeat(ANY, low, high)


def keep_out(node: Node, marks: Iterable[str]) -> Node:
    """The same grammar with more marks kept out of its open texts."""
    if not _has_open(node):
        return node
    more = tuple(map(spelled, marks))

    def leaf(node: Node) -> Node:
        if not isinstance(node, Text) or not node.open:
            return node
        return replace(node, without=tuple(dict.fromkeys((*node.without, *more))))

    return _Rebuilt(leaf, concerns=_has_open).of(node)


def rebuilt(node: Node, leaf: Callable[[Node], Node], dead: Collection[Rule] = ()) -> Node:
    """The same grammar with other leaves, and without its `dead` rules."""
    return _Rebuilt(leaf, dead).of(node)


def _has_open(root: Node) -> bool:
    """Whether a grammar has open texts."""
    met: set[int] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is Text:
            if node.open:  # type: ignore[union-attr]
                return True
        elif kind is Seq or kind is Alt:
            todo += node.parts  # type: ignore[union-attr]
        elif kind is Repeat:
            todo.append(node.part)  # type: ignore[union-attr]
        elif kind is Rule and id(node) not in met:
            met.add(id(node))
            todo.append(node.node)  # type: ignore[union-attr]
    return False


def tokenized(node: Node, specials: Mapping[str, int]) -> Node:
    """The same grammar with the text of its templates parted: a `Mark` for each special token, the rest literal."""
    known = [mark for mark in specials if len(mark) > 2 and not mark.isalnum() and not re.search(r"\s", mark)]
    parted: dict[str, Node] = {}

    def leaf(node: Node) -> Node:
        if not isinstance(node, Mark):
            return node
        if node.text not in parted:
            parted[node.text] = _parted(node.text, known)
        return parted[node.text]

    return _Rebuilt(leaf).of(node)


def _parted(text: str, known: Iterable[str]) -> Node:
    found = sorted((mark for mark in known if mark in text), key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, found))})", text) if found else [text]
    return seq(*(Mark(piece) if i % 2 else literal(piece) for i, piece in enumerate(pieces)))


class _Rebuilt:
    """One grammar being rebuilt with other leaves; its rules are rebuilt once each, as far as it `concerns` them."""

    def __init__(
        self, leaf: Callable[[Node], Node], dead: Collection[Rule] = (), *, concerns: Callable[[Rule], bool] = bool
    ) -> None:
        self.leaf, self.dead, self.concerns = leaf, dead, concerns
        self.rules: dict[Rule, Rule] = {}

    def of(self, node: Node) -> Node:
        match node:
            case Seq(parts):
                return seq(*map(self.of, parts))
            case Alt(parts):
                return alt(*map(self.of, parts))
            case Repeat(part, low, high):
                return repeat(self.of(part), low, high)
            case Rule():
                return self._rule(node)
        return self.leaf(node)

    def _rule(self, rule: Rule) -> Node:
        if rule in self.dead:
            return NEVER
        if rule not in self.rules:
            self.rules[rule] = new = Rule(rule.name) if self.concerns(rule) else rule
            if new is not rule:
                new.node = self.of(rule.node)
        return self.rules[rule]


@lru_cache(4096)
def spelled(mark: str) -> Spelling:
    """A mark as the reader would recognize it: with other bars, doubled bars, and blanks inside a tag.

    Of a mark that holds any text (`</co: *>`) only what stands before that.
    """
    found: list[tuple[str, bool]] = []
    for atom in spelling(mark):
        if "[^" in atom:
            break
        found += _steps(atom)
    return tuple(found)


def _steps(atom: str) -> Spelling:
    """The steps of one atom of `reader.spelling`: a character or a class, and how often it may stand there."""
    one, low, high = _ATOM.fullmatch(atom).group("one", "low", "high")  # type: ignore[union-attr]
    sign = atom[len(one) :]
    least, most = (int(low), int(high)) if low else {"?": (0, 1), "+": (1, 2)}.get(sign, (1, 1))
    inside = one[1:-1].replace(r"\t", "\t").replace(r"\s", _BLANKS)
    chars = _BLANKS if one == r"\s" else inside if one[0] == "[" and one != "[" else one[-1]
    return ((chars, False),) * least + ((chars, True),) * (most - least)


_ATOM = re.compile(r"(?s)(?P<one>\[[^\]]+\]|\\?.)(?:[?+]|\{(?P<low>\d),(?P<high>\d)\})?")
_BLANKS = " \t\n\r\f\v"


def _split(one: tuple[str, str], char: str) -> tuple[tuple[str, str], ...]:
    low, high = one
    if not low <= char <= high:
        return (one,)
    left = ((low, chr(ord(char) - 1)),) if low < char else ()
    right = ((chr(ord(char) + 1), high),) if char < high else ()
    return (*left, *right)
