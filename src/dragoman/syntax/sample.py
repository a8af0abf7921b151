"""Writes a text that a grammar allows: raw output of a model that never lived, for tests and demonstrations.

Chance is given by the caller: `pick(n)` answers a number from 0 to n - 1, such as `random.Random(1).randrange`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from .automaton import automaton
from .grammar import NEVER, Alt, Chars, Literal, Mark, Node, Repeat, Rule, Seq, Text

__all__ = ["sample"]

Pick = Callable[[int], int]

_POOL = "abcxyzABZ0159 _-.,:;/\\\"'<>|{}[]()=&\n\té日🙂"


def sample(node: Node, pick: Pick, *, size: int = 400, pool: str = _POOL) -> str:
    """One text of the grammar.  After about `size` characters it takes the shortest way to an end."""
    written: list[str] = []
    length = 0
    shortest = _Shortest(node)
    todo = [node]
    while todo:
        hurry = length > size
        match todo.pop():
            case Literal(text) | Mark(text):
                written.append(text)
                length += len(text)
            case Chars() as chars:
                written.append(_char(chars, pick, pool))
                length += 1
            case Text() as free:
                written.append(_text(free, pick, 0 if hurry else size - length, pool))
                length += len(written[-1])
            case Seq(parts):
                todo += reversed(parts)
            case Alt(parts):
                todo.append(min(parts, key=shortest.of) if hurry else parts[pick(len(parts))])
            case Repeat(part, low, high):
                todo += [part] * (low if hurry else _count(low, high, pick))
            case Rule() as rule:
                todo.append(rule.node)
    return "".join(written)


def _count(low: int, high: int | None, pick: Pick) -> int:
    """How often: mostly a few times, now and then as often as possible."""
    if high is not None and pick(8) == 0:
        return high
    most = low + 6 if high is None else min(high, low + 6)
    return low + pick(most - low + 1)


def _char(chars: Chars, pick: Pick, pool: str) -> str:
    fitting = [char for char in pool if char in chars]
    fitting += [] if chars.negated else [end for one in chars.ranges for end in one if end in chars]
    return fitting[pick(len(fitting))]


def _text(node: Text, pick: Pick, size: int, pool: str) -> str:
    """A walk through the automaton; beginnings of what is forbidden are taken as often as anything else."""
    machine, state, written = automaton(node), 0, ""
    target = _count(node.low, node.high, pick) if size > 0 else node.low
    while len(written) < target or state not in machine.final:
        ways = machine.edges[state]
        by, state = ways[0 if len(written) >= target else pick(len(ways))]
        written += _char(by, pick, pool)
    return written if node.high is None or len(written) <= node.high else _text(node, pick, 0, pool)


class _Shortest:
    """How few steps lead to the end of a part."""

    def __init__(self, root: Node) -> None:
        self.rules: dict[Rule, float] = {}
        self._meet(root)
        before: dict[Rule, float] = {}
        while before != self.rules:
            before = dict(self.rules)
            for rule in self.rules:
                self.rules[rule] = 1 + self.of(rule.node)

    def _meet(self, root: Node) -> None:
        todo = [root]
        while todo:
            match todo.pop():
                case Rule() as rule if rule not in self.rules:
                    self.rules[rule] = inf
                    todo.append(rule.node)
                case Seq(parts) | Alt(parts):
                    todo += parts
                case Repeat(part):
                    todo.append(part)

    def of(self, node: Node) -> float:
        match node:
            case Seq(parts):
                return sum(map(self.of, parts))
            case Alt(parts):
                return min(map(self.of, parts), default=inf) if node != NEVER else inf
            case Repeat(part, low):
                return low and low * self.of(part)
            case Rule():
                return self.rules[node]
        return 1
