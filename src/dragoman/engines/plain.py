"""A prompt for an engine that takes nothing but text: marks in foreign text are broken, so that they mean nothing.

The engine reads special tokens wherever they are spelled.  So a blank goes behind the first character of each spelling
in the text of users, tools and documents (`< |im_end|>`): the model and whoever reads the log can see it, and no
tokenizer takes it for the token.
"""

from __future__ import annotations

from ..events import Notice
from .base import Prompt

__all__ = ["plain"]


def plain(prompt: Prompt) -> tuple[str, list[Notice]]:
    """The text, and a notice for each mark that was broken."""
    parts: list[str] = []
    notices: list[Notice] = []
    for segment in prompt.segments:
        text = segment.text
        if segment.foreign and not segment.ids:
            notices.append(Notice("foreign-mark", raw=text))
            text = broken(text)
        parts.append(text)
    return "".join(parts), notices


def broken(mark: str) -> str:
    """A mark that is none any more."""
    return f"{mark[:1]} {mark[1:]}"
