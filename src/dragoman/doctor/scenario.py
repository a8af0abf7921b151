"""A scenario: one short thing that clients do, and the list of all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from .visit import Visit

__all__ = ["SCENARIOS", "Scenario", "scenario"]

Run = Callable[[Visit], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    """What is done, and where.

    `only`: the protocols it is for, empty for all.  `needs`: what a protocol must have words for.
    `optional`: a server may refuse it.
    """

    name: str
    title: str
    run: Run
    only: Collection[str] = ()
    needs: Collection[str] = ()
    optional: bool = False


SCENARIOS: list[Scenario] = []


def scenario(
    title: str, *, only: Collection[str] = (), needs: Collection[str] = (), optional: bool = False
) -> Callable[[Run], Run]:
    """Put a function on the list, by its own name."""

    def enlist(run: Run) -> Run:
        name = getattr(run, "__name__", "").replace("_", "-")
        SCENARIOS.append(Scenario(name, title, run, only, needs, optional))
        return run

    return enlist
