"""Prints a grammar tree as GBNF, the grammar format of llama.cpp.

What its reader wants: names of letters, digits and dashes; an alternative that is empty spelled `""`; no left
recursion; repetitions of at most 2,000 (a larger bound is silently no bound), which are therefore cut into blocks.
A special token is `<[id]>`; an end-of-turn token may not stand in a grammar at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ..errors import UsageError
from .bounded import rules
from .grammar import NEVER, Alt, Chars, Literal, Mark, Node, Repeat, Rule, Seq, Text, seq, tokenized

__all__ = ["bounds", "gbnf"]

LARGEST = 1000
"""The largest bound that is written as such."""

BLOCK = 250

_ODD = re.compile(r'["\\]|[^ -~]')
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def gbnf(node: Node, specials: Mapping[str, int] | None = None) -> str:
    """The grammar as GBNF; marks in `specials` become token references.

    Raises:
        UsageError: no text satisfies the grammar.
    """
    if node == NEVER:
        raise UsageError("no text satisfies this grammar: a schema in it admits no value")
    return _Printer(specials or {}).print(tokenized(node, specials) if specials else node)


class _Printer:
    """One grammar being printed: rules are named when first met, and printed in that order."""

    def __init__(self, specials: Mapping[str, int]) -> None:
        self.specials = specials
        self.names: dict[Node, str] = {}
        self.taken = {"root": 1}
        self.queue: list[Rule] = []
        self.blocks: dict[Node, Rule] = {}

    def print(self, root: Node) -> str:
        lines = [f"root ::= {self.ways(root)}"]
        lines += [f"{self.names[rule]} ::= {self.ways(rule.node)}" for rule in self.queue]  # which grows meanwhile
        return "\n".join(lines) + "\n"

    def name(self, rule: Rule) -> str:
        """The rule's name in this grammar."""
        if rule not in self.names:
            self.names[rule] = self._unused(re.sub(r"[^A-Za-z0-9]+", "-", rule.name).strip("-") or "part")
            self.queue.append(rule)
        return self.names[rule]

    def _unused(self, wanted: str) -> str:
        name = wanted
        while name in self.taken:
            self.taken[wanted] += 1
            name = f"{wanted}-{self.taken[wanted]}"
        self.taken[name] = 1
        return name

    def ways(self, node: Node) -> str:
        """What stands behind `::=` or within parentheses."""
        return " | ".join(self.parts(part) for part in node.parts) if isinstance(node, Alt) else self.parts(node)

    def parts(self, node: Node) -> str:
        """A sequence."""
        if not isinstance(node, Seq):
            return self.one(node)
        return " ".join(self.one(part) for part in self._spelled(node).parts) or '""'

    def _spelled(self, node: Seq) -> Seq:
        """Marks that are no special tokens joined with the literals beside them."""
        if Mark not in map(type, node.parts):
            return node
        found = seq(*(self._plain(part) for part in node.parts))
        return found if isinstance(found, Seq) else Seq((found,))

    def _plain(self, node: Node) -> Node:
        return Literal(node.text) if isinstance(node, Mark) and node.text not in self.specials else node

    def one(self, node: Node) -> str:
        """A part that may be repeated."""
        kind = type(node)
        if kind is Rule:
            return self.name(node)  # type: ignore[arg-type]
        if kind is Repeat:
            return self.repeated(node.part, node.low, node.high)  # type: ignore[union-attr]
        if kind is Chars:
            return _class(node)
        if kind is Mark and node.text in self.specials:  # type: ignore[union-attr]
            return f"<[{self.specials[node.text]}]>"  # type: ignore[union-attr]
        if kind is Literal or kind is Mark:
            return f'"{_ODD.sub(_quoted, node.text)}"'  # type: ignore[union-attr]
        return self.one(rules(node)) if isinstance(node, Text) else f"({self.ways(node)})"

    def repeated(self, part: Node, low: int, high: int | None) -> str:
        """A repetition; large bounds in blocks."""
        item = (
            self.name(self.blocks.setdefault(part, Rule("part", part))) if isinstance(part, Repeat) else self.one(part)
        )
        if isinstance(part, Literal | Mark) and item.startswith('"'):
            item = f"({item})"
        if max(low, high or 0) <= LARGEST:
            return item + bounds(low, high)
        return f"({' '.join(self._blocks(item, part, low, high))})"

    def _blocks(self, item: str, part: Node, low: int, high: int | None) -> list[str]:
        """Blocks, and what is left over; there is at most one other way to part a text into these."""
        block = self.name(self.blocks.setdefault(part, Rule("block", Repeat(part, BLOCK, BLOCK))))
        must = [block + bounds(low // BLOCK, low // BLOCK), item + bounds(low % BLOCK, low % BLOCK)]
        parts = [one for one, count in zip(must, (low // BLOCK, low % BLOCK), strict=True) if count]
        if high is None:
            return [*parts, item + "*"]
        blocks, rest = divmod(high - low, BLOCK)
        if blocks > 1:
            parts.append(block + bounds(0, blocks - 1))
        rest += BLOCK if blocks else 0
        return [*parts, item + bounds(0, rest)] if rest else parts


@lru_cache(256)
def bounds(low: int, high: int | None) -> str:
    """The sign behind something that is repeated, as GBNF and Lark both write it."""
    known = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    return known or (f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}")


@lru_cache(256)
def _class(chars: Chars) -> str:
    if len(chars.ranges) == 1 and not chars.negated and chars.ranges[0][0] == chars.ranges[0][1]:
        return f'"{_ODD.sub(_quoted, chars.ranges[0][0])}"'
    if not chars.ranges:
        return "[^\\x00]" if chars.negated else "[]"
    ranges = (_escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}" for low, high in chars.ranges)
    return f"[{'^' if chars.negated else ''}{''.join(ranges)}]"


def _quoted(found: re.Match[str]) -> str:
    char = found[0]
    return f"\\{char}" if char in '"\\' else _plain_char(char)


def _escaped(char: str) -> str:
    return _number(char) if char in '"\\[]^-/' else _plain_char(char)


def _plain_char(char: str) -> str:
    return _NAMED.get(char) or (char if char.isprintable() else _number(char))


def _number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
