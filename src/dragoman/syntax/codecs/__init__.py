"""Codecs: the argument syntaxes, each in three directions with the same methods in the same order.

A codec serves the hole `{args}` (the name was read before) or `{call}` (the name is inside).
It reads with a generator that answers how it went:

    WHOLE   the payload is whole
    OPEN    what came next is something else
    CUT     the text ended in the middle
    BAD     it cannot be read, from the cursor on
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from ...messages import Call, Tool
from ..reader import Reader, Steps

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["BAD", "CUT", "OPEN", "WHOLE", "Codec"]

WHOLE, OPEN, CUT, BAD = "whole", "open", "cut", "bad"


class Codec(Protocol):
    """One argument syntax.  What it is made with it keeps under the arguments' own names: files of dialects tell by them."""

    opening: re.Pattern[str]
    """Matches every beginning of how a payload begins; its group `ok` matches where it surely does."""

    @property
    def several(self) -> tuple[str, str, str] | None:
        """What stands before, between and behind the calls of one `{call}`; None if each has a place of its own."""

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        """Read a payload into `call`."""

    def encode(self, call: Call) -> str:
        """The payload's text."""

    def grammar(self, tool: Tool) -> Node:
        """The payloads that are valid calls of `tool`."""
