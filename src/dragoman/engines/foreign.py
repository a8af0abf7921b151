"""Special tokens spelled out in foreign text: found, hidden while a template is rendered, and brought back as text.

A user who writes `<|im_end|>` must not end their message.  Before a template is rendered, every such spelling in the
text of users, tools and documents is replaced with one private-use character that occurs nowhere else in the request;
a template can strip, quote or wrap the text as it likes.  Afterwards each such character becomes a foreign segment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from .base import Prompt, Segment

__all__ = ["Disguise", "Spellings", "shaped"]

# What special tokens look like, whatever the model.
_SHAPE = re.compile(
    "<[|\uff5c][^<>\n]{1,60}>|<[^<>\\s]{1,60}[|\uff5c]>|</?[A-Za-z_][\\w.:-]{0,60}>|\\[/?[A-Z_]{3,40}\\]"
)

_PRIVATE = range(0xF0000, 0xFFFFE)
_IN_USE = re.compile("[\U000f0000-\U000ffffd]")


def shaped(texts: Iterable[str]) -> list[str]:
    """What in some texts has the shape of a special token; only the model's tokenizer knows whether it is one."""
    return list(dict.fromkeys(mark for text in texts for mark in _SHAPE.findall(text)))


class Spellings:
    """The spellings of a model's special tokens; where several begin alike, the longest counts."""

    def __init__(self, marks: Iterable[str]) -> None:
        self.pattern = _pattern(tuple(mark for mark in marks if mark and not mark.isspace()))

    def broken(self, text: str) -> list[str]:
        """A text in parts none of which spells a special token (unless one of a single character does)."""
        parts, at = [], 0
        while found := self.pattern.search(text, at):
            parts.append(text[at : found.start() + 1])
            at = found.start() + 1
        return [part for part in (*parts, text[at:]) if part]


class Disguise:
    """Hides spellings in the texts of one request.

    Args:
        spellings: of the model's special tokens.
        texts: all texts that may get into the prompt, the template included; the stand-ins occur in none of them.
    """

    def __init__(self, spellings: Spellings, texts: Iterable[str]) -> None:
        self.pattern = spellings.pattern
        self._free = _unused(texts)
        self._stands: dict[str, str] = {}

    def hide(self, text: str, keep: frozenset[str] = frozenset()) -> str:
        """The text with a stand-in for each spelling, `keep` excepted."""
        return self.pattern.sub(lambda found: found[0] if found[0] in keep else self._stand(found[0]), text)

    def hide_in(self, value: Any) -> Any:
        """A JSON value with all its texts hidden, keys included."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide(str(key)): self.hide_in(item) for key, item in value.items()}
        return [self.hide_in(item) for item in value] if isinstance(value, list | tuple) else value

    def stand(self) -> str:
        """A character that occurs nowhere, to find a place again."""
        return next(self._free)

    def reveal(self, text: str) -> Prompt:
        """A rendered text as segments."""
        marks = {stand: mark for mark, stand in self._stands.items()}
        for stand in marks:
            text = text.replace(json.dumps(stand)[1:-1], stand)  # a template may escape what is not ASCII
        pieces = re.split(f"([{''.join(marks)}])", text) if marks else [text]
        return Prompt(tuple(Segment(marks.get(piece, piece), piece in marks) for piece in pieces if piece))

    def _stand(self, mark: str) -> str:
        if mark not in self._stands:
            self._stands[mark] = next(self._free)
        return self._stands[mark]


def _unused(texts: Iterable[str]) -> Iterator[str]:
    """Looks at the texts only when the first stand-in is wanted: most requests need none."""
    used = {character for text in texts for character in _IN_USE.findall(text)}
    yield from (character for character in map(chr, _PRIVATE) if character not in used)


@lru_cache(16)
def _pattern(marks: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all marks, as a tree of their letters: vocabularies have thousands (`<unused4711>`)."""
    tree: dict[str, Any] = {}
    for mark in marks:
        node = tree
        for letter in mark:
            node = node.setdefault(letter, {})
        node[""] = {}
    return re.compile(_branches(tree) if marks else r"(?!)")


def _branches(node: dict[str, Any]) -> str:
    """A node's continuations; the longest is tried first because the end is optional."""
    if not (rest := {letter: below for letter, below in node.items() if letter}):
        return ""
    choices = "|".join(re.escape(letter) + _branches(below) for letter, below in rest.items())
    return f"(?:{choices})" + ("?" if "" in node else "")
