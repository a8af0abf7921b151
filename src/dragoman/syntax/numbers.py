"""Integers and numbers between bounds, as grammar.

An integer has at most 16 digits and a number a short exponent, so every one of them is finite, fits a float, and a
model that never stops writing digits is stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import Any

from .grammar import NEVER, Chars, Node, Rule, alt, chars, literal, maybe, repeat, seq

__all__ = ["INTEGER", "NUMBER", "bound", "integers", "numbers"]

LARGEST = 16

_DIGIT = chars("0-9")
_WHOLE = alt(literal("0"), seq(chars("1-9"), repeat(_DIGIT, 0, LARGEST - 1)))
_FRACTION = seq(literal("."), repeat(_DIGIT, 1, LARGEST))
_EXPONENT = seq(chars("eE"), maybe(chars("+-")), repeat(_DIGIT, 1, 2))

INTEGER = Rule("integer", seq(maybe(literal("-")), _WHOLE))
NUMBER = Rule("number", seq(maybe(literal("-")), _WHOLE, maybe(_FRACTION), maybe(_EXPONENT)))


def integers(low: int | None, high: int | None) -> Node:
    """All integers of at most 16 digits from `low` to `high`; None is no bound."""
    if low is None and high is None:
        return INTEGER
    most = 10**LARGEST - 1
    first, last = max(-most, -most if low is None else low), min(most, most if high is None else high)
    below = _natural(max(1, -last), -first) if first < 0 else NEVER
    return alt(seq(literal("-"), below), _natural(max(0, first), last) if last >= 0 else NEVER)


def numbers(low: float | None, high: float | None, *, above: bool = False, below: bool = False) -> Node:
    """Numbers from `low` to `high`, or `above` the one and `below` the other.

    The fractions are those between two neighbouring integers that are both within; `NEVER` if that is nothing.
    """
    if low is None and high is None:
        return NUMBER
    positive = _magnitude(low, high, above=above, below=below)
    if low is not None and low >= 0:
        return positive
    negative = _magnitude(None if high is None else -high, None if low is None else -low, above=below, below=above)
    return alt(seq(literal("-"), negative), positive)


def _magnitude(low: float | None, high: float | None, *, above: bool, below: bool) -> Node:
    """Numbers without a sign."""
    most = 10**LARGEST - 1
    first = 0 if low is None or low < 0 else floor(low) + 1 if above else ceil(low)
    last = most if high is None else ceil(high) - 1 if below else floor(high)
    decimals = most if high is None else floor(high) - 1
    fractions = seq(_natural(first, min(decimals, most)), _FRACTION)
    return alt(_natural(first, min(last, most)), fractions)


def _natural(low: int, high: int) -> Node:
    """The integers from `low` to `high`, neither negative."""
    ways, length = [], len(str(low))
    while low <= high:
        top = min(high, 10**length - 1)
        if str(low) == "1" + "0" * (length - 1) and high >= 10 ** (length + 1):
            whole = len(str(high + 1)) - 1  # all lengths up to this one are whole
            ways.append(seq(chars("1-9"), repeat(_DIGIT, length - 1, whole - 1)))
            low, length = 10**whole, whole + 1
            continue
        ways.append(_digits(str(low), str(top)))
        low, length = top + 1, length + 1
    return alt(*ways)


def _digits(low: str, high: str, before: str = "") -> Node:
    """The digits from `low` to `high`, both of one length, behind those that stand already."""
    if not low:
        return literal(before)
    if set(low) == {"0"} and set(high) == {"9"}:
        return seq(literal(before), repeat(_DIGIT, len(low), len(low)))
    first, last, rest = int(low[0]), int(high[0]), len(low) - 1
    if first == last:
        return _digits(low[1:], high[1:], before + low[0])
    ways = []
    if low[1:].strip("0"):
        ways.append(_digits(low[1:], "9" * rest, before + low[0]))
        first += 1
    end = _digits("0" * rest, high[1:], before + high[0]) if high[1:].strip("9") else NEVER
    last -= end != NEVER
    if first <= last:
        ways.append(seq(literal(before), Chars(((str(first), str(last)),)), repeat(_DIGIT, rest, rest)))
    return alt(*ways, end)


def bound(node: Mapping[str, Any], word: str, exclusive: str, tighter: Any) -> tuple[float | None, bool]:
    """A bound, and whether it is excluded itself (older schemas write that as a boolean beside it)."""
    plain = node.get(word) if _is_number(node.get(word)) else None
    other = node.get(exclusive)
    if other is True:
        return plain, True
    if not _is_number(other) or (plain is not None and tighter(plain, other) == plain != other):
        return plain, False
    return other, True


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e300
