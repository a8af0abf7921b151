"""A `Text` as rules: one rule for each state of its automaton, and the count of characters where it is bounded.

A bound is counted exactly by giving every state one copy for each character left.  Where that grows too large, a
smaller language stands in for it: a text within the bound that holds nothing forbidden, but in which the beginning of
a forbidden spelling (a stray "<") costs more of the bound than its length.  Long texts are counted in blocks.  This
gives up some texts near their largest length, never a promise.

Rules are kept for each kind of text, so all parameters that end at the same mark share them, whatever their bounds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .automaton import Automaton, Edges, automaton, endings, explore
from .grammar import ANY, EMPTY, NEVER, Chars, Node, Rule, Spelling, Text, alt, maybe, repeat, seq

__all__ = ["rules"]

LARGEST = 400
"""States with their copies, up to which a bound is counted exactly."""

BLOCK = 128
SHORT = 4

Count = tuple[int, int, int | None]
"""A state of the automaton, characters it still needs, and characters it may still take (None: any number)."""


@lru_cache(512)
def rules(node: Text) -> Node:
    """A text as rules that end in each other."""
    node = _simpler(node)
    if not (node.without or node.opens):
        return repeat(ANY, node.low, node.high)
    shared = _shared(replace(node, low=0, high=None), node.name)
    top = node.low if node.high is None else node.high
    if top * len(shared.machine.edges) <= LARGEST:
        return shared.exactly((0, node.low, node.high))
    return shared.roughly(node.low, node.high)


def _simpler(node: Text) -> Text:
    """The same text without what can never matter in it."""
    if endings(node):
        return node
    high = node.high
    fitting = tuple(one for one in node.without if high is None or _length(one) <= high)
    return replace(node, without=fitting, before="")


def _length(spelling: Spelling) -> int:
    return sum(not free for _, free in spelling)


@lru_cache(256)
def _shared(node: Text, name: str) -> _Rules:
    return _Rules(node, name)


class _Rules:
    """The rules of one kind of text."""

    def __init__(self, node: Text, name: str) -> None:
        self.name = name
        self.machine: Automaton[int] = automaton(node)
        self.home = self.machine.edges[0][0][1]  # the state in which nothing is begun
        self.plain = self.machine.edges[self.home][0][0]
        self.longest = max((2 * SHORT, *map(len, node.without)))
        self.counted: dict[Count, Node] = {}
        self.alike: dict[Node, Rule] = {}
        self.chains: dict[tuple[bool, int], Node] = {}
        self.strays: dict[tuple[int, int, int, int], Node] = {}
        self.depth = self._depths()

    def _depths(self) -> dict[int, int]:
        """How far each state is from the one in which nothing is begun."""
        depth, queue = {self.home: 0}, [self.home]
        for state in queue:
            for _, to in self.machine.edges[state]:
                if to not in depth:
                    depth[to] = depth[state] + 1
                    queue.append(to)
        return depth

    def exactly(self, first: Count) -> Node:
        """Every character counted."""
        found = explore(first, self._count, lambda count: count[0] in self.machine.final and not count[1])
        if first[2] is None:
            self.counted.update((count, Rule(self.name)) for count in found.edges if count not in self.counted)
        for count in sorted(found.edges, key=lambda count: count[2] or 0):
            self._write(count, found)
        return self.counted[first]

    def _write(self, count: Count, found: Automaton[Count]) -> None:
        """The rule of one state; bounded ones come after those they lead to, and are shared where they are alike."""
        rule = self.counted.get(count)
        if rule is not None and not (isinstance(rule, Rule) and rule.node == EMPTY):
            return
        classes: dict[Node, Chars] = {}
        for by, to in found.edges[count]:
            target = self.counted[to]
            classes[target] = _union(classes[target], by) if target in classes else by
        body = alt(*(seq(by, target) for target, by in classes.items()), *([EMPTY] if count in found.final else []))
        if isinstance(rule, Rule):
            rule.node = body
        else:
            self.counted[count] = EMPTY if body == EMPTY else self.alike.setdefault(body, Rule(self.name, body))

    def _count(self, count: Count) -> Edges[Count]:
        state, low, high = count
        if high == 0:
            return ()
        less = None if high is None else high - 1
        return tuple((by, (to, max(low - 1, 0), less)) for by, to in self.machine.edges[state])

    def roughly(self, low: int, high: int | None) -> Node:
        """Within the bounds, less than everything; what it must at least have is characters that begin nothing."""
        if self.home == 0 and not low:
            return self._rest(high)
        first = self.machine.edges[0][0][0]
        if low:
            return seq(first, repeat(self.plain, low - 1, low - 1), self._rest(None if high is None else high - low))
        assert high is not None  # without bounds it is counted exactly
        if high <= self.longest:
            return maybe(seq(first, self._rest(high - 1)))
        begun = alt(self._stray(0, 0, 1, SHORT), self._stray(0, 0, SHORT + 1, self.longest))
        return alt(seq(begun, self._rest(high - self.longest)), self._stray(0, 0, 0, self.longest), EMPTY)

    def _rest(self, high: int | None) -> Node:
        """At most so many more characters, from the state in which nothing is begun."""
        if high is None:
            return self.exactly((self.home, 0, None))
        cost = BLOCK - 1 + self.longest
        blocks = max(0, high // cost - 1)
        return seq(repeat(self._chain(BLOCK, ends=False), 0, blocks), self._chain(high - blocks * cost, ends=True))

    def _chain(self, length: int, *, ends: bool) -> Node:
        """Characters and strays that cost `length`; as many if not `ends`, else at most as many."""
        self.chains[ends, 0] = EMPTY
        for left in range(1, length + 1):
            if (ends, left) not in self.chains:
                name = f"{self.name}-{left}" if ends else f"{self.name}-block"
                self.chains[ends, left] = Rule(name, self._ways(left, ends=ends))
        return self.chains[ends, length]

    def _ways(self, left: int, *, ends: bool) -> Node:
        short, long = self._stray(self.home, 0, 1, SHORT), self._stray(self.home, 0, SHORT + 1, self.longest)
        costs: list[tuple[int, Node]] = [(1, self.plain), (SHORT, short), (self.longest, long)]
        ways = [seq(part, self.chains[ends, max(0, left - cost)]) for cost, part in costs if cost <= left or not ends]
        last = [EMPTY, self._stray(self.home, 0, 0, self.longest)] if left >= self.longest else [EMPTY]
        return alt(*ways, *(last if ends else []))

    def _stray(self, state: int, taken: int, least: int, most: int) -> Node:
        """The beginning of something forbidden that comes to nothing after `least` to `most` characters.

        `least` 0: it does not come to nothing, the text ends in it.  A long one no longer begins anew ("<<<<<<").
        """
        key = (state, taken, least, most)
        if key not in self.strays:
            ways = [
                part
                for by, to in self.machine.edges[state]
                if (taken or to != self.home or state != self.home)
                and (taken < SHORT or to == self.home or self.depth[to] > self.depth.get(state, 0))
                for part in (self._after(by, to, taken + 1, least, most),)
            ]
            if not least and taken and state in self.machine.final:
                ways.append(EMPTY)
            found = alt(*ways)
            self.strays[key] = found if found in (NEVER, EMPTY) else Rule(self.name + "-stray", found)
        return self.strays[key]

    def _after(self, by: Node, to: int, taken: int, least: int, most: int) -> Node:
        if to == self.home:
            return by if least and least <= taken else NEVER
        return seq(by, self._stray(to, taken, least, most)) if taken < most else NEVER


def _union(one: Chars, other: Chars) -> Chars:
    if one.negated == other.negated:
        return Chars(one.ranges + other.ranges)
    without, within = (one, other) if one.negated else (other, one)
    return Chars(tuple(part for part in without.ranges if part not in within.ranges), negated=True)
