"""How far a JSON text that comes in pieces is from being whole."""

from __future__ import annotations

import re

__all__ = ["Balance"]

_MARKS = re.compile(r'\\(?:.|\Z)|["{}\[\]]', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}


class Balance:
    """Counts brackets outside strings; each character is looked at once."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._quoted = False
        self._escaped = False
        self._begun = False

    def add(self, text: str) -> None:
        """Read on."""
        self._begun = self._begun or (not text.isspace() and text != "")
        if self._escaped and text:
            self._escaped = False
            text = text[1:]
        for mark in _MARKS.findall(text):
            self._mark(mark)

    def _mark(self, mark: str) -> None:
        if mark[0] == "\\":
            self._escaped = self._quoted and len(mark) == 1
        elif mark == '"':
            self._quoted = not self._quoted
        elif self._quoted:
            return
        elif mark in _CLOSERS:
            self._open.append(_CLOSERS[mark])
        elif self._open:
            self._open.pop()

    @property
    def whole(self) -> bool:
        """Something was read, and nothing is left open."""
        return self._begun and not self._open and not self._quoted

    @property
    def missing(self) -> str:
        """The marks that would close what is open."""
        return "\\" * self._escaped + '"' * self._quoted + "".join(reversed(self._open))
