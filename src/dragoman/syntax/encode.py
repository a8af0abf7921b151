"""Encode: a turn back to the raw text that a model would have written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..messages import Call, Reasoning, Text, Tool, Turn
from .calls import Tools
from .decode import decode
from .dialect import Dialect
from .suffix import suffixed
from .template import Hole, attribute, parse

__all__ = ["encode"]


def encode(dialect: Dialect, turn: Turn, *, prompt: str = "") -> str:
    """What follows `prompt` when the model writes this turn, without the mark that ends it.

    It reads back as this turn whatever tools are on offer.

    Raises:
        UsageError: the text would not read back as this turn: a cut or invalid call, or text that holds marks.
    """
    dialect = suffixed(dialect, None, prompt, "")
    if turn.calls and not dialect.forms:
        raise UsageError(f"{dialect.name} has no way to write a call")
    for call in turn.calls:
        _check(call)
    text = "".join(_parts(dialect, turn))
    if _meaning(decode(dialect, text, _Every(_tools(turn)), prompt=prompt)) != _meaning(turn):
        raise UsageError(f"this turn cannot be written in {dialect.name}: its text would read back as another one")
    return text


def _check(call: Call) -> None:
    try:
        whole = isinstance(json.loads(call.arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise UsageError(f"the arguments of {call.name!r} are no JSON object: {call.arguments!r:.200}")


def _parts(dialect: Dialect, turn: Turn) -> Iterator[str]:
    """The text of each part."""
    before: Reasoning | Text | list[Call] | None = None
    number = 0
    for part in _grouped(turn):
        if before is not None:
            yield _between(dialect, before, part)
        if isinstance(part, list):
            yield from _calls(dialect, part, number)
            number += len(part)
        elif isinstance(part, Reasoning):
            yield dialect.reasoning.replace("{text}", part.text)
        else:
            yield _content(dialect, part, before)
        before = part


def _grouped(turn: Turn) -> list[Reasoning | Text | list[Call]]:
    """The parts, calls that follow one another together."""
    found: list[Reasoning | Text | list[Call]] = []
    for part in turn.parts:
        if not isinstance(part, Call):
            found.append(part)
        elif found and isinstance(found[-1], list):
            found[-1].append(part)
        else:
            found.append([part])
    return found


def _calls(dialect: Dialect, calls: list[Call], number: int) -> Iterator[str]:
    """Calls that follow one another: in one payload where the codec puts them so, else one behind the other."""
    before, _, after = dialect.section.partition("{calls}")
    yield before
    codec = dialect.forms[0].codec
    if codec.several:
        opening, between, closing = codec.several
        known = [
            _numbered(call, number + i) if getattr(codec, "ids", "") == "first" else call
            for i, call in enumerate(calls)
        ]
        payload = opening + between.join(map(codec.encode, known)) + closing
        yield dialect.call.replace("{call}", payload)
    else:
        joint = _between(dialect, calls, calls)
        yield joint.join(_call(dialect, call, number + i) for i, call in enumerate(calls))
    yield after


def _numbered(call: Call, number: int) -> Call:
    """A call with an id, where that is what it begins with."""
    return call if call.id else replace(call, id=str(number))


def _between(dialect: Dialect, before: Reasoning | Text | list[Call], part: Reasoning | Text | list[Call]) -> str:
    """What parts two parts; messages after the first need their own beginning."""
    if dialect.frame is not None or (dialect.again and before is not part):
        itself = dialect.frame is not None and isinstance(part, list) and dialect.call.startswith(dialect.frame.start)
        return "" if itself else dialect.again or dialect.begins
    if isinstance(before, Reasoning) or not (isinstance(part, list | Text) or isinstance(before, list)):
        return ""
    if isinstance(before, Text) and isinstance(part, list) and dialect.apart is not None:
        return dialect.apart
    return dialect.between


def _content(dialect: Dialect, part: Text, before: Reasoning | Text | list[Call] | None) -> str:
    """Text in its marks; where these are no tokens of a frame, they only part it from a thought."""
    if not dialect.content or not (dialect.blocks or isinstance(before, Reasoning)):
        return part.text
    template = next((t for t in dialect.content if part.phase and part.phase in t), dialect.content[0])
    return template.replace("{text}", part.text)


def _call(dialect: Dialect, call: Call, number: int) -> str:
    pieces = []
    codec = dialect.forms[0].codec
    for piece in parse(dialect.call):
        if not isinstance(piece, Hole):
            pieces.append(piece)
        elif piece.name in ("args", "call"):
            pieces.append(codec.encode(call))
        elif pieces and pieces[-1].endswith('="'):
            pieces.append(attribute(_hole(call, piece.name, number)))
        else:
            pieces.append(_hole(call, piece.name, number))
    return "".join(pieces)


def _hole(call: Call, name: str, number: int) -> str:
    """A hole before the arguments: the number of a call comes from its id, if that has one."""
    if name == "index":
        _, _, own = call.id.rpartition(":")
        return own if own.isdigit() else str(number)
    if name == "number":
        return str(number + 1)
    return {"name": call.name, "id": call.id or str(number), "type": "function"}[name]


def _meaning(turn: Turn) -> list[tuple[object, ...]]:
    """What must be the same after a round trip."""
    return [
        (part.name, json.loads(part.arguments) if part.valid else part.arguments, part.complete)
        if isinstance(part, Call)
        else (type(part).__name__, part.text)
        for part in turn.parts
    ]


class _Every(Tools):
    """Every name is that of a tool on offer, so nothing that might read as a call is taken for text."""

    def __init__(self, tools: list[Tool]) -> None:
        super().__init__(tools)
        self.by_name = _Any(self.by_name)


class _Any(dict[str, Tool]):
    def __contains__(self, name: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


def _tools(turn: Turn) -> list[Tool]:
    """Tools whose schemas allow just what the turn's calls hold."""
    schemas: dict[str, dict[str, Any]] = {}
    for call in turn.calls:
        properties = schemas.setdefault(call.name, {})
        for key, value in json.loads(call.arguments).items():
            properties.setdefault(key, []).append(_kind(value))
    return [Tool(name, parameters=_schema(properties)) for name, properties in schemas.items()]


def _schema(properties: Mapping[str, list[str]]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": kinds} for key, kinds in properties.items()}}


def _kind(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")
