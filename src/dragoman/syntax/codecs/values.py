"""Values: JSON, Python literals and their relatives, read live into JSON text.

One reader with an explicit stack, so nesting costs nothing and cannot overflow.  What it promises:

*   A string goes out as it comes.  A key, a bare scalar and a half escape wait for their end, together with the comma
    before them, so what went out plus `missing()` is always JSON.
*   Verbatim where the source is JSON: white space and spelling are kept.
*   A string whose schema allows no string waits, and is typed by the schema.
*   What is broken stays as it is written (`flawed`), and is never guessed at; `repair` takes trailing commas, Python
    words and quotes, and raw control characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..kinds import ANY, NUMBER, Schema, quote, typed
from ..reader import Reader, Steps
from . import BAD, CUT, WHOLE

__all__ = ["ALIKE_PYTHON", "ALIKE_RAW", "DEEPEST", "WORDS", "Frame", "Output", "Values"]

Output = Callable[[str, int, int], None]

DEEPEST = 64

WORDS = {"True": "true", "False": "false", "None": "null"}
"""Python's words in JSON."""

_LITERALS = frozenset(("true", "false", "null"))
_TOKEN = re.compile(r"[\w.+\-]*")
_ZEROS = re.compile(r"(-?)0+(\d+)", re.ASCII)
_STRING = {'"': re.compile(r'["\\\x00-\x1f]'), "'": re.compile(r"['\"\\\x00-\x1f]")}
_CHARS, _ESCAPE, _NUMBERED = r'[^%s"\\\x00-\x1f]', r'\\["\\/bfnrt]', r"\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
_ESCAPES = frozenset('"\\/bfnrtu')
_HEX = re.compile(r"\\u[0-9a-fA-F]{4}")


def _alike(escapes: str) -> dict[str, re.Pattern[str]]:
    """For either quote: how a string goes on that is written in JSON as it stands."""
    return {mark: re.compile(f"(?:{_CHARS % mark}|{escapes})*+") for mark in "\"'"}


# JSON's strings, Python's, and those in which a backslash means itself.
ALIKE, ALIKE_PYTHON, ALIKE_RAW = map(_alike, (f"{_ESCAPE}|{_NUMBERED}", _ESCAPE, "(?!)"))
_PYTHON = {"'": "'", "a": "\\u0007", "v": "\\u000b", "0": "\\u0000", "\n": ""}


@dataclass(slots=True)
class Frame:
    """An open container: what closes it, its schema, how its keys are written ("" if it has none), and its JSON end."""

    close: str
    schema: Schema
    keys: str = ""
    json: str = ""


class Values:
    """Reads one value from `r` into `put(json, start, end)`."""

    __slots__ = (
        "at", "flawed", "noted", "pending", "put", "python", "quoted", "r", "repair", "schema", "stack", "verbatim",
    )  # fmt: skip

    def __init__(
        self, r: Reader, put: Output, schema: Schema = ANY, *, repair: bool = True, python: bool = False
    ) -> None:
        self.r, self.put, self.schema, self.repair, self.python = r, put, schema, repair, python
        self.verbatim = not python
        self.stack: list[Frame] = []
        self.pending = ""
        self.at = r.at
        self.quoted = False
        self.flawed = ""
        self.noted = ""

    def missing(self) -> str:
        """The JSON text that closes what is open."""
        return '"' * self.quoted + "".join(frame.json for frame in reversed(self.stack))

    def run(self, expect: str = "value") -> Steps[str]:
        """Read a value, or the items of the container on the stack (`expect="first"`)."""
        while True:
            char = yield from self.gap()
            if not char:
                return CUT
            if expect == "value" and char in self.brackets():
                if not self.push(char):
                    return BAD
                expect = "first"
                continue
            if expect == "value":
                state = yield from self.leaf(char)
            elif expect == "next":
                state = self.separate(char)
            else:
                state = yield from self.begin(char, expect)
            if state in (BAD, CUT):
                return state
            if state != WHOLE:
                expect = state
            elif not self.stack:
                return WHOLE
            else:
                expect = "next"

    def brackets(self) -> str:
        return "{[(" if self.python else "{["

    def gap(self) -> Steps[str]:
        """White space, which waits where it is kept; the next character."""
        while True:
            buf, pos = self.r.buf, self.r.pos
            end = pos
            while end < len(buf) and buf[end] in " \t\r\n":
                end += 1
            if not self.pending:
                self.at = self.r.base + pos
            if self.verbatim:
                self.pending += buf[pos:end]
            self.r.pos = end
            if end < len(buf):
                return buf[end]
            if self.r.closed:
                return ""
            yield

    def say(self, text: str) -> None:
        """Hand on what waited, and this."""
        start, self.at = self.at, self.r.at
        self.put(self.pending + text, start, self.at)
        self.pending = ""

    def push(self, char: str) -> bool:
        """A container opens."""
        if len(self.stack) >= DEEPEST:
            self.flawed = self.noted = "too-deep"
            return False
        schema = self.inside()
        self.r.pos += 1
        if char == "{":
            self.stack.append(Frame("}", schema, '"', json="}"))
        else:
            self.stack.append(Frame(")" if char == "(" else "]", schema, json="]"))
        self.say("{" if char == "{" else "[")
        return True

    def inside(self) -> Schema:
        """The schema of the value that comes next."""
        if not self.stack:
            return self.schema
        top = self.stack[-1]
        return self.schema if top.keys else top.schema.item()

    def begin(self, char: str, expect: str) -> Steps[str]:
        """At the first item, or after a comma: a closing bracket, a key, or a value."""
        top = self.stack[-1]
        if char in top.close:
            return self.pop(trailing=expect == "item")
        if not top.keys:
            return "value"
        return (yield from self.key(char, top))

    def separate(self, char: str) -> str:
        """After an item: a comma or the closing bracket."""
        if char in self.stack[-1].close:
            return self.pop()
        if char != ",":
            return BAD
        self.r.pos += 1
        self.pending += "," if self.verbatim else ", "
        return "item"

    def pop(self, *, trailing: bool = False) -> str:
        """A container closes; a comma before the bracket is left out."""
        if trailing:
            if not self.repair:
                return BAD
            self.pending = self.pending.replace(",", "") if self.verbatim else ""
            self.noted = "repaired"
        top = self.stack.pop()
        self.r.pos += 1
        self.say(top.json)
        return WHOLE

    def key(self, char: str, top: Frame) -> Steps[str]:
        """A key and its colon; both wait for the value."""
        if char not in "\"'" or (char == "'" and not self.repair):
            return BAD
        start = self.r.at
        key = yield from self.text(char)
        if key is None:
            return CUT
        self.pending += f'"{key}"'
        return (yield from self.colon(top, _name(key), start))

    def colon(self, top: Frame, name: str, start: int) -> Steps[str]:
        """What stands between a key and its value."""
        char = yield from self.gap()
        if not char:
            return CUT
        if char not in (top.keys if top.keys != '"' else ":"):
            return BAD
        self.r.pos += 1
        self.pending += ":" if self.verbatim else ": "
        self.schema = top.schema.property(name)
        return "value"

    def leaf(self, char: str) -> Steps[str]:
        """A string or a bare scalar."""
        if char == '"' or (char == "'" and self.repair):
            return self.live(char) if self.inside().allows("string") else self.held(char)
        return self.scalar()

    def live(self, mark: str) -> Steps[str]:
        """A string that goes out as it comes."""
        self.r.pos += 1
        self.quoted = True
        self.noted = self.noted or self.quoting(mark)
        self.say('"')
        if not (yield from self.string(mark, self.put)):
            return CUT
        self.quoted = False
        self.at = self.r.at - 1
        self.say('"')
        return WHOLE

    def quoting(self, mark: str) -> str:
        """What to tell of a string between these quotes."""
        return "repaired" if mark == "'" and self.verbatim else ""

    def held(self, mark: str) -> Steps[str]:
        """A string where the schema wants something else: typed when it is whole."""
        text = yield from self.text(mark)
        if text is None:
            return CUT
        value, _ = typed(_name(text), self.inside())
        if value != f'"{text}"':
            self.noted = "typed"
        self.say(value)
        return WHOLE

    def text(self, mark: str) -> Steps[str | None]:
        """A short string as the inside of a JSON string, None if the text ended in it."""
        self.noted = self.noted or self.quoting(mark)
        self.r.pos += 1
        pieces: list[str] = []
        whole = yield from self.string(mark, lambda json, _start, _end: pieces.append(json))
        if not whole:
            self.pending += mark + "".join(pieces)
            return None
        return "".join(pieces)

    def string(self, mark: str, put: Output) -> Steps[bool]:
        """The inside of a string and its closing quote; False if the text ended in it."""
        r, alike = self.r, self.alike()[mark]
        while True:
            buf, pos = r.buf, r.pos
            found = alike.match(buf, pos)
            end = found.end() if found else pos
            if end > pos:
                r.pos = end
                put(buf[pos:end], r.base + pos, r.base + end)
            if end == len(buf):
                if r.closed:
                    return False
                r.plainly, r.wide = (_STRING[mark], put), True
                yield
                r.plainly = None
            elif buf[end] == mark:
                r.pos = end
                if not self.python or (yield from self.closes(mark)):
                    r.pos += 1
                    return True
                r.pos += 1
                put(quote(mark), r.at - 1, r.at)
            elif not (yield from self.odd(mark, put)):
                return False

    def alike(self) -> dict[str, re.Pattern[str]]:
        return ALIKE

    def closes(self, _mark: str) -> Steps[bool]:
        """Whether the quote at the cursor closes the string."""
        return True
        yield

    def odd(self, mark: str, put: Output) -> Steps[bool]:
        """A character of a string that is not plain; False if the text ended in it."""
        r = self.r
        char, size = r.buf[r.pos], 1
        if char == "\\":
            size = yield from self.escape()
            if not size:
                return False
        source, start = r.buf[r.pos : r.pos + size], r.at
        r.pos += size
        put(self.mend(source, mark), start, start + size)
        return True

    def escape(self) -> Steps[int]:
        """How long the escape at the cursor is, a surrogate pair together; 0 if the text ended in it."""
        r = self.r
        while True:
            ahead = r.buf[r.pos : r.pos + 12]
            need = 2
            if ahead[1:2] == "u":
                bad = next((i for i, c in enumerate(ahead[2:6]) if c not in "0123456789abcdefABCDEF"), None)
                if bad is not None:
                    return 2
                need = 6
                pair = ahead[2:3] in ("d", "D") and ahead[3:4] in tuple("89abAB")
                if pair and len(ahead) >= 6 and "\\u".startswith(ahead[6:8]):
                    need = 12 if ahead[6:8] == "\\u" else 8
                    if need == 12 and any(c not in "0123456789abcdefABCDEF" for c in ahead[8:12]):
                        return 6
            if len(ahead) >= need:
                return min(need, 12)
            if r.closed:
                return 0
            yield

    def mend(self, source: str, mark: str) -> str:
        """An odd character or escape as it stands in JSON."""
        if source[0] == "\\":
            return self.mend_escape(source, mark)
        if source == '"':
            return '\\"'
        if not self.repair:
            self.flawed = "bad-json"
            return source
        self.noted = "repaired"
        return quote(source)

    def mend_escape(self, source: str, mark: str) -> str:
        second = source[1]
        if (second != "u" and second in _ESCAPES) or _HEX.match(source):
            return source
        if mark == "'" or self.python:
            return _PYTHON.get(second, "\\\\" + quote(second))
        self.flawed = "bad-json"
        return source

    def scalar(self) -> Steps[str]:
        """A bare scalar: it waits for the character behind it."""
        r, pieces = self.r, ""
        while True:
            found = _TOKEN.match(r.buf, r.pos)
            end = found.end() if found else r.pos
            pieces += r.buf[r.pos : end]
            r.pos = end
            if end < len(r.buf):
                break
            if r.closed:
                self.pending += pieces
                return CUT
            yield
        value = self.literal(pieces)
        if value is None:
            self.pending += pieces
            return BAD
        self.say(value)
        return WHOLE

    def literal(self, word: str) -> str | None:
        """A bare scalar as JSON, None if it is nothing known."""
        if word in _LITERALS or NUMBER.fullmatch(word):
            return word
        if not self.repair:
            return None
        made = WORDS.get(word)
        if made is None and (zeros := _ZEROS.fullmatch(word)):
            made = f'"{word}"' if self.inside().text_only else zeros[1] + zeros[2]
        if made is not None:
            self.noted = "repaired"
        return made


def _name(inside: str) -> str:
    """The text of the inside of a JSON string."""
    try:
        return str(json.loads(f'"{inside}"', strict=False))
    except ValueError:
        return inside
