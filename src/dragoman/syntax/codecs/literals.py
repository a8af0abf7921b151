"""Literals: values as Python writes them: prefixes, triple quotes, neighbouring strings, and all of Python's escapes.

A quote ends a string where something may follow it in Python; one that stands amid words is part of the text, since
models forget to escape it.
"""

from __future__ import annotations

import re
import unicodedata

from ..kinds import ANY, Schema, quote
from ..reader import Reader, Steps, Stop
from .values import ALIKE_PYTHON, ALIKE_RAW, DEEPEST, Frame, Output, Values

__all__ = ["Literals"]

_PREFIX = re.compile(r"(?:[rbufRBUF]{1,2}(?P<ok>[\"'])?)?")
_OPENING = {mark: re.compile(f"{mark}(?:{mark}(?P<ok>{mark})?)?") for mark in "\"'"}
_NEIGHBOUR = re.compile(r"\s{0,64}(?:[rbufRBUF]{0,2}(?P<ok>[\"'])?)")
_RAW = re.compile(r"\\(?P<ok>[\s\S])?")
_AFTER = re.compile(r"\s{0,64}(?:(?P<ok>[,)\]}:\"'+%.=;#]))?")
_NUMBERED = re.compile(r"\\(?:x[0-9a-fA-F]{0,2}|[0-7]{1,3}|N(?:\{[A-Z0-9 \-]{0,64}\}?)?|U[0-9a-fA-F]{0,8})?")
_WHOLE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|[0-7]{3}|N\{[A-Z0-9 \-]{1,64}\}|U[0-9a-fA-F]{8})")


class Literals(Values):
    """`Values` with Python's strings.

    `raw`: backslashes mean themselves.  `triple`: three quotes stand around it.  `behind`: the marks that may follow.
    """

    __slots__ = ("behind", "raw", "triple")

    def __init__(self, r: Reader, put: Output, schema: Schema = ANY, behind: Stop | None = None) -> None:
        super().__init__(r, put, schema, python=True)
        self.raw = self.triple = False
        self.behind = behind

    def push(self, char: str) -> bool:
        """A container opens; braces where the schema wants a list are a set."""
        kinds = self.inside().kinds
        if char != "{" or kinds is None or "object" in kinds or "array" not in kinds or len(self.stack) >= DEEPEST:
            return super().push(char)
        self.r.pos += 1
        self.stack.append(Frame("}", self.inside(), json="]"))
        self.say("[")
        return True

    def leaf(self, char: str) -> Steps[str]:
        self.raw = False
        if char in "rbufRBUF":
            found = yield from self.r.look(_PREFIX)
            if found is not None and found["ok"]:
                self.raw = "r" in found.group().lower()
                self.r.pos = found.end() - 1
                char = found["ok"]
        return (yield from super().leaf(char))

    def string(self, mark: str, put: Output) -> Steps[bool]:
        """The inside of a string, and of those right behind it."""
        while True:
            self.r.pos -= 1
            found = yield from self.r.look(_OPENING[mark])
            self.triple = found is not None and found["ok"] is not None
            self.r.pos += 3 if self.triple else 1
            if not (yield from super().string(mark, put)):
                return False
            found = yield from self.r.look(_NEIGHBOUR)
            if found is None or not found["ok"]:
                return True
            mark = found["ok"]
            self.r.pos = found.end()

    def alike(self) -> dict[str, re.Pattern[str]]:
        return ALIKE_RAW if self.raw else ALIKE_PYTHON

    def closes(self, mark: str) -> Steps[bool]:
        r = self.r
        if self.triple:
            found = yield from r.look(_OPENING[mark])
            whole = found is not None and found["ok"] is not None
            r.pos += 2 * whole
            return whole
        found = yield from r.look(_AFTER, 1)
        if found is None or found["ok"] or found.end() == len(r.buf):
            return True
        if self.behind is not None and (yield from r.ahead(self.behind, 1))[0]:
            return True
        self.noted = "repaired"
        return False

    def escape(self) -> Steps[int]:
        if self.raw:
            found = yield from self.r.look(_RAW)
            return 2 if found is not None and found["ok"] in ("'", '"') else 1
        found = yield from self.r.look(_NUMBERED)
        size = len(found.group()) if found else 0
        if self.r.closed and self.r.pos + size == len(self.r.buf):
            return 0
        return size if size > 1 else (yield from super().escape())

    def mend_escape(self, source: str, mark: str) -> str:
        if self.raw:
            return quote(source)
        if source[1] == "N" and _WHOLE.fullmatch(source):
            try:
                return quote(unicodedata.lookup(source[3:-1]))
            except KeyError:
                return quote(source)
        if source[1] in "01234567":
            return _character(int(source[1:], 8), source)
        if _WHOLE.fullmatch(source):
            return _character(int("0x" + source[2:], 0), source)
        return quote(source) if len(source) > 2 and source[1] in "xNU" else super().mend_escape(source, mark)


def _character(code: int, source: str) -> str:
    return quote(chr(code)) if code < 0x110000 else quote(source)
