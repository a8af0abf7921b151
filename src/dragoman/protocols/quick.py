"""Chunks of a stream that are alike but for their text, read without parsing them: nearly all of them are.

What stands before and after the text of a chunk is remembered when the chunk was read in full.  A next chunk with the
same bytes around one JSON string says the same with another text.
"""

from __future__ import annotations

from collections.abc import Callable

from . import wire

__all__ = ["Quick"]

_ANOTHER = b"another text"


class Quick:
    """What the last chunk with text was like; `kind` is what its text is (content, reasoning)."""

    __slots__ = ("_after", "_before", "_least", "kind")

    def __init__(self) -> None:
        self.kind = ""
        self._before = self._after = b""
        self._least = 0

    def learn(self, chunk: bytes, kind: str, text: str, reads: Callable[[bytes], tuple[str, str] | None]) -> None:
        """A chunk that holds nothing but this text; `reads` tells kind and text of a chunk.

        It is remembered if the text stands in it once, and another text in its place is read as what it is.
        """
        quoted = wire.quote(text)
        before, found, after = chunk.partition(quoted)
        if not found or quoted in after or reads(before + b'"' + _ANOTHER + b'"' + after) != (kind, _ANOTHER.decode()):
            return
        self.kind, self._before, self._after = kind, before + b'"', b'"' + after
        self._least = len(self._before) + len(self._after)

    def text(self, chunk: bytes) -> str | None:
        """The text of a chunk that is like the last one, None if it is not."""
        before, after = self._before, self._after
        if not before or len(chunk) < self._least or not (chunk.startswith(before) and chunk.endswith(after)):
            return None
        inside = chunk[len(before) : -len(after)]
        try:
            if b"\\" not in inside:
                text = inside.decode()
                plain = (
                    text.isprintable() or min(inside, default=32) >= 32
                )  # the first is quicker, and nearly always so
                return text if plain and b'"' not in inside else None
            found = wire.load(b'"%b"' % inside)
        except ValueError:
            return None
        return found if isinstance(found, str) else None
