"""The exact automaton of a `Text`: every allowed text is read by one path, and no other text by any.

A state is what matters of the characters so far: how far each spelling to keep out has come, and whether anything
was written.  States are sets of such positions (Aho and Corasick, by subset construction), so spellings with optional
blanks cost no more than plain words.
Bounds are not in it: `bounded` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

from .grammar import Chars, Spelling, Text

__all__ = ["Automaton", "Edges", "automaton", "endings", "explore"]

Key = TypeVar("Key")
Edges = tuple[tuple[Chars, Key], ...]
Positions = frozenset[tuple[int, int]]
State = tuple[Positions, bool]


@dataclass(frozen=True, slots=True)
class Automaton(Generic[Key]):
    """Where the characters lead from each state, and the states in which the text may end.

    Every state can still reach a final one; if the first one cannot, there are no states at all.
    """

    first: Key
    edges: dict[Key, Edges[Key]]
    final: frozenset[Key]


def automaton(node: Text) -> Automaton[int]:
    """The automaton of a text, its bounds left aside; its states are numbers."""
    return _automaton(replace(node, low=0, high=None))


@lru_cache(256)
def _automaton(node: Text) -> Automaton[int]:
    machine = _Machine(node)
    found = explore(machine.first, machine.edges, machine.final)
    number = {state: i for i, state in enumerate(found.edges)}
    edges = {number[a]: tuple((by, number[b]) for by, b in out) for a, out in found.edges.items()}
    return Automaton(0, edges, frozenset(number[state] for state in found.final))


def explore(first: Key, edges: Callable[[Key], Edges[Key]], final: Callable[[Key], bool]) -> Automaton[Key]:
    """All states that are reached from the first one and from which a final one is reached."""
    found: dict[Key, Edges[Key]] = {}
    queue = [first]
    while queue:
        state = queue.pop()
        if state not in found:
            found[state] = edges(state)
            queue += [to for _, to in reversed(found[state])]
    ends = {state for state in found if final(state)}
    alive = _leading_to(ends, found)
    kept = {state: tuple((by, to) for by, to in out if to in alive) for state, out in found.items() if state in alive}
    return Automaton(first, kept if first in alive else {}, frozenset(ends))


def _leading_to(ends: set[Key], edges: dict[Key, Edges[Key]]) -> set[Key]:
    behind: dict[Key, list[Key]] = {}
    for state, out in edges.items():
        for _, to in out:
            behind.setdefault(to, []).append(state)
    alive, queue = set(ends), list(ends)
    while queue:
        fresh = [state for state in behind.get(queue.pop(), ()) if state not in alive]
        alive.update(fresh)
        queue += fresh
    return alive


def endings(node: Text) -> tuple[Spelling, ...]:
    """What the text may not end in: beginnings of forbidden spellings that end in what follows."""
    found = []
    for i, one in enumerate(node.without):
        for at in range(1, len(one)):
            positions: Positions = _ahead(node.without, ((i, at),))
            for char in node.before[:-1]:
                positions = _step(node.without, positions, char)
                if _complete(node.without, positions):
                    found.append(one[:at])
                    break
    return tuple(found)


class _Machine:
    """The steps of one text."""

    def __init__(self, node: Text) -> None:
        self.node = node
        self.alphabet = sorted({char for one in node.without for step, _ in one for char in step} | {*node.opens})
        self.starts = _ahead(node.without, ((i, 0) for i in range(len(node.without))))
        self.first: State = (frozenset(), not node.opens)

    def edges(self, state: State) -> Edges[State]:
        """Where each character leads, those that lead to the same state together; all other characters first."""
        other = self.step(state, "")
        groups: dict[State, list[str]] = {}
        away = []
        for char in self.alphabet:
            to = self.step(state, char)
            if to != other:
                away.append(char)
                if to is not None:
                    groups.setdefault(to, []).append(char)
        assert other is not None  # a character of no spelling is always allowed
        return (_class(away, negated=True), other), *((_class(found), to) for to, found in groups.items())

    def step(self, state: State, char: str) -> State | None:
        """The state behind a character ("": one of no spelling), or None if it may not stand here."""
        begun, written = state
        if not written and char and char in self.node.opens:
            return None
        positions = _step(self.node.without, begun | self.starts, char)
        return None if _complete(self.node.without, positions) else (positions, True)

    def final(self, state: State) -> bool:
        """Whether the text may end here: nothing forbidden begins here and ends in what follows."""
        positions, _ = state
        for char in self.node.before[:-1]:
            positions = _step(self.node.without, positions, char)
            if _complete(self.node.without, positions):
                return False
        return True


def _class(found: Iterable[str], *, negated: bool = False) -> Chars:
    return Chars(tuple((char, char) for char in found), negated)


def _complete(spellings: tuple[Spelling, ...], positions: Positions) -> bool:
    return any(at == len(spellings[i]) for i, at in positions)


def _step(spellings: tuple[Spelling, ...], positions: Positions, char: str) -> Positions:
    moved = ((i, at + 1) for i, at in positions if at < len(spellings[i]) and char and char in spellings[i][at][0])
    return _ahead(spellings, moved)


def _ahead(spellings: tuple[Spelling, ...], positions: Iterable[tuple[int, int]]) -> Positions:
    """The positions, and those behind steps that may be left out."""
    found = set()
    for i, start in positions:
        at = start
        found.add((i, at))
        while at < len(spellings[i]) and spellings[i][at][1]:
            at += 1
            found.add((i, at))
    return frozenset(found)
