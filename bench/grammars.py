"""What the grammar of many tools costs: CPU time, the best of several runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from dragoman import constrain

from .measure import seconds

__all__ = ["FORMS", "each", "tools"]

FORMS = ("gbnf", "lark", "structural_tag")
COUNT = 100


def tools(first: int = 0) -> list[dict[str, Any]]:
    """A hundred tools such as agents bring: some of their parameters are the same for all, and some are each tool's own."""
    return [{"name": f"search_{number}", "parameters": _schema(number)} for number in range(first, first + COUNT)]


def _schema(number: int) -> dict[str, Any]:
    properties = {
        "query": {"type": "string", "description": f"What to look for in source {number}."},
        f"limit_{number}": {"type": "integer", "minimum": 1, "maximum": 100 + number},
        "order": {"type": "string", "enum": ["newest", "oldest", f"best of {number}"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    return {"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False}


def each(dialect: str, repeat: int) -> Iterator[tuple[str, float]]:
    """Every form, and the milliseconds that a forced call of these tools takes in it."""
    for place, form in enumerate(FORMS):
        runs = range(place * repeat, (place + 1) * repeat)  # none has seen the own parameters of another's tools
        each_run = (partial(constrain, dialect, tools(COUNT * run), "required", form=form) for run in runs)
        yield form, min(map(seconds, each_run)) * 1000
