"""What the input of a free-text tool must match, by the grammar that came with the tool."""

from __future__ import annotations

from functools import lru_cache

from ..errors import UsageError
from ..messages import Grammar
from .grammar import Node
from .lark_reader import read_lark
from .pattern import whole

__all__ = ["matching"]


def matching(grammar: Grammar) -> Node:
    """The grammar as a tree.

    Raises:
        UsageError: it cannot be read here, and why.
    """
    return _read(grammar.syntax, grammar.definition)


@lru_cache(64)
def _read(syntax: str, definition: str) -> Node:
    if syntax == "lark":
        return read_lark(definition)
    found = whole(definition)
    if found is None:
        raise UsageError("the expression is not of the simple kind that can be enforced, or is too large")
    return found
