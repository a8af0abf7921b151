"""Special tokens spelled out in foreign text: found, hidden while a template is rendered, and brought back as text.

A user who writes `<|im_end|>` must not end their message.  Before a template is rendered, every such spelling in the
text of users, tools and documents is replaced with one private-use character that occurs nowhere else in the request;
a template can strip, quote or wrap the text as it likes.  Afterwards each such character becomes a foreign segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .base import Prompt, Segment

__all__ = ["Disguise", "Spellings"]

_PRIVATE = range(0xF0000, 0xFFFFE)
_IN_USE = re.compile("[\U000f0000-\U000ffffd]")


class Spellings:
    """The spellings of a model's special tokens, longest first."""

    def __init__(self, marks: Iterable[str]) -> None:
        found = sorted((mark for mark in marks if mark and not mark.isspace()), key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, found)) or r"(?!)")

    def broken(self, text: str) -> list[str]:
        """A text in parts none of which spells a special token (unless one of a single character does)."""
        parts, at = [], 0
        while found := self.pattern.search(text, at):
            parts.append(text[at : found.start() + 1])
            at = found.start() + 1
        return [part for part in (*parts, text[at:]) if part]


class Disguise:
    """Hides spellings in texts of one request.

    Args:
        spellings: of the model's special tokens.
        texts: all texts that will be in the prompt, the template included; the stand-ins occur in none of them.
    """

    def __init__(self, spellings: Spellings, texts: Iterable[str]) -> None:
        self.spellings = spellings
        self._free = _unused(texts)
        self._stands: dict[str, str] = {}

    def hide(self, text: str, keep: frozenset[str] = frozenset()) -> str:
        """The text with a stand-in for each spelling, `keep` excepted."""
        return self.spellings.pattern.sub(lambda found: found[0] if found[0] in keep else self._stand(found[0]), text)

    def reveal(self, text: str) -> Prompt:
        """A rendered text as segments."""
        marks = {stand: mark for mark, stand in self._stands.items()}
        if not marks:
            return Prompt((Segment(text),))
        pieces = re.split(f"([{''.join(marks)}])", text)
        return Prompt(tuple(Segment(marks.get(piece, piece), piece in marks) for piece in pieces if piece))

    def _stand(self, mark: str) -> str:
        if mark not in self._stands:
            self._stands[mark] = next(self._free)
        return self._stands[mark]


def _unused(texts: Iterable[str]) -> Iterator[str]:
    used = {character for text in texts for character in _IN_USE.findall(text)}
    return (character for character in map(chr, _PRIVATE) if character not in used)
