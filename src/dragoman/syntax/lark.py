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
from .grammar import NEVER, Alt, Chars, Literal, Mark, Node, Repeat, Rule, Seq, Spelling, Text, repeat, seq

__all__ = ["lark"]


def lark(node: Node, specials: Mapping[str, int] | None = None) -> str:
    """The grammar as Lark; marks in `specials` become token references.

    Raises:
        UsageError: no text satisfies the grammar.
    """
    if node == NEVER:
        raise UsageError("no text satisfies this grammar: a schema in it admits no value")
    return "%llguidance {}\n" + _Printer(specials or {}).print(node)


class _Printer:
    """One grammar being printed: a rule that is regular becomes a terminal, with a name in capitals."""

    def __init__(self, specials: Mapping[str, int]) -> None:
        self.specials = specials
        self.names: dict[Node, str] = {}
        self.taken = {"start"}
        self.queue: list[Rule] = []
        self.regular_rules: dict[Rule, bool] = {}
        self.terminals: dict[Node, Rule] = {}

    def print(self, root: Node) -> str:
        lines = [f"start: {self.ways(root)}"]
        lines += [f"{self.names[rule]}: {self._body(rule)}" for rule in self.queue]  # which grows meanwhile
        return "\n".join(lines) + "\n"

    def _body(self, rule: Rule) -> str:
        if isinstance(rule.node, Text):
            return _text(rule.node)
        return self.pattern(rule.node) if self.regular(rule) else self.ways(rule.node)

    def name(self, rule: Rule) -> str:
        """The rule's name in this grammar."""
        if rule not in self.names:
            wanted = re.sub(r"[^a-z0-9]+", "_", rule.name.lower()).strip("_")
            wanted = wanted if wanted[:1].isalpha() else f"part_{wanted}"
            self.names[rule] = self._unused(wanted.upper() if self.regular(rule) else wanted)
            self.queue.append(rule)
        return self.names[rule]

    def _unused(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
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

    def ways(self, node: Node) -> str:
        """The body of a rule."""
        if isinstance(node, Alt) and not self.regular(node):
            return " | ".join(map(self.parts, node.parts))
        return self.parts(node)

    def parts(self, node: Node) -> str:
        """A sequence, with what makes up one terminal joined."""
        if self.regular(node) or not isinstance(node, Seq):
            return self.one(node)
        runs = groupby(_with_or_without(node.parts), lambda part: self.regular(part) and not _left_out(part))
        return " ".join(self.one(seq(*run)) if joined else " ".join(map(self.one, run)) for joined, run in runs)

    def one(self, node: Node) -> str:
        """A part of a rule that may be repeated."""
        if self.regular(node):
            return self.terminal(node)
        match node:
            case Mark(text):
                return f"<[{self.specials[text]}]>"
            case Rule():
                return self.name(node)
            case Repeat(part, low, high):
                item = self.one(part)
                return f"{item if item.startswith('(') else f'({item})'}{bounds(low, high)}"
        return f"({self.ways(node)})"

    def terminal(self, node: Node) -> str:
        """A terminal; plain text stands for itself."""
        node = _spelled(node)
        if isinstance(node, Rule | Literal):
            return self.pattern(node)
        if isinstance(node, Repeat) and node.low == 0:
            return f"{self.terminal(node.part)}{bounds(0, node.high)}" if _left_out(node) else self._new(node)
        return self._new(node)

    def _new(self, node: Node) -> str:
        name = node.name if isinstance(node, Text) else "text"
        return self.name(self.terminals.setdefault(node, Rule(name, node)))

    def pattern(self, node: Node) -> str:
        """The body of a terminal."""
        match _spelled(node):
            case Literal(text):
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
            case Rule() as rule:
                return self.name(rule)
        raise AssertionError(node)

    def _within(self, node: Node) -> str:
        found = self.pattern(node)
        return found if isinstance(node, Literal | Mark | Chars | Rule | Text) else f"({found})"


def _with_or_without(parts: tuple[Node, ...]) -> tuple[Node, ...]:
    """A free text before a group that may be left out is two: one alone, and one that ends where the group begins."""
    for i, (part, after) in enumerate(pairwise(parts)):
        if isinstance(part, Text) and isinstance(after, Repeat) and _left_out(after):
            more = repeat(after.part, 0, None if after.high is None else after.high - 1)
            return (*parts[:i], Alt((seq(*parts[i : i + 1], *parts[i + 2 :]), seq(part, after.part, more, *parts[i + 2 :]))))
    return parts


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
    found = ["/(?s:.*)/" if not node.low and node.high is None else f"/(?s:.{{{node.low},{'' if node.high is None else node.high}}})/"]
    if node.without:
        found.append(f"~/(?s:.*)({'|'.join(map(_spelling, node.without))})(?s:.*)/")
    if ends := endings(node):
        found.append(f"~/(?s:.*)({'|'.join(map(_spelling, ends))})/")
    if node.opens:
        found.append(f"~/{_class(Chars(tuple((c, c) for c in node.opens)))}(?s:.*)/")
    return " & ".join(found)


def _spelling(spelling: Spelling) -> str:
    steps = groupby(spelling)
    return "".join(_step(step) + _times(len(list(same)), free=free) for (step, free), same in steps)


def _step(step: str) -> str:
    return _char(step) if len(step) == 1 else _class(Chars(tuple((c, c) for c in step)))


def _times(count: int, *, free: bool) -> str:
    return f"{{0,{count}}}" if free else "" if count == 1 else f"{{{count}}}"


def _class(chars: Chars) -> str:
    if not chars.ranges:
        return "(?s:.)"
    ranges = (_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in chars.ranges)
    return f"[{'^' if chars.negated else ''}{''.join(ranges)}]"


def _char(char: str) -> str:
    return char if char.isalnum() else f"\\x{{{ord(char):X}}}"
