"""Which schemas are alike: those that lead nowhere outside of themselves and say the same have one text."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["text_of"]

_LONGEST = 1000
_NOTES = ("description", "title", "default", "examples")


def text_of(schema: Any) -> str:
    """The text of a schema, "" if it refers to others, is none of JSON's values, or is too long to be remembered."""
    if type(schema) is dict:
        schema = {key: value for key, value in schema.items() if key not in _NOTES}
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):
        return ""
    return "" if len(text) > _LONGEST or '"$' in text else text
