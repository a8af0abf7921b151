"""Whether a place in Markdown text lies inside code: a fence of three backticks, or inline code on one line."""

from __future__ import annotations

import re

__all__ = ["Code"]

_STEP = re.compile(r"`+|\n|[^`\n]+")


class Code:
    """Follows text as it comes, in pieces of any size.

    A run of backticks counts when it has ended, so how it was cut does not matter.
    `fence` is how many opened the fence; as many close it.  `inline` is how many opened inline code.
    """

    __slots__ = ("blank", "fence", "inline", "run")

    def __init__(self) -> None:
        self.fence = 0
        self.inline = 0
        self.blank = True
        self.run = 0

    def feed(self, text: str) -> None:
        """Text follows; pieces without a backtick cost next to nothing."""
        if "`" in text or self.run:
            for step in _STEP.findall(text):
                self._step(step)
        elif "\n" in text:
            self.blank = not text.rpartition("\n")[2].strip()
            self.inline = 0
        elif self.blank:
            self.blank = text.isspace()

    def _step(self, step: str) -> None:
        if step[0] == "`":
            self.run += len(step)
            return
        self._settle()
        if step == "\n":
            self.blank, self.inline = True, 0
        elif self.blank:
            self.blank = step.isspace()

    def _settle(self) -> None:
        if self.run:
            self.fence, self.inline, self.blank, self.run = *self._after(), False, 0

    def _after(self) -> tuple[int, int]:
        if self.run >= max(3, self.fence) and self.blank:
            return 0 if self.fence else self.run, 0
        return self.fence, self.inline if self.fence or self.run == 0 else 0 if self.inline else self.run

    @property
    def fenced(self) -> bool:
        """Whether what follows on a new line is code: inline code ends with its line, unless it looks like a fence."""
        fence, inline = self._after() if self.run else (self.fence, self.inline)
        return fence > 0 or inline >= 3

    @property
    def inside(self) -> bool:
        """Whether what follows is code."""
        return any(self._after() if self.run else (self.fence, self.inline))
