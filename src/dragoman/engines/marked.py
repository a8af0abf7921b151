"""Text that comes in deltas, in pieces: each special token is a piece of its own.

An engine that tells the ids of its tokens tells which marks are real.
Where it does not, a mark that lies whole within one delta counts as the token: spelled in letters it would have come
in several, as engines write one delta a token or a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .base import Piece
from .foreign import Spellings

__all__ = ["Marked"]


class Marked:
    """Cuts deltas at the special tokens of a model.

    Args:
        specials: mark -> token id.
    """

    def __init__(self, specials: Mapping[str, int]) -> None:
        self._ids = specials
        self._marks = {token: mark for mark, token in specials.items()}
        self._pattern = Spellings(specials).pattern

    def pieces(self, text: str, ids: Sequence[int] = ()) -> list[Piece]:
        """The pieces of a delta; what `ids` are not told for belongs to the text."""
        found = self._pattern.search(text)
        if found is None:
            return [Piece(text, ids)]
        if ids and len(ids) == 1:
            return [Piece(text, ids, special=self._marks.get(ids[0]) == text)]
        return [*self._cut(text, ids)]

    def _cut(self, text: str, ids: Sequence[int]) -> Iterator[Piece]:
        """Several tokens together; of marks spelled in letters beside real ones the last are taken for real."""
        real = [self._marks[token] for token in ids if token in self._marks] if ids else None
        places = [found for found in self._pattern.finditer(text) if real is None or found[0] in real]
        for mark in set(real or ()):
            same = [found for found in places if found[0] == mark]
            places = [found for found in places if found not in same[: len(same) - (real or []).count(mark)]]
        rest, at = [token for token in ids if token not in self._marks], 0
        for found in places:
            if found.start() > at:
                yield Piece(text[at : found.start()], rest)
                rest = []
            yield Piece(found[0], (self._ids[found[0]],), special=True)
            at = found.end()
        if at < len(text):
            yield Piece(text[at:], rest)
