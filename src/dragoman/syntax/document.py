"""Calls, or an answer, that are one JSON document: their JSON Schema, for engines that take one.

Only where nothing but JSON is written: an answer by a schema, and the calls of dialects without marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..messages import Tool
from .codecs.json_call import JsonCall
from .dialect import Dialect
from .parts import MOST
from .shapes import schema_of

__all__ = ["document"]


def document(
    dialect: Dialect, tools: Sequence[Tool], schema: Mapping[str, Any] | None = None, *, parallel: bool = True
) -> str:
    """The JSON Schema of a whole turn, behind its reasoning: an answer by `schema`, or calls of the tools.

    Raises:
        UsageError: the dialect writes something around the JSON.
    """
    if schema is not None and not dialect.content:
        return _dump(schema or {"type": "object"})
    codec = dialect.args
    if schema is not None or dialect.call != "{call}" or not isinstance(codec, JsonCall):
        what = "answers" if schema is not None else "calls"
        raise UsageError(
            f"{dialect.name} writes its {what} between marks, which no JSON Schema can say: use another form"
        )
    if codec.several and codec.several[0]:
        one = _one(tools, codec, "#/items")
        return _dump({"type": "array", "items": one, "minItems": 1, "maxItems": MOST if parallel else 1})
    return _dump(_one(tools, codec, "#"))


def _one(tools: Sequence[Tool], codec: JsonCall, path: str) -> dict[str, Any]:
    """A call of one of the tools."""
    if len(tools) == 1:
        return _call(tools[0], codec, path)
    return {"anyOf": [_call(tool, codec, f"{path}/anyOf/{i}") for i, tool in enumerate(tools)]}


def _call(tool: Tool, codec: JsonCall, path: str) -> dict[str, Any]:
    if tool.grammar is not None:
        raise UsageError(f"no JSON Schema can say the grammar of the tool {tool.name!r}: use another form")
    args = codec.args[0]
    inside = _moved(schema_of(tool), f"{path}/properties/{args}")
    properties = {codec.name: {"const": tool.name}, args: inside}
    return {"type": "object", "properties": properties, "required": [codec.name, args], "additionalProperties": False}


def _moved(node: Any, path: str) -> Any:
    """A schema that stands elsewhere now: its references lead there."""
    if isinstance(node, list):
        return [_moved(item, path) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: path + item[1:] if key == "$ref" and isinstance(item, str) and item.startswith("#") else _moved(item, path)
        for key, item in node.items()
    }


def _dump(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False)
