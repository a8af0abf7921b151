"""Python: calls as Python writes them, `f(city="Oslo", n=2)` or `[f(..), g(..)]`.

Literals without a keyword are the declared parameters in their order.  Around a declared name `print(f(..))`, `api.f(..)`
and `f.call(..)` are read too.  A call as a value is text.
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import Schema
from ..reader import Reader, Steps, Stop, stop
from . import BAD, CUT, OPEN, WHOLE
from .literals import Literals
from .values import WORDS, Frame, Output

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Python"]

_NAME = re.compile(r"[\w.\-]{0,257}")
_MORE = re.compile(r"\s{0,64}[,;]?\s{0,64}(?:(?P<name>[A-Za-z_][\w.\-]{0,256})(?P<ok>\()?)?")
_FIRST = re.compile(r"\s{0,64}(?:(?P<ok>[)\"'\[{\d\-])|[A-Za-z_]\w{0,128}\s{0,8}(?P<eq>=)?)?")
_KEYWORD = re.compile(r"[A-Za-z_]\w{0,128}\s{0,8}(?P<ok>=)?")
_COMMENT = re.compile(r"#[^\n]{0,256}(?P<ok>\n)?")
_NESTED = stop("(", ")", "'", '"')
_CALLED = re.compile(r"[A-Za-z_][\w.]{0,128}\s{0,8}(?P<ok>\()?")


class Python:
    """The codec of `{call}`: one call, or a list of them; `listed`: it is written as a list, of one call too.

    `json`: values are written as JSON, with `true`, `false` and `null`.
    """

    opening = re.compile(
        r"\s{0,256}(?:#[^\n]{0,256}(?:\n\s{0,64})?){0,4}\[?\s{0,64}(?:[A-Za-z_][\w.\-]{0,256})?(?P<ok>\(|(?<=\[)\])?"
    )

    def __init__(self, *, listed: bool = False, json: bool = False) -> None:
        self.listed, self.json = listed, json
        self.several = ("[", ", ", "]") if listed else ("", "\n", "")

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        yield from self._comments(r, call)
        listed = (yield from r.peek()) == "["
        r.pos += listed
        if listed and (yield from r.peek()) == "]" and not call.recovered:
            r.pos += 1
            call.notice("no-call", r.at)
            return WHOLE
        state = yield from self._one(r, call, sure=not call.recovered)
        while state == WHOLE:
            call.end()
            found = yield from r.look(_MORE)
            if found is None or not found["ok"]:
                if found is not None and _cut_short(r, call, found, listed=listed):
                    return CUT
                return (yield from self._close(r, call)) if listed else WHOLE
            state = yield from self._further(r, call, found)
        return WHOLE if state == OPEN else state

    def _comments(self, r: Reader, call: CallSink) -> Steps[None]:
        """Lines of comment before a call are dropped."""
        while (yield from r.peek()) == "#":
            found = yield from r.look(_COMMENT)
            text = found.group() if found else "#"
            call.notice("dropped", r.at, text)
            r.pos += len(text)

    def _close(self, r: Reader, call: CallSink) -> Steps[str]:
        """The end of a list."""
        char = yield from r.peek()
        if char == "]":
            r.pos += 1
        else:
            call.notice("unclosed", r.at)
        return WHOLE

    def _further(self, r: Reader, call: CallSink, found: re.Match[str]) -> Steps[str]:
        """One more call; OPEN if it is none after all, and its text is left to be read anew."""
        start, mine = r.at, r.kept is None
        if mine:
            r.keep(start)
        r.pos = found.start("name")
        state = yield from self._one(r, call, sure=True)
        if state == BAD and not call.open:
            r.reread(start)
            state = OPEN
        if mine and r.kept_at == start and state in (WHOLE, OPEN):
            r.kept = None
        return state

    def _one(self, r: Reader, call: CallSink, *, sure: bool = False) -> Steps[str]:
        """One call; `sure`: others or a mark came before it, so a name and a bracket are enough."""
        yield from r.peek()
        found = yield from r.look(_NAME)
        name = found.group() if found else ""
        r.pos += len(name)
        if not name or not r.buf.startswith("(", r.pos):
            return CUT if r.closed and r.pos == len(r.buf) else BAD
        r.pos += 1
        if name == "print" and call.tools.known and not call.declared(name):
            return (yield from self._printed(r, call, sure=sure))
        name = _known(name, call)
        found = yield from r.look(_FIRST)
        if not found or not (found["ok"] or found["eq"]):
            ended = r.closed and found is not None and found.end() == len(r.buf)
            return CUT if ended and (not (sure or call.cut) or call.begin(name)) else BAD
        if (found["ok"] or ")") != ")" and not _takes_values(name, call):
            return BAD
        if not call.begin(name):
            return BAD
        return (yield from self._arguments(r, call))

    def _printed(self, r: Reader, call: CallSink, *, sure: bool) -> Steps[str]:
        """`print(f(..))` for `f(..)`."""
        state = yield from self._one(r, call, sure=sure)
        if state == WHOLE and (yield from r.peek()) == ")":
            r.pos += 1
            call.notice("repaired", r.at)
        return state

    def _arguments(self, r: Reader, call: CallSink) -> Steps[str]:
        values = _Values(r, call.put, call.schema, call.scope.stop())
        values.stack.append(Frame(")", call.schema, "=", json="}"))
        values.say("{")
        state = yield from values.run("first")
        call.follow(values)
        return state

    def encode(self, call: Call) -> str:
        pairs = json.loads(call.arguments).items()
        write = _dump if self.json else _write
        return f"{call.name}({', '.join(f'{key}={write(value)}' for key, value in pairs)})"

    def grammar(self, tool: Tool) -> Node:
        return shapes.python(tool, json=self.json)


def _cut_short(r: Reader, call: CallSink, found: re.Match[str], *, listed: bool) -> bool:
    """Whether the text ended in the name of one more call, or in a list behind a comma."""
    if not r.closed or found.end() < len(r.buf):
        return False
    name = found["name"] or ""
    begun = call.cut or any(tool.startswith(name) for tool in call.tools.by_name)
    return begun and bool(name or ((listed or call.cut) and found.group().strip()))


def _takes_values(name: str, call: CallSink) -> bool:
    """Whether values without keywords may stand behind a name: not where the call has no mark although it should."""
    return call.lenience != "recovered" and call.declared(name) and bool(call.tools.schema(name).properties())


def _known(name: str, call: CallSink) -> str:
    """The declared name that stands in another one: `api.f`, `f.call`."""
    if call.declared(name):
        return name
    return next((one for one in (name.removesuffix(".call"), name.rpartition(".")[2]) if call.declared(one)), name)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(value: object) -> str:
    """A value as Python writes it; strings with JSON's escapes, which Python reads the same."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(map(_write, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_write(key)}: {_write(item)}" for key, item in value.items()) + "}"
    return repr(value)


class _Values(Literals):
    """`Literals` whose outermost container has bare keys, or none."""

    __slots__ = ("given",)

    def __init__(self, r: Reader, put: Output, schema: Schema, behind: Stop) -> None:
        super().__init__(r, put, schema, behind)
        self.given: set[str] = set()

    def key(self, char: str, top: Frame) -> Steps[str]:
        if top.keys != "=":
            return (yield from super().key(char, top))
        start = self.r.at
        found = yield from self.r.look(_KEYWORD)
        if found is not None and not found["ok"] and self.r.closed and found.end() == len(self.r.buf):
            self.r.rest()
            return CUT
        if found is None or not found["ok"]:
            return self.positional(top)
        found = yield from self.r.look(_NAME)
        name = found.group() if found else ""
        self.r.pos += len(name)
        self.given.add("")
        self.pending += json.dumps(name)
        return (yield from self.colon(top, name, start))

    def positional(self, top: Frame) -> str:
        """A value without a key: the next declared parameter."""
        name = next((key for key in top.schema.properties_in_order() if key not in self.given), "")
        if not name or "" in self.given:  # Python takes none behind a keyword
            return BAD
        self.given.add(name)
        self.pending += json.dumps(name) + ": "
        self.schema = top.schema.property(name)
        return "value"

    def separate(self, char: str) -> str:
        """After an item; where the list of calls ends, only the bracket of the last call is missing."""
        if char != "]" or len(self.stack) > 1:
            return super().separate(char)
        self.noted = "unclosed"
        self.say(self.stack.pop().json)
        return WHOLE

    def leaf(self, char: str) -> Steps[str]:
        found = (yield from self.r.look(_CALLED)) if char.isalpha() or char == "_" else None
        if found is None or not found["ok"]:
            return (yield from super().leaf(char))
        text = yield from self.called()
        if text is None:
            return CUT
        if not self.inside().allows("string"):
            return BAD
        self.say(json.dumps(text, ensure_ascii=False))
        return WHOLE

    def called(self) -> Steps[str | None]:
        """A call as a value: its text up to the bracket that closes it; None if the text ended in it."""
        pieces: list[str] = []
        depth, quote = 0, ""
        while mark := (yield from self.r.until(_NESTED, lambda text, _at: pieces.append(text))):
            pieces.append(mark)
            if quote or mark in "\"'":
                quote = "" if mark == quote else quote or mark
                continue
            depth += 1 if mark == "(" else -1
            if not depth:
                return "".join(pieces)
        self.pending += "".join(pieces)
        return None

    def literal(self, word: str) -> str | None:
        """A bare scalar; Python's words are this syntax's own."""
        return WORDS.get(word) or super().literal(word) or _number(word)


def _number(word: str) -> str | None:
    """A number that only Python writes so (`1_000`, `0x1f`, `5.`)."""
    try:
        value = ast.literal_eval(word)
        return json.dumps(value, allow_nan=False) if type(value) in (int, float) else None
    except (ValueError, SyntaxError):
        return None
