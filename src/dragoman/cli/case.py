"""A case: one raw output and what is known of it; decoded here for the commands that print it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import api
from ..errors import UsageError
from ..events import Event
from ..messages import Tool
from ..syntax.calls import tool_of
from ..syntax.decode import Parser, Policy
from ..syntax.dialect import Dialect

__all__ = ["Case", "as_tools", "named", "offered"]


@dataclass(frozen=True, slots=True)
class Case:
    """One raw output, who wrote it (a name or auto), the tools on offer (None: unknown), and how to decode it."""

    raw: str = ""
    dialect: str = "auto"
    tools: Sequence[Any] | None = None
    prompt: str = ""
    finish: str = "stop"
    policy: Policy = Policy()
    chunks: int = 0

    def of(self, line: str) -> Case:
        """The case in a line of JSON: what it does not say is as here."""
        said = _object(line)
        if "tools" in said:
            said["tools"] = offered(said["tools"])
        return replace(self, **said)

    def whose(self) -> Dialect:
        """The dialect, recognised by the marks of the text if it has no name."""
        if self.dialect != "auto":
            return api.get(self.dialect)
        name = api.detect(text=self.prompt + self.raw)
        if name is None:
            raise UsageError("no dialect's marks are in this text; name it: --dialect NAME (`dragoman dialects`)")
        return api.get(name)

    def events(self, dialect: Dialect, trace: Callable[[int, int, str], None] | None = None) -> Iterator[Event]:
        """All events of the turn, as they come."""
        parser = Parser(dialect, self.tools, prompt=self.prompt, policy=self.policy, trace=trace)
        for piece in self._pieces():
            yield from parser.feed(piece)
        yield from parser.close(self.finish)

    def _pieces(self) -> Iterator[str]:
        size = self.chunks or max(1, len(self.raw))
        return (self.raw[at : at + size] for at in range(0, len(self.raw), size))


def named(name: str) -> Dialect:
    """The dialect of a recorded turn; a raw completion has none, and is only text."""
    return api.get(name) if name else Dialect("")


def offered(data: Any) -> Sequence[Any] | None:
    """The tools in a list or in a request; null is unknown."""
    if isinstance(data, Mapping):
        data = data.get("tools")
    if data is None or (isinstance(data, list) and all(isinstance(tool, Mapping) for tool in data)):
        return data
    raise UsageError("tools: a list of tools is expected, or a request that has `tools`")


def as_tools(data: Any) -> tuple[Tool, ...] | None:
    """The tools in a list or in a request, as values."""
    found = offered(data)
    return None if found is None else tuple(map(tool_of, found))


def _object(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UsageError(f"no JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("raw"), str):
        raise UsageError("an object with a text `raw` is expected")
    known = ("raw", "dialect", "tools", "prompt", "finish")
    said = {key: value for key, value in data.items() if key in known and value is not None}
    for key, value in said.items():
        if key != "tools" and not isinstance(value, str):
            raise UsageError(f"`{key}` must be a text")
    return said
