"""Chunks of a stream that are alike but for their text, read without parsing them: nearly all of them are.

What stands before and after the text of a chunk is remembered when the chunk was read in full.  A next chunk with the
same bytes around one JSON string says the same with another text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import wire

__all__ = ["GAP", "Quick"]

GAP, GAP_TEXT = b"\n\n", "\n\n"
"""What stands behind a chunk."""

_ANOTHER = b"another text"


class Quick:
    """What the last chunk with text was like; `kind` is what its text is (content, reasoning)."""

    __slots__ = ("_after", "_before", "_between", "_least", "kind")

    def __init__(self) -> None:
        self.kind = ""
        self._before = self._after = self._between = ""
        self._least = 0

    def learn(self, chunk: bytes, kind: str, text: str, reads: Callable[[bytes], tuple[str, str] | None]) -> None:
        """A chunk that holds nothing but this text; `reads` tells kind and text of a chunk.

        It is remembered if the text stands in it once, and another text in its place is read as what it is.
        """
        quoted = wire.quote(text)
        before, found, after = chunk.partition(quoted)
        if not found or quoted in after or reads(before + b'"' + _ANOTHER + b'"' + after) != (kind, _ANOTHER.decode()):
            return
        try:
            self._before, self._after = before.decode() + '"', '"' + after.decode()
        except ValueError:
            return
        self.kind, self._between = kind, self._after + GAP_TEXT + self._before
        self._least = len(self._between)

    def texts(self, chunks: bytes) -> Sequence[str] | None:
        """The texts of chunks, each with its blank line, that are all like the last one; None if one of them is not."""
        before, after, between = self._before, self._after, self._between
        if len(chunks) < self._least or not between:
            return None
        try:
            whole = chunks.decode()
            begin, end = len(before), -len(after)
            texts = [chunk[begin:end] for chunk in whole.split("\n")[:-1:2]]
            if f"{before}{between.join(texts)}{after}{GAP_TEXT}" != whole:
                return None
            return texts if _plain("".join(texts)) else [*map(_unquoted, texts)]
        except ValueError:
            return None


def _plain(text: str) -> bool:
    """Whether a text stands in JSON as it is."""
    if '"' in text or "\\" in text:
        return False
    return text.isprintable() or min(text, default=" ") >= " "  # the first is quicker, and nearly always so


def _unquoted(inside: str) -> str:
    """The text of a JSON string.

    Raises:
        ValueError: it is none, or more than one.
    """
    found = inside if _plain(inside) else wire.load(f'"{inside}"')
    if not isinstance(found, str):
        raise ValueError  # noqa: TRY004 (as where it is no JSON)
    return found
