"""Prints a grammar tree as Lark for llguidance (llama.cpp, vLLM and SGLang read it too).

llguidance splits a text into terminals and reads their order by rules.  A terminal goes on as long as it can, and what
it took it never gives back.  So what is regular and stands together is one terminal, parted by recursion, by special
tokens, and around a group that may be left out: it would take the beginning of what follows for its own.
A text that holds none of some spellings is an intersection with a complement, exact and with exact bounds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import groupby, pairwise

from ..errors import UsageError
from .automaton import endings
from .gbnf import bounds
from .grammar import NEVER, Alt, Chars, Literal, Mark, Node, Repeat, Rule, Seq, Spelling, Text, repeat, seq, tokenized

__all__ = ["lark"]


def lark(node: Node, specials: Mapping[str, int] | None = None) -> str:
    """The grammar as Lark; marks in `specials` become token references.

    Raises:
        UsageError: no text satisfies the grammar.
    """
    if node == NEVER:
        raise UsageError("no text satisfies this grammar: a schema in it admits no value")
    return "%llguidance {}\n" + _Printer(specials or {}).print(tokenized(node, specials) if specials else node)


class _Printer:
    """One grammar being printed: a rule that is regular becomes a terminal, with a name in capitals."""

    def __init__(self, specials: Mapping[str, int]) -> None:
        self.specials = specials
        self.names: dict[tuple[Rule, bool], str] = {}
        self.taken = {"start": 1}
        self.queue: list[tuple[Rule, bool]] = []
        self.regular_rules: dict[Rule, bool] = {}
        self.terminals: dict[Node, Rule] = {}

    def print(self, root: Node) -> str:
        lines = [f"start: {self.ways(root)}"]
        lines += [f"{self.names[key]}: {self._body(*key)}" for key in self.queue]  # which grows meanwhile
        return "\n".join(lines) + "\n"

    def _body(self, rule: Rule, terminal: bool) -> str:
        if not terminal:
            return self.ways(rule.node)
        return _text(rule.node) if isinstance(rule.node, Text) else self.pattern(rule.node)

    def name(self, rule: Rule, *, terminal: bool) -> str:
        """The name of a rule, or of the terminal that writes the same."""
        if (rule, terminal) not in self.names:
            wanted = re.sub(r"[^a-z0-9]+", "_", rule.name.lower()).strip("_")
            wanted = wanted if wanted[:1].isalpha() else f"part_{wanted}"
            self.names[rule, terminal] = self._unused(wanted.upper() if terminal else wanted)
            self.queue.append((rule, terminal))
        return self.names[rule, terminal]

    def _unused(self, wanted: str) -> str:
        name = wanted
        while name in self.taken:
            self.taken[wanted] += 1
            name = f"{wanted}_{self.taken[wanted]}"
        self.taken[name] = 1
        return name

    def regular(self, node: Node) -> bool:
        """Whether it can be one terminal: without special tokens and recursion."""
        match node:
            case Mark(text):
                return text not in self.specials
            case Seq(parts) | Alt(parts):
                return all(self.regular(part) for part in parts)
            case Repeat(part):
                return self.regular(part)
            case Rule():
                if node not in self.regular_rules:
                    self.regular_rules[node] = False  # met again within itself, it is recursive
                    self.regular_rules[node] = self.regular(node.node)
                return self.regular_rules[node]
        return True

    def solid(self, node: Node) -> bool:
        """Whether it can be one terminal whatever follows it."""
        return self.regular(node) and _closed(node)

    def ways(self, node: Node) -> str:
        """The body of a rule."""
        if isinstance(node, Alt) and not self.solid(node):
            return " | ".join(map(self.parts, node.parts))
        return self.parts(node)

    def parts(self, node: Node) -> str:
        """A sequence, with what makes up one terminal joined."""
        if self.solid(node) or not isinstance(node, Seq):
            return self.one(node)
        runs = groupby(_with_or_without(node.parts), self.solid)
        return " ".join(self.one(seq(*run)) if joined else " ".join(map(self.one, run)) for joined, run in runs)

    def one(self, node: Node) -> str:
        """A part of a rule that may be repeated."""
        if self.solid(node):
            return self.terminal(node)
        match node:
            case Mark(text):
                return f"<[{self.specials[text]}]>"
            case Rule():
                return self.name(node, terminal=False)
            case Repeat(part, low, high):
                return self._grouped(self.one(part)) + bounds(low, high)
        return f"({self.ways(node)})"

    def terminal(self, node: Node) -> str:
        """A terminal; plain text stands for itself."""
        node = _spelled(node)
        if isinstance(node, Rule | Literal):
            return self.pattern(node)
        return self._new(node)

    def _grouped(self, item: str) -> str:
        return item if item.isidentifier() or item.startswith("(") else f"({item})"

    def _new(self, node: Node) -> str:
        name = node.name if isinstance(node, Text) else "text"
        return self.name(self.terminals.setdefault(node, Rule(name, node)), terminal=True)

    def pattern(self, node: Node) -> str:
        """The body of a terminal."""
        match _spelled(node):
            case Literal(text) | Mark(text):
                return json.dumps(text, ensure_ascii=False)
            case Chars() as chars:
                return f"/{_class(chars)}/"
            case Text() as text:
                return self._new(text)
            case Seq(parts):
                return " ".join(map(self._within, parts)) or '""'
            case Alt(parts):
                return " | ".join(map(self._within, parts))
            case Repeat(part, low, high):
                return self._within(part) + bounds(low, high)
            case rule:
                return self.name(rule, terminal=True)

    def _within(self, node: Node) -> str:
        found = self.pattern(node)
        return found if isinstance(node, Literal | Mark | Chars | Rule | Text) else f"({found})"


def _with_or_without(parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """A free text before a group that may be left out is two: one alone, and one that ends where the group begins."""
    for i, (part, after) in enumerate(pairwise(parts)):
        if isinstance(part, Text) and isinstance(after, Repeat) and _left_out(after):
            more = repeat(after.part, 0, None if after.high is None else after.high - 1)
            return (
                *parts[:i],
                Alt((seq(*parts[i : i + 1], *parts[i + 2 :]), seq(part, after.part, more, *parts[i + 2 :]))),
            )
    return parts


def _closed(node: Node) -> bool:
    """Whether its text has one end: it does not go on with a group that may be left out."""
    match node:
        case Seq(parts):
            return not parts or _closed(parts[-1])
        case Alt(parts):
            return all(map(_closed, parts))
        case Rule():
            return _closed(node.node)
    return not _left_out(node)


def _left_out(node: Node) -> bool:
    """Whether a part may be left out and begins with fixed text, as what follows it may too."""
    if not isinstance(node, Repeat) or node.low:
        return False
    first = node.part.parts[0] if isinstance(node.part, Seq) and node.part.parts else node.part
    return isinstance(first, Literal | Mark)


def _spelled(node: Node) -> Node:
    """Marks as plain text, joined with the literals beside them."""
    if isinstance(node, Seq):
        return seq(*(Literal(part.text) if isinstance(part, Mark) else part for part in node.parts))
    return Literal(node.text) if isinstance(node, Mark) else node


def _text(node: Text) -> str:
    """A text as what it is not; in one complement, which costs much less than several."""
    found = [
        "/(?s:.*)/"
        if not node.low and node.high is None
        else f"/(?s:.{{{node.low},{'' if node.high is None else node.high}}})/"
    ]
    if node.without:
        found.append(f"~/(?s:.*)({'|'.join(map(_spelling, node.without))})(?s:.*)/")
    if ends := endings(node):
        found.append(f"~/(?s:.*)({'|'.join(map(_spelling, ends))})/")
    if node.opens:
        found.append(f"~/{_class(Chars(tuple((c, c) for c in node.opens)))}(?s:.*)/")
    return " & ".join(found)


def _spelling(spelling: Spelling) -> str:
    found = []
    for (step, free), same in groupby(spelling):
        one = _char(step) if len(step) == 1 else _class(Chars(tuple((c, c) for c in step)))
        count = len(list(same))
        found.append(f"{one}{{0,{count}}}" if free else one * count)
    return "".join(found)


def _class(chars: Chars) -> str:
    if not chars.ranges:
        return "(?s:.)"
    ranges = (_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in chars.ranges)
    return f"[{'^' if chars.negated else ''}{''.join(ranges)}]"


def _char(char: str) -> str:
    return char if char.isalnum() or char in "_<>=:," else f"\\x{{{ord(char):X}}}"
