r"""A Lark grammar that a client sends, as a grammar tree: what the input of a free-text tool must be.

Read: rules and terminals, texts (also `"a".."z"` and `"x"i`), regular expressions of the simple part, groups, `[ ]`,
`? * + ~ { }`, aliases, priorities, `%import common`, `%ignore`.  Not read: templates, `%declare`, tokens of a model,
look-around, and rules that begin with themselves by way of another one.

There is no lexer: a text is one that the rules write letter by letter.  Where terminals overlap, Lark's lexer takes the
longest one and refuses some of these texts.  Of what is ignored one piece may stand behind each terminal.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

from ..errors import UsageError
from .grammar import EMPTY, Chars, Node, Rule, alt, literal, maybe, repeat, seq
from .pattern import folded, whole
from .recursion import check_recursion, straightened

__all__ = ["read_lark"]

_LONGEST = 20_000
_DEEPEST = 50  # groups inside each other
_MOST = 1000
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\f]+|//[^\n]*|\#[^\n]*)
      | (?P<line>\n)
      | (?P<name>_*[A-Za-z]\w*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"i?)
      | (?P<regex>/(?:[^/\\\n]|\\.)+/[a-z]*)
      | (?P<number>\d+)
      | (?P<sign>->|\.\.|%\w+|[:|()\[\]{}?!*+~.,])""",
    re.VERBOSE,
)
_NUMBER = r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
_COMMON = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[0-9a-fA-F]",
    "INT": "[0-9]+",
    "SIGNED_INT": "[+-]?[0-9]+",
    "DECIMAL": r"[0-9]+\.[0-9]*|\.[0-9]+",
    "FLOAT": _NUMBER,
    "SIGNED_FLOAT": f"[+-]?({_NUMBER})",
    "NUMBER": f"{_NUMBER}|[0-9]+",
    "SIGNED_NUMBER": f"[+-]?({_NUMBER}|[0-9]+)",
    "ESCAPED_STRING": r'"([^"\\\n]|\\.)*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[A-Za-z_][A-Za-z0-9_]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "SQL_COMMENT": r"--[^\n]*",
}
"""What `%import common` knows."""

_Token = tuple[str, str]


def read_lark(definition: str) -> Node:
    """What the rule `start` writes.

    Raises:
        UsageError: it cannot be read, or no text satisfies it.
    """
    if len(definition) > _LONGEST:
        raise UsageError(f"the grammar has more than {_LONGEST} characters")
    statements = _statements(definition)
    known = _Known()
    for statement in statements:
        _Statement(statement, known).declare()
    if "start" not in known.rules:
        raise UsageError("the grammar has no rule `start`")
    for statement in statements:
        _Statement(statement, known).define()
    rules = list(known.rules.values())
    for rule in rules:
        rule.node = straightened(rule)
    check_recursion(rules)
    return known.rules["start"]


@dataclass
class _Known:
    """The names of a grammar, and what may stand between its terminals."""

    rules: dict[str, Rule] = field(default_factory=dict)
    ignored: list[Node] = field(default_factory=list)

    @property
    def gap(self) -> Node:
        return maybe(alt(*self.ignored)) if self.ignored else EMPTY


def _statements(definition: str) -> list[list[_Token]]:
    """The statements: each begins a line, with its name or with a sign `%`; `%ignore` comes first, as rules need it."""
    found: list[list[_Token]] = []
    fresh, at = True, 0
    while at < len(definition):
        token = _TOKEN.match(definition, at)
        if token is None:
            _refuse(f"it has {definition[at : at + 20]!r}, which is not understood here")
        at, kind = token.end(), str(token.lastgroup)
        if kind == "line":
            fresh = True
        elif kind != "blank":
            if fresh and _begins(definition, token):
                found.append([])
            elif not found:
                _refuse(f"it begins with {token[0]!r}, and not with a rule")
            found[-1].append((kind, token[0]))
            fresh = False
    return sorted(found, key=lambda statement: statement[0][1] != "%ignore")


def _begins(definition: str, token: re.Match[str]) -> bool:
    """Whether a token that begins a line begins a statement too; else the last one goes on."""
    head = re.compile(r"[?!]*_*[A-Za-z]\w*[ \t]*(\.[ \t]*\d+[ \t]*)?[:{\[]")
    return token[0].startswith("%") or head.match(definition, token.start()) is not None


class _Statement:
    """One statement being read."""

    def __init__(self, tokens: list[_Token], known: _Known) -> None:
        self.tokens, self.known, self.at, self.depth = tokens, known, 0, 0
        self.in_rule = False

    def declare(self) -> None:
        """Make its names known."""
        if self.take("%import"):
            self.imported()
        elif not self.tokens[0][1].startswith("%"):
            name = self.head()
            if name in self.known.rules:
                _refuse(f"the rule {name!r} stands in it twice")
            self.known.rules[name] = Rule(name)

    def define(self) -> None:
        """Read what it says."""
        if self.take("%import"):
            return
        if self.take("%ignore"):
            self.known.ignored.append(self.ways())
        elif self.tokens[0][1].startswith("%"):
            _refuse(f"{self.tokens[0][1]} is not offered here")
        else:
            name = self.head()
            self.in_rule = name.strip("_")[:1].islower()
            self.known.rules[name].node = self.ways()
        if self.at < len(self.tokens):
            _refuse(f"{self.text!r} is not understood where it stands")

    def head(self) -> str:
        while self.text in ("?", "!"):
            self.at += 1
        name = self.next("name")
        if self.take("."):
            self.next("number")
        if not self.take(":"):
            _refuse(f"the rule {name!r} is of a form that is not offered here ({self.text})")
        return name

    def imported(self) -> None:
        """`%import common.WS`, `%import common.WS -> SPACE`, `%import common (WS, INT)`."""
        if self.next("name") != "common":
            _refuse("only common terminals can be imported")
        names = []
        if self.take("."):
            names = [self.next("name")]
        elif self.take("("):
            names = [self.next("name")]
            while self.take(","):
                names.append(self.next("name"))
            self.take(")")
        for name in names:
            if name not in _COMMON:
                _refuse(f"there is no common terminal {name!r}")
            given = self.next("name") if self.take("->") else name
            self.known.rules[given] = Rule(given, whole(_COMMON[name]) or EMPTY)

    def ways(self) -> Node:
        """Alternatives, each with its alias."""
        ways = [self.sequence()]
        while self.take("|"):
            ways.append(self.sequence())
        return alt(*ways)

    def sequence(self) -> Node:
        parts = []
        while self.text not in ("", "|", ")", "]", "->"):
            parts.append(self.repeated(self.one()))
        if self.take("->"):
            self.next("name")
        return seq(*parts)

    def repeated(self, part: Node) -> Node:
        if self.take("?"):
            return maybe(part)
        if self.take("*"):
            return repeat(part)
        if self.take("+"):
            return repeat(part, 1)
        if self.take("~"):
            low = int(self.next("number"))
            return repeat(part, *self.bounded(low, int(self.next("number")) if self.take("..") else low))
        return self.braces(part) if self.take("{") else part

    def braces(self, part: Node) -> Node:
        low = 0 if self.text == "," else int(self.next("number"))
        high: int | None = low
        if self.take(","):
            high = None if self.text == "}" else int(self.next("number"))
        self.take("}")
        return repeat(part, *self.bounded(low, high))

    def bounded(self, low: int, high: int | None) -> tuple[int, int | None]:
        if max(low, high or 0) > _MOST or (high is not None and high < low):
            _refuse(f"a part may be repeated up to {_MOST} times")
        return low, high

    def one(self) -> Node:
        kind, text = self.tokens[self.at]
        self.at += 1
        if text in ("(", "["):
            return self.group(text)
        if kind == "text":
            return self.terminal(self.ranged(text))
        if kind == "regex":
            return self.terminal(_expression(text))
        if kind != "name" or self.text == "{":
            _refuse(f"{text!r} is not offered here")
        if text not in self.known.rules:
            _refuse(f"there is no rule {text!r}")
        rule = self.known.rules[text]
        return rule if text.strip("_")[:1].islower() else self.terminal(rule)

    def group(self, opening: str) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            _refuse(f"groups are nested more than {_DEEPEST} levels deep")
        inside = self.ways()
        if not self.take(")" if opening == "(" else "]"):
            _refuse(f"a group that begins with {opening!r} has no end")
        self.depth -= 1
        return inside if opening == "(" else maybe(inside)

    def ranged(self, text: str) -> Node:
        first = _string(text)
        if not self.take(".."):
            return folded(literal(first)) if text.endswith("i") else literal(first)
        last = _string(self.next("text"))
        if len(first) != 1 or len(last) != 1 or last < first:
            _refuse(f"{text}..{last!r} is no range of characters")
        return Chars(((first, last),))

    def terminal(self, node: Node) -> Node:
        """What is ignored may follow it, where it stands in a rule."""
        return seq(node, self.known.gap) if self.in_rule else node

    @property
    def text(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def next(self, kind: str) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at][0] != kind:
            _refuse(f"a {kind} is missing" + (f" before {self.text!r}" if self.text else ""))
        self.at += 1
        return self.tokens[self.at - 1][1]

    def take(self, sign: str) -> bool:
        found = self.text == sign
        self.at += found
        return found


def _string(text: str) -> str:
    """What a text between quotes is; escapes are those of JSON, and of two hexadecimal digits behind an x."""
    inside = re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", text.removesuffix("i"))
    try:
        found: str = json.loads(re.sub(r"""\\([^"\\/bfnrtu])""", r"\\\\\1", inside))
    except ValueError:
        _refuse(f"the text {text} cannot be read")
    return found


def _expression(text: str) -> Node:
    body, _, flags = text[1:].rpartition("/")
    found = whole(body, lines="s" in flags)
    if found is None or set(flags) - set("ismu"):
        _refuse(f"the expression {text[:60]} has more in it than is offered here, or is too large")
    return folded(found) if "i" in flags else found


def _refuse(problem: str) -> NoReturn:
    raise UsageError(f"the grammar cannot be used: {problem}")
