r"""Regular expressions as examples with holes: what a pattern matches, as far as it is marks and named groups.

    <tool_call>\s*<function=(?P<name>[^>]+)>     ->   "<tool_call><function={name}>"
    <a>|<b>                                        ->   "<a>", "<b>"

White space that may be missing is left out, a newline that may be missing stays.  What stands for any text outside
a named group cannot be an example.
"""

from __future__ import annotations

from ..errors import UsageError

__all__ = ["examples"]

_MOST = 16
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ANY = "wWdDSsbBAZ"


def examples(pattern: str, group: str = "") -> list[str]:
    """The texts that a pattern stands for, the first first.

    Args:
        pattern: the regular expression.
        group: the name of a group that has none; "" where such a group is only what it holds.

    Raises:
        UsageError: it stands for more than a few texts.
    """
    return _Reading(pattern, group).all()


class _Reading:
    """One pattern being read."""

    def __init__(self, pattern: str, unnamed: str) -> None:
        self.pattern, self.unnamed, self.at = pattern, unnamed, 0

    def all(self) -> list[str]:
        found = list(dict.fromkeys(self.choice()))
        if self.at < len(self.pattern):
            raise self.unclear("its brackets do not match")
        return found

    def choice(self) -> list[str]:
        """Alternatives, up to a closing bracket or the end."""
        found = self.sequence()
        while self.peek() == "|":
            self.at += 1
            found += self.sequence()
        return found[:_MOST]

    def sequence(self) -> list[str]:
        found = [""]
        while (char := self.peek()) and char not in "|)":
            part = self.repeated()
            found = [one + other for one in found for other in part][:_MOST]
        return found

    def repeated(self) -> list[str]:
        """An atom with what says how often."""
        start = self.at
        part = self.atom()
        sign = self.sign()
        if part is None:
            if self.pattern.startswith(("\\s", "[\\s]"), start):
                return ["" if sign[:1] in ("*", "?") else "\n"]
            raise self.unclear(f"{self.pattern[start : self.at]!r} stands for any text")
        if sign[:1] == "*":
            return [""]
        return part if sign in ("", "?", "??") else part if sign[:1] == "+" else [one * int(sign) for one in part]

    def atom(self) -> list[str] | None:
        """One thing, None for a class of characters."""
        char = self.take()
        if char == "\\":
            char = self.take()
            return None if char in _ANY and char not in "bBAZ" else [_ESCAPES.get(char, "" if char in "bBAZ" else char)]
        if char == "[":
            return self.of_class()
        if char == "(":
            return self.group()
        return None if char == "." else [""] if char in "^$" else [char]

    def of_class(self) -> list[str] | None:
        start = self.at
        self.at += self.peek() == "^"
        self.at += self.peek() == "]"
        while self.take() != "]":
            self.at += self.pattern[self.at - 1] == "\\"
        inside = self.pattern[start : self.at - 1]
        return [inside] if len(inside) == 1 else None

    def group(self) -> list[str]:
        """A group: a named one is a hole, one that only looks is nothing."""
        rest = self.pattern[self.at :]
        if rest.startswith("?P<"):
            name = rest[3:].partition(">")[0]
            self.skip()
            return [f"{{{name}}}"]
        if rest.startswith(("?=", "?!", "?<=", "?<!")):
            self.skip()
            return [""]
        if self.unnamed and not rest.startswith("?"):
            self.skip()
            return [f"{{{self.unnamed}}}"]
        self.at += 2 * rest.startswith("?:")
        found = self.choice()
        if self.take() != ")":
            raise self.unclear("its brackets do not match")
        return found

    def skip(self) -> None:
        """To behind the bracket that closes the group at the cursor."""
        depth = 1
        while depth:
            char = self.take()
            if char == "\\":
                self.take()
            elif char == "[":
                self.of_class()
            else:
                depth += (char == "(") - (char == ")")

    def sign(self) -> str:
        """How often: "", `?`, `*`, `+`, or a number."""
        char = self.peek()
        if char == "{" and self.pattern[self.at + 1 : self.at + 2].isdigit():
            inside, _, _ = self.pattern[self.at + 1 :].partition("}")
            self.at += len(inside) + 2
            return inside.partition(",")[0]
        if not char or char not in "?*+":
            return ""
        self.at += 1
        self.at += self.peek() in ("?", "+")
        return char

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        char = self.peek()
        if not char:
            raise self.unclear("it ends too early")
        self.at += 1
        return char

    def unclear(self, why: str) -> UsageError:
        return UsageError(f"the pattern {self.pattern!r:.200} cannot be read as marks: {why}")
