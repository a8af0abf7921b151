"""Text in, pieces out, `yield` when more is needed: the only scanner.

Everything that reads a model's text is a generator over a `Reader`.  It takes what is there, and where it cannot
decide yet it yields; the caller feeds more text, or closes the reader, and resumes it.  State lives in the Python
frames, so the code of a codec reads like its grammar.

What makes the result independent of the cutting

*   A `Stop` finds a whole mark, or the beginning of one at the very end of the text, in one search.  The beginning
    is held, and searched again together with what follows.  Where one mark is the beginning of another, the longer
    one is waited for.
*   A decision is made only on text that later text cannot change.
*   No text is searched twice but for that held beginning, so the cost is linear.

Where a limit cut the text (`cut`), the beginning of a mark at its end is `dropped`, unless it reads as a word; else it
is text.

Marks match through one spelling class for the whole engine: bars may be `|`, `｜` or `‖`, single or doubled, and a
tag may have blanks after `<`, after `/`, around `=`, before `>` and behind a bar inside, and either quote or none
behind `=`, and blanks may be lost, or come as a byte-level token's letter (`Ġ`).  A star in a tag stands for up to 64 characters without brackets, and `:*` for a
suffix that may be missing.  A newline is one newline.

Special tokens: `specials` are the marks that this tokenizer writes as one token.  Such a mark counts where it came
as that token; `spelled` tells one that is only its letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import lru_cache
from typing import TypeAlias, TypeVar

__all__ = ["LONGEST", "Onward", "Put", "Reader", "Steps", "Stop", "spelling"]

T = TypeVar("T")
Steps = Generator[None, None, T]
Onward: TypeAlias = "str | Steps[Onward]"  # a state, or what reads on until it is known
Put = Callable[[str, int], None]
Wide = Callable[[str, int, int], None]

LONGEST = 256
"""No name, header or run of white space is waited for longer than this many characters."""

_BARS = "|｜‖"
_SPACE = re.compile(r"\s*")
_LETTERS = re.compile(r"(\[[^]]+\]|\\?.)", re.DOTALL)  # what an atom of a spelling begins with
_LAYOUT = re.compile(r"(?:[\sĠĊ]|\\n)*")  # a newline between marks may come as two characters, or as a token's letter


def spelling(mark: str) -> tuple[str, ...]:
    """A mark as one regex for each character, by the spelling class."""
    atoms: list[str] = []
    tag = mark.startswith("<") and len(mark) > 2
    for i, char in enumerate(mark):
        if tag and char == "=" and mark[1:i].isalpha():  # `<f=` is written `<f name=` too
            atoms += ["\\s{0,8}", "n?", "a?", "m?", "e?"]
        if tag and (char == "*" or mark[i : i + 2] == ":*"):
            star = "[^<>\\n]{0,64}" if mark[i - 1] != ":" else ""
            atoms.append(star if char == "*" else "(?::[^<>\\s]{0,64})?")
            continue
        if tag and i and (char in "=>" or mark[i - 1] in "=</") and char not in _BARS and mark[i - 1] not in _BARS:
            atoms.append("[ \\t]{0,2}")
        if tag and i > 2 and mark[i - 1] in _BARS and char not in _BARS + ">":  # behind a word's own mark
            atoms.append("[ \\t]{0,2}")
            if char.isspace():
                continue
        if char == "<" and mark[i - 3 : i] == "[>[":
            atoms.append("\\s{0,8}")
        if char in "\"'" and mark[i - 1 : i] == "=":
            atoms.append("[\"']?")
        elif char == "▁":
            atoms.append("[▁_ ]")
        elif char in _BARS:
            if i and mark[i - 1] in _BARS:
                continue
            atoms.append(f"[{_BARS}]" if i == len(mark) - 1 else f"[{_BARS}]{{1,2}}")  # else the cutting would decide
        else:
            atoms.append(("[\\sĠĊ]{0,8}" if tag else "\\s+") if char.isspace() and char != "\n" else re.escape(char))
    return tuple(atoms)


def _beginning(atoms: tuple[str, ...]) -> str:
    """A regex for every proper beginning of a mark."""
    pattern = ""
    for atom in reversed(atoms[:-1]):
        pattern = f"{atom}(?:{pattern})?" if pattern else atom
    return pattern


def _ahead(atoms: list[tuple[str, ...]], ways: list[str]) -> str:
    """One of these ways.  Where one begins with a class of letters, `re` has to be told what all of them begin with."""
    if not ways:
        return "(?!)"
    first = sorted({found[1] for each in atoms if (found := _LETTERS.match(each[0]))})
    classes = [letters[1:-1] if letters[0] == "[" else letters for letters in first]
    literal = all(letters[0] != "[" and letters != "\\s" for letters in first)
    every = "|".join(ways)
    return every if literal else f"(?=[{''.join(classes)}])(?:{every})"


class Stop:
    """Marks to stop at, compiled: `live` also finds the beginning of a mark at the end, `final` only whole ones.

    The number of the group that matched, less one, is the place of the mark in `marks`.
    `plain`: those that are mere text when they are spelled in ordinary tokens.
    """

    __slots__ = ("final", "live", "marks", "plain")

    def __init__(self, marks: tuple[str, ...], plain: frozenset[str] = frozenset()) -> None:
        self.marks = tuple(sorted(dict.fromkeys(marks), key=len, reverse=True))
        self.plain = plain
        atoms = [spelling(mark) for mark in self.marks]
        # A group would hide with which letters a mark begins, and `re` skips all others quickly: so it stands behind.
        whole = ["".join(each) + "()" for each in atoms]
        begun = [_beginning(each) for each in atoms]
        both = [f"{w}|{b}\\Z" if b else w for w, b in zip(whole, begun, strict=True)]
        self.live = re.compile(_ahead(atoms, both))
        self.final = re.compile(_ahead(atoms, whole))


@lru_cache(4096)
def stop(*marks: str, plain: frozenset[str] = frozenset()) -> Stop:
    """The `Stop` of these marks, made once."""
    return Stop(marks, plain)


class Reader:
    """Buffered text with a cursor.  `base` is the raw offset of the buffer's beginning.

    `plainly`: what is waited for is either of these marks or more text to hand on; `wide`: with both its offsets.
    """

    __slots__ = (
        "base", "buf", "closed", "cut", "dropped", "kept", "kept_at", "mark_at", "plainly", "pos", "specials", "tokens",
        "wide",
    )  # fmt: skip

    def __init__(self, specials: frozenset[str] | None = None) -> None:
        self.buf = ""
        self.pos = 0
        self.base = 0
        self.closed = self.cut = self.wide = False
        self.dropped = ""
        self.specials = specials
        self.tokens: set[int] = set()
        self.kept: list[str] | None = None
        self.kept_at = 0
        self.mark_at = 0
        self.plainly: tuple[re.Pattern[str], Put | Wide] | None = None

    def passes(self, text: str) -> bool:
        """Read on in text without marks, if that is what is being read and this is such text: nothing else has to run."""
        plainly = self.plainly
        if plainly is None or self.pos != len(self.buf) or self.kept is not None or not text:
            return False
        marks, put = plainly
        if marks.search(text) is not None:
            return False
        self.base += self.pos
        self.buf, self.pos = text, len(text)
        put(text, self.base, self.base + self.pos) if self.wide else put(text, self.base)  # type: ignore[call-arg]
        return True

    def feed(self, text: str, special: bool = False) -> None:
        """Add text; what was read already is let go."""
        pos, buf = self.pos, self.buf
        self.base += pos
        self.buf = text if pos == len(buf) else buf[pos:] + text
        self.pos = 0
        if special:
            self.tokens.add(self.base + len(self.buf) - len(text))
        if self.kept is not None:
            self.kept.append(text)

    @property
    def at(self) -> int:
        """The raw offset of the cursor."""
        return self.base + self.pos

    def keep(self, start: int) -> None:
        """From now on keep the raw text from offset `start`, which is still in the buffer."""
        self.kept, self.kept_at = [self.buf[start - self.base :]], start

    def raw(self) -> str:
        """The text kept so far, up to the cursor."""
        return "".join(self.kept or ())[: self.at - self.kept_at]

    def spelled(self, mark: str, at: int) -> bool:
        """Whether a mark that is, or begins with, a special token came as ordinary text."""
        if self.specials is None or at in self.tokens:
            return False
        return mark in self.specials or mark[: mark.find(">") + 1] in self.specials

    def until(self, stop: Stop, put: Put) -> Steps[str]:
        """Hand text to `put(text, at)` up to a mark and read that mark; "" at the end of the text."""
        live = stop.live
        while not self.closed:
            self.plainly = None
            buf, pos = self.buf, self.pos
            found = live.search(buf, pos)
            if found is None:
                if pos < len(buf):
                    self.pos = len(buf)
                    put(buf[pos:], self.base + pos)
                self.plainly, self.wide = (live, put), False
                yield
                continue
            start = found.start()
            if start > pos:
                self.pos = start
                put(buf[pos:start], self.base + pos)
            if not found.lastindex:
                yield
            elif mark := self._take(found, stop, put):
                return mark
        self.plainly = None
        return self._until_end(stop, put)

    def _until_end(self, stop: Stop, put: Put) -> str:
        search = (stop.live if self.cut else stop.final).search  # a limit may cut within the longer of two marks
        while found := search(self.buf, self.pos):
            if not found.lastindex and not found.group().lstrip()[:1].isalnum():
                break
            if not found.lastindex:
                search = stop.final.search
                continue
            if found.start() > self.pos:
                put(self.buf[self.pos : found.start()], self.at)
            if mark := self._take(found, stop, put):
                return mark
        at, text = self.at, self.buf[self.pos : found.start() if found else None]
        self.dropped = found.group() if found else self.dropped
        self.pos = len(self.buf)
        if text:
            put(text, at)
        return ""

    def _take(self, found: re.Match[str], stop: Stop, put: Put) -> str:
        """Read a whole mark; one that is only spelled, where that makes it text, is handed on as text."""
        mark = stop.marks[(found.lastindex or 1) - 1]
        self.pos = found.end()
        self.mark_at = at = self.base + found.start()
        if self.specials is not None and mark in stop.plain and self.spelled(mark, at):
            put(found.group(), at)
            return ""
        return mark

    def peek(self) -> Steps[str]:
        """Read white space; the character after it, or "" at the end."""
        while True:
            found = _SPACE.match(self.buf, self.pos)
            self.pos = pos = found.end() if found else self.pos
            if pos < len(self.buf):
                return self.buf[pos]
            if self.closed:
                return ""
            yield

    def next(self, stop: Stop) -> Steps[str]:
        """Read one of the marks if it stands at the cursor, white space aside; else read nothing and answer ""."""
        mark, end = yield from self.ahead(stop)
        if mark:
            self.pos += end
        return mark

    def ahead(self, stop: Stop, skip: int = 0) -> Steps[tuple[str, int]]:
        """The mark that stands `skip` characters on, white space aside, and where it ends; ("", _) if there is none."""
        while True:
            space = _LAYOUT.match(self.buf, self.pos + skip)
            start = space.end() if space else self.pos + skip
            if start - self.pos - skip > LONGEST:
                return "", skip
            if self.closed or self.buf[start:] not in ("", "\\"):
                found = (stop.final if self.closed else stop.live).match(self.buf, start)
                if found is None:
                    return "", skip
                if found.lastindex:
                    self.mark_at = self.base + start
                    return stop.marks[found.lastindex - 1], found.end() - self.pos
            yield

    def beyond(self, stop: Stop, passed: frozenset[str], skip: int) -> Steps[str | None]:
        """What stands `skip` characters on, behind any marks that are `passed`: a mark, "" for the end, None for text."""
        limit = skip + LONGEST
        while skip <= limit:
            mark, end = yield from self.ahead(stop, skip)
            if not mark:
                return "" if (yield from self.ended(skip)) else None
            if mark not in passed:
                return mark
            skip = end
        return None

    def ended(self, skip: int = 0) -> Steps[bool]:
        """Whether nothing but white space follows `skip` characters on."""
        while True:
            space = _SPACE.match(self.buf, self.pos + skip)
            end = space.end() if space else self.pos
            if end < len(self.buf) or end - self.pos - skip > LONGEST:
                return False
            if self.closed:
                return True
            yield

    def begun(self, stop: Stop, skip: int = 0) -> bool:
        """Whether the text ended in the beginning of a mark that stands `skip` characters on, white space aside."""
        space = _SPACE.match(self.buf, self.pos + skip)
        found = stop.live.match(self.buf, space.end() if space else self.pos + skip)
        return self.closed and found is not None and not found.lastindex

    def look(self, pattern: re.Pattern[str], skip: int = 0) -> Steps[re.Match[str] | None]:
        """Match a pattern `skip` characters on, without reading.

        The pattern matches every beginning of what it matches, and is bounded.
        A match that reaches the end of the text may still grow, so it is waited for, unless its group `ok` has matched.
        """
        while True:
            found = pattern.match(self.buf, self.pos + skip)
            if self.closed or found is None or found.end() < len(self.buf) or found.lastgroup == "ok":
                return found
            yield

    def back(self) -> None:
        """Unread the last mark; nothing may have been waited for since."""
        self.pos = self.mark_at - self.base

    @property
    def last(self) -> str:
        """The last mark as it was spelled; nothing may have been waited for since."""
        return self.buf[self.mark_at - self.base : self.pos]

    def reread(self, start: int) -> None:
        """Put the cursor back to the offset `start`, of which the text was kept."""
        if self.at != start:
            self.buf, self.base, self.pos = "".join(self.kept or ())[start - self.kept_at :], start, 0

    def rest(self) -> str:
        """Read all that is left."""
        text, self.pos = self.buf[self.pos :], len(self.buf)
        return text

    def drop(self) -> None:
        """Let go of all that is buffered."""
        self.base += len(self.buf)
        self.buf, self.pos, self.kept, self.plainly = "", 0, None, None
