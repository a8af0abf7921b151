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


def tools() -> list[dict[str, Any]]:
    """A hundred tools such as agents bring: a text, a number, a choice and a list."""
    properties = {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "order": {"type": "string", "enum": ["newest", "oldest", "best"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"], "additionalProperties": False}
    return [{"name": f"search_{i}", "parameters": schema} for i in range(COUNT)]


def each(dialect: str, repeat: int) -> Iterator[tuple[str, float]]:
    """Every form, and the milliseconds that a forced call of these tools takes in it."""
    offered = tools()
    for form in FORMS:
        run = partial(constrain, dialect, offered, "required", form=form)
        yield form, min(seconds(run) for _ in range(repeat)) * 1000
