r"""The simple part of regular expressions, as grammar: what JSON Schema's `pattern` mostly holds.

Read: characters, classes, `\d \w \s` and their negations, groups, alternatives, `* + ? {m,n}`, anchors at the two
ends.  Not read (`None`): look-around, references, word borders, anchors elsewhere.
As in the schema, a pattern without an anchor may stand anywhere in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from .grammar import ANY, EMPTY, Alt, Chars, Literal, Node, Repeat, Seq, alt, chars, rebuilt, repeat, seq

__all__ = ["folded", "pattern", "span", "whole"]

_CLASSES = {
    "d": chars("0-9"),
    "w": chars("A-Za-z0-9_"),
    "s": chars(" \t\n\r\f\v"),
}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_NOT_LINES = chars("\n\r\u2028\u2029", negated=True)
_LARGEST = 1000
_DEEPEST = 50  # groups inside each other
_LONGEST = 2000
_COPIES = 4000  # characters and groups, once every bound is written out


class _Unread(Exception):
    """Something that is not in the simple part."""


def pattern(regex: str) -> Node | None:
    """What matches the expression, or None if it is not simple, or so large that it would cost an engine much."""
    return _read(_Pattern(regex))


def whole(regex: str, *, lines: bool = False) -> Node | None:
    """What the expression matches from its beginning to its end; `lines`: a dot stands for the end of a line too."""
    return _read(_Pattern(regex, anywhere=EMPTY, dot=ANY if lines else _NOT_LINES))


def folded(node: Node) -> Node:
    """The same with letters of either case."""

    def leaf(node: Node) -> Node:
        match node:
            case Literal(plain):
                return seq(*(_either(char) for char in plain))
            case Chars(ranges, negated):
                more = (pair for low, high in ranges for pair in _other_case(low, high))
                return Chars((*ranges, *more), negated)
        return node

    return rebuilt(node, leaf)


def _either(char: str) -> Node:
    cases = [one for one in dict.fromkeys((char, char.lower(), char.upper())) if len(one) == 1]
    return Chars(tuple((one, one) for one in cases)) if len(cases) > 1 else Literal(char)


def _other_case(low: str, high: str) -> Iterator[tuple[str, str]]:
    """The letters of the other case, as far as there is one for each in ASCII."""
    for first, last, distance in (("a", "z", -32), ("A", "Z", 32)):
        begin, end = max(low, first), min(high, last)
        if begin <= end:
            yield chr(ord(begin) + distance), chr(ord(end) + distance)


def _read(reading: _Pattern) -> Node | None:
    if len(reading.regex) > _LONGEST:
        return None
    try:
        found = reading.whole()
    except (_Unread, IndexError, ValueError):
        return None
    return found if _copies(found) <= _COPIES else None


def _copies(node: Node) -> int:
    """How large a pattern is with its bounds written out, as engines do."""
    match node:
        case Seq(parts) | Alt(parts):
            return sum(map(_copies, parts))
        case Repeat(part, low, high):
            return _copies(part) * max(low, high or 1)
    return 1


def span(node: Node) -> tuple[int, int | None]:
    """The fewest and the most characters that a pattern matches."""
    match node:
        case Literal(text):
            return len(text), len(text)
        case Seq(parts) | Alt(parts):
            spans = [span(part) for part in parts]
            low = [least for least, _ in spans]
            high = [most for _, most in spans if most is not None]
            both = sum if isinstance(node, Seq) else max
            lowest = sum(low) if isinstance(node, Seq) else min(low, default=0)
            return lowest, both(high or [0]) if len(high) == len(spans) else None
        case Repeat(part, low, high):
            least, most = span(part)
            return least * low, None if high is None or most is None else most * high
    return 1, 1


class _Pattern:
    """One expression being read."""

    def __init__(self, regex: str, anywhere: Node | None = None, dot: Node = _NOT_LINES) -> None:
        self.regex, self.at, self.groups = regex, 0, 0
        self.anywhere, self.dot = repeat(ANY) if anywhere is None else anywhere, dot

    def whole(self) -> Node:
        """Alternatives, each with its own anchors."""
        ways = [self._anchored()]
        while self._take("|"):
            ways.append(self._anchored())
        if self.at < len(self.regex):
            raise _Unread
        return alt(*ways)

    def _anchored(self) -> Node:
        begin = EMPTY if self._take("^") else self.anywhere
        body = self._sequence()
        return seq(begin, body, EMPTY if self._take("$") else self.anywhere)

    def _ways(self) -> Node:
        ways = [self._sequence()]
        while self._take("|"):
            ways.append(self._sequence())
        return alt(*ways)

    def _sequence(self) -> Node:
        parts = []
        while self.at < len(self.regex) and self.regex[self.at] not in "|)$":
            parts.append(self._repeated(self._one()))
        return seq(*parts)

    def _repeated(self, part: Node) -> Node:
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._peek())
        if bounds:
            self.at += 1
        elif self._peek() == "{":
            bounds = self._braces()
        else:
            return part
        if self._peek() in ("*", "+", "{"):
            raise _Unread
        self._take("?")  # lazy or not, it matches the same texts
        return repeat(part, *bounds)

    def _braces(self) -> tuple[int, int | None]:
        end = self.regex.index("}", self.at)
        low, comma, high = self.regex[self.at + 1 : end].partition(",")
        self.at = end + 1
        bounds = int(low), (int(high) if high else None) if comma else int(low)
        if max(bounds[0], bounds[1] or 0) > _LARGEST:
            raise _Unread
        return bounds

    def _one(self) -> Node:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._set()
        if char == ".":
            return self.dot
        if char == "\\":
            found = self._escape()
            return found if isinstance(found, Chars) else Literal(found)
        if char in "^*+?{":
            raise _Unread
        return Literal(char)

    def _group(self) -> Node:
        if self._take("?") and not self._take(":"):
            name = self._take("P<") or self._take("<")
            if not name or self._peek() in ("=", "!"):
                raise _Unread
            self.at = self.regex.index(">", self.at) + 1
        self.groups += 1
        if self.groups > _DEEPEST:
            raise _Unread
        body = self._ways()
        if not self._take(")"):
            raise _Unread
        self.groups -= 1
        return body

    def _set(self) -> Chars:
        negated = self._take("^")
        ranges: tuple[tuple[str, str], ...] = ()
        while not self._take("]"):
            low = self._member()
            if isinstance(low, Chars):
                ranges += low.ranges
            elif self._peek() == "-" and self.regex[self.at + 1] != "]":
                self.at += 1
                high = self._member()
                if isinstance(high, Chars) or high < low:
                    raise _Unread
                ranges += ((low, high),)
            else:
                ranges += ((low, low),)
        if not ranges:
            raise _Unread
        return Chars(ranges, negated)

    def _member(self) -> str | Chars:
        char = self._next()
        if char != "\\":
            return char
        if self._take("b"):
            return "\b"
        found = self._escape()
        if isinstance(found, Chars) and found.negated:
            raise _Unread
        return found

    def _escape(self) -> str | Chars:
        char = self._next()
        if char.lower() in _CLASSES:
            known = _CLASSES[char.lower()]
            return known if char.islower() else Chars(known.ranges, negated=True)
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "xu":
            digits = self.regex[self.at : self.at + (2 if char == "x" else 4)]
            self.at += len(digits)
            return chr(int(digits, 16))
        if char.isalnum():
            raise _Unread
        return char

    def _peek(self) -> str:
        return self.regex[self.at : self.at + 1]

    def _next(self) -> str:
        self.at += 1
        return self.regex[self.at - 1]

    def _take(self, text: str) -> bool:
        found = self.regex.startswith(text, self.at)
        self.at += len(text) * found
        return found
