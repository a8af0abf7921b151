"""Recursion of rules: how it is written so that every engine can read it, and which rules come to no end.

Engines that read a grammar from left to right never get past a rule that begins with itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from ..errors import UsageError
from .grammar import Alt, Node, Repeat, Rule, Seq, alt, rebuilt, repeat, seq

__all__ = ["check_recursion", "productive", "straightened"]


def straightened(rule: Rule) -> Node:
    """The body of a rule that does not begin with itself: `a: a "x" | "y"` is `a: "y" "x"*`."""
    ways = rule.node.parts if isinstance(rule.node, Alt) else (rule.node,)
    tails = [seq(*way.parts[1:]) for way in ways if isinstance(way, Seq) and way.parts[:1] == (rule,)]
    others = [way for way in ways if way is not rule and not (isinstance(way, Seq) and way.parts[:1] == (rule,))]
    return seq(alt(*others), repeat(alt(*tails))) if tails else alt(*others)


def check_recursion(rules: Sequence[Rule]) -> None:
    """Refuse rules that begin with themselves by way of others, or never end.

    Raises:
        UsageError: which one.
    """
    empty = _fixed(rules, _may_be_empty)
    for rule in rules:
        if _meets(rule, empty):
            raise UsageError(f"the grammar cannot be used: the rule {rule.name!r} begins with itself")
    ends = _fixed(rules, _ends)
    for rule in rules:
        if rule not in ends:
            raise UsageError(f"the grammar cannot be used: the rule {rule.name!r} never ends")


def productive(node: Node) -> Node:
    """The same grammar without what no text satisfies."""
    rules = list(_rules(node))
    ends = _fixed(rules, _ends)
    dead = {rule for rule in rules if rule not in ends}
    return rebuilt(node, lambda leaf: leaf, dead) if dead else node


def _rules(root: Node) -> Iterator[Rule]:
    met: set[Rule] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, Rule):
            if node not in met:
                met.add(node)
                yield node
                todo.append(node.node)
        elif isinstance(node, Seq | Alt):
            todo += node.parts
        elif isinstance(node, Repeat):
            todo.append(node.part)


def _fixed(rules: Iterable[Rule], holds: Callable[[Node, set[Rule]], bool]) -> set[Rule]:
    """The rules for whose bodies something holds, where it holds for the rules within."""
    known: set[Rule] = set()
    left = list(rules)
    while fresh := {rule for rule in left if holds(rule.node, known)}:
        known |= fresh
        left = [rule for rule in left if rule not in fresh]
    return known


def _holds(node: Node, known: set[Rule], *, leaf: bool) -> bool:
    match node:
        case Rule():
            return node in known
        case Seq(parts):
            return all(_holds(part, known, leaf=leaf) for part in parts)
        case Alt(parts):
            return any(_holds(part, known, leaf=leaf) for part in parts)
        case Repeat(part, low):
            return low == 0 or _holds(part, known, leaf=leaf)
    return leaf


_may_be_empty = partial(_holds, leaf=False)
_ends = partial(_holds, leaf=True)


def _meets(rule: Rule, empty: set[Rule]) -> bool:
    """Whether the rule stands at its own beginning."""
    met: set[Rule] = set()
    todo = list(_first(rule.node, empty))
    while todo:
        one = todo.pop()
        if one is rule:
            return True
        if one not in met:
            met.add(one)
            todo += _first(one.node, empty)
    return False


def _first(node: Node, empty: set[Rule]) -> Iterator[Rule]:
    """The rules that may stand at the beginning."""
    match node:
        case Rule():
            yield node
        case Seq(parts):
            for part in parts:
                yield from _first(part, empty)
                if not _may_be_empty(part, empty):
                    return
        case Alt(parts):
            for part in parts:
                yield from _first(part, empty)
        case Repeat(part):
            yield from _first(part, empty)
