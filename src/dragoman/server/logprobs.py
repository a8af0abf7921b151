"""Shown: the log probabilities of those tokens that a client sees as content."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.base import Alternative, Piece
from ..events import Content, Event, Notice

__all__ = ["Shown"]


class Shown:
    """Tokens wait until their text has come out; those that came out as anything but content are dropped."""

    def __init__(self) -> None:
        self._waiting: list[Alternative] = []

    def feed(self, piece: Piece, events: Sequence[Event]) -> list[Alternative]:
        """The tokens of the content among these events."""
        if not piece.special:
            self._waiting += piece.logprobs
        text = "".join(event.text for event in events if isinstance(event, Content))
        if text:
            return self._take(len(text))
        if any(not isinstance(event, Notice) for event in events):
            self._waiting.clear()
        return []

    def _take(self, length: int) -> list[Alternative]:
        """Markup stood before the content, so the last tokens that cover it are its own."""
        tokens, self._waiting = self._waiting, []
        begin, size = len(tokens), 0
        while begin and size < length:
            begin -= 1
            size += len(tokens[begin].token)
        return tokens[begin:]
