"""Nesting: where elements in elements tell what a value is, and where they would be read back as something else.

Elements have names but no types.  Their reader goes by the schema, so they are written only where that leaves no doubt;
anywhere else a value stands as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .grammar import NEVER, Node, literal
from .kinds import Schema
from .style import Style

__all__ = ["nests", "nothing"]


def nests(kind: str, node: Mapping[str, Any], style: Style, place: Schema) -> bool:
    """Whether elements inside of a value tell what it is: only one kind that may hold some, of known keys or items."""
    if not place.kinds or {"object", "array"} <= place.kinds:
        return False
    if kind == "array":
        return isinstance(node.get("items"), Mapping) and "prefixItems" not in node
    declared = node.get("properties")
    keys = {*declared, *(node.get("required") or ())} if isinstance(declared, Mapping) else set()
    return bool(keys) and all(isinstance(key, str) and style.key(key) != NEVER for key in keys)


def nothing(kind: str, node: Mapping[str, Any]) -> Iterator[Node]:
    """An empty value, where that is valid: it has no elements to tell what it is, and may stand as JSON too."""
    if kind == "array" and not node.get("minItems"):
        yield literal("[]")
    elif kind == "object" and not (node.get("minProperties") or node.get("required")):
        yield literal("{}")
