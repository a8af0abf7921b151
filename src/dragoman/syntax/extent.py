"""How large the schemas may be that a grammar is made of: clients send them, so their cost has a bound.

What is sent is counted before anything is made of it, without recursion.  Schemas that are small and still grow when
their references and alternatives are followed share one number of `Steps`; a grammar that grows too large for an engine
to read ends at its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..errors import UsageError

__all__ = ["DEEPEST", "LONGEST", "STEPS", "VALUES", "Steps", "check_extent", "check_length", "steps", "together"]

DEEPEST = 200
"""Levels of one schema."""

VALUES = 50_000
"""Values in all schemas together: objects, lists, and what is in them."""

LONGEST = 2_000_000
"""Characters of all keys and texts in the schemas together, and of a grammar."""

STEPS = 10_000
"""Places in all schemas together, with references and alternatives followed."""


class Steps:
    """How many places may still be walked through."""

    def __init__(self) -> None:
        self.left = STEPS

    def take(self, path: str) -> None:
        """One more place.

        Raises:
            UsageError: it is one too many.
        """
        self.left -= 1
        if self.left < 0:
            where = path if len(path) < 80 else path[:80] + ".."
            raise UsageError(
                f"the schemas have more than {STEPS} places when references are followed, the last one at {where}: "
                "offer fewer tools, or simpler ones"
            )


_shared: ContextVar[Steps | None] = ContextVar("shared", default=None)


@contextmanager
def together() -> Iterator[None]:
    """All schemas that are walked through meanwhile share their steps."""
    token = _shared.set(Steps())
    try:
        yield
    finally:
        _shared.reset(token)


def steps() -> Steps:
    """The steps of a walk that begins."""
    return _shared.get() or Steps()


def check_extent(schemas: Iterable[tuple[str, Any]]) -> None:
    """Refuse schemas that are too large; each comes with a name to tell it by.

    Raises:
        UsageError: they are too large, or nested too deeply.
    """
    values = letters = 0
    for name, schema in schemas:
        todo = [(schema, 1)]
        while todo:
            node, level = todo.pop()
            values += 1
            if level > DEEPEST:
                raise UsageError(f"{name} is nested more than {DEEPEST} levels deep")
            if isinstance(node, str):
                letters += len(node)
            elif isinstance(node, list | tuple):
                todo += [(item, level + 1) for item in node]
            elif type(node) is dict or isinstance(node, Mapping):  # the first is quicker
                letters += len("".join(map(str, node)))
                todo += [(item, level + 1) for item in node.values()]
            if values + len(todo) > VALUES or letters > LONGEST:
                raise UsageError(f"the schemas are too large at {name}: offer fewer tools, or simpler ones")


def check_length(grammar: str) -> str:
    """The grammar, if an engine can be asked to read it.

    Raises:
        UsageError: it is too long.
    """
    if len(grammar) > LONGEST:
        raise UsageError(
            f"the grammar of these tools takes {len(grammar)} characters: offer fewer tools, or simpler ones"
        )
    return grammar
