"""The input of a free-text tool, read out of the JSON that the model wrote: `{"input": "..."}`, piece by piece.

What is not of this form is the input itself, as it was written: it comes whole, at the end.
"""

from __future__ import annotations

import json
import re

__all__ = ["FreeText"]

_OPENING = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_BEGUN = re.compile(r'\s*(\{\s*("(i(n(p(u(t("\s*(:\s*)?)?)?)?)?)?)?)?)?')
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_PIECE = re.compile(rf'[^"\\]+|{_ESCAPE.pattern}', re.DOTALL)
# At the end of what is there; the first half of a surrogate pair may be followed by the second.
_MAY_GO_ON = re.compile(r"\\(u[0-9a-fA-F]{0,3})?|\\u[dD][89abAB][0-9a-fA-F]{2}(\\(u[0-9a-fA-F]{0,3})?)?")


class FreeText:
    """Pieces of arguments in, pieces of the input out."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = self._over = False
        self._odd: list[str] = []

    def feed(self, arguments: str) -> str:
        """Read on."""
        if self._odd:
            self._odd.append(arguments)
        if self._over or self._odd:
            return ""
        self._held += arguments
        return self._read() if self._inside or self._enter() else ""

    def close(self) -> str:
        """The rest: of another form it is all that was written."""
        return "" if self._inside else "".join(self._odd) or self._held

    def _enter(self) -> bool:
        opening = _OPENING.match(self._held)
        if opening:
            self._held, self._inside = self._held[opening.end() :], True
        elif not _BEGUN.fullmatch(self._held):
            self._odd.append(self._held)
        return self._inside

    def _read(self) -> str:
        held, at = self._held, 0
        while piece := _PIECE.match(held, at):
            if held[at] == "\\" and _MAY_GO_ON.fullmatch(held, at):
                break
            at = piece.end()
        self._held = held[at:]
        self._over = self._held.startswith('"')
        return _ESCAPE.sub(_character, held[:at])


def _character(escape: re.Match[str]) -> str:
    """What an escape stands for; one that JSON does not know stands for itself."""
    try:
        found: str = json.loads(f'"{escape[0]}"')
    except ValueError:
        return escape[0]
    return found
