"""Tools in one line: `ping(), get_weather(city: string, days?: integer, units: {"enum": ["C", "F"]})`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..messages import Tool

__all__ = ["signatures", "spell"]

_NAME = re.compile(r'[\w.:/&"-]+')
_KEY = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([\w.:/$-]+))(\??):\s*')
_TYPE = re.compile(r"[a-z|]+")


def signatures(line: str, known: Mapping[str, Tool] | None = None) -> dict[str, Tool]:
    """Tools by name: `ping(), get_weather(city: string, days?: integer)`; a bare name is one that is known."""
    found: dict[str, Tool] = {}
    at = 0
    while match := _NAME.match(line, at):
        name, at = match.group(), match.end()
        if line.startswith("(", at):
            properties, required, at = _parameters(line, at + 1)
            schema = {"type": "object", "properties": properties, "required": required}
            found[name] = Tool(name, parameters=schema)
        else:
            found[name] = (known or {})[name]
        at += len(re.compile(r"[,\s]*").match(line, at)[0])  # type: ignore[index]
    if at < len(line):
        raise ValueError(f"not a tool: {line[at:]!r}")
    return found


def _parameters(line: str, at: int) -> tuple[dict[str, Any], list[str], int]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    while match := _KEY.match(line, at):
        key = match[2] or json.loads(f'"{match[1]}"')
        properties[key], at = _schema(line, match.end())
        required += [] if match[3] else [key]
        at += line.startswith(",", at)
    if not line.startswith(")", at):
        raise ValueError(f"not a parameter: {line[at:]!r}")
    return properties, required, at + 1


def _schema(line: str, at: int) -> tuple[Any, int]:
    if line.startswith("{", at):
        return json.JSONDecoder().raw_decode(line, at)
    match = _TYPE.match(line, at)
    if not match:
        raise ValueError(f"not a type: {line[at:]!r}")
    words = match.group().split("|")
    if words == ["any"]:
        return {}, match.end()
    return {"type": words[0] if len(words) == 1 else words}, match.end()


def spell(tool: Tool) -> str:
    """The line that reads back as this tool (its description apart); "" if there is none."""
    schema = tool.parameters
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if tool.kind != "function" or tool.strict or not _NAME.fullmatch(tool.name):
        return ""
    if set(schema) - {"type", "properties", "required"} or not isinstance(properties, Mapping):
        return ""
    line = f"{tool.name}({', '.join(_parameter(key, value, required) for key, value in properties.items())})"
    return line if _reads_back(line, properties, required) else ""


def _parameter(key: str, schema: Any, required: Sequence[str]) -> str:
    name = key if re.fullmatch(r"[\w.:/$-]+", key) else json.dumps(key)
    return f"{name}{'' if key in required else '?'}: {_type(schema)}"


def _type(schema: Any) -> str:
    if schema == {}:
        return "any"
    words = schema.get("type") if isinstance(schema, Mapping) and set(schema) == {"type"} else None
    if isinstance(words, str | list):
        return words if isinstance(words, str) else "|".join(words)
    return json.dumps(schema)


def _reads_back(line: str, properties: Mapping[str, Any], required: Sequence[str]) -> bool:
    try:
        (tool,) = signatures(line).values()
    except (ValueError, TypeError):
        return False
    back = tool.parameters
    return back["properties"] == dict(properties) and sorted(back["required"]) == sorted(required)
