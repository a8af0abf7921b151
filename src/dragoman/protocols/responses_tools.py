"""The tools of a Responses request: functions are flat, a namespace is a group of them, and hosted tools are not offered.

A hosted tool is left out, as agents offer what their vendor has to every server; an MCP server is refused, as it was
chosen for this request.

A function of a namespace goes by its own name, and by both names where another tool has that one too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..messages import Tool
from .chat_tools import read_choice, read_custom, read_function, read_name, read_once, unread
from .fields import Fields, unsupported

__all__ = ["Offer", "read_tools"]

_CHOICES = ("function", "custom", "allowed_tools")


@dataclass(slots=True)
class Offer:
    """What is on offer.

    `only`: the names that may be called, None for all.  `spaces`: offered name -> namespace and name within it.
    `echo`: the tools as the answer repeats them.  `ignored`: paths of tools that were left out.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "none"
    only: frozenset[str] | None = None
    spaces: dict[str, tuple[str, str]] = field(default_factory=dict)
    echo: list[Mapping[str, Any]] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def name(self, space: str, name: str) -> str:
        """The name that a tool of a namespace is offered by ("" for none)."""
        return next((given for given, pair in self.spaces.items() if pair == (space, name)), name)


def read_tools(fields: Fields) -> Offer:
    """The tools on offer, and the choice among them.

    Raises:
        RequestError: a tool cannot be read, or the choice names one that is not there.
    """
    offer = Offer()
    found = [pair for item in fields.each("tools") for pair in _tools(item, offer)]
    plain = [tool.name for space, tool in found if not space]
    for space, tool in found:
        if space:
            within = [other.name for _, other in found]
            name = tool.name
            tool.name = name if name not in plain and within.count(name) == 1 else f"{space}.{name}"
            offer.spaces[tool.name] = space, name
    tools = tuple(tool for _, tool in found)
    read_once(tools, fields.param("tools"))
    offer.ignored += unread(tools)
    _check_choice(fields)
    offer.tools, offer.choice = read_choice(fields, tools, "tool_choice")
    if len(offer.tools) < len(tools):
        offer.only = frozenset(tool.name for tool in offer.tools)
    return offer


def _check_choice(fields: Fields) -> None:
    choice = fields.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") not in _CHOICES:
        form = choice.get("type")
        unsupported("tool_choice.type", f"must be one of {', '.join(_CHOICES)}; {form!r:.60} is not offered here")


def _tools(fields: Fields, offer: Offer) -> Iterator[tuple[str, Tool]]:
    """The tools of an item, each with its namespace."""
    form = fields.required("type", "function, custom or namespace")
    if form == "namespace":
        offer.echo.append(fields.data)
        for item in fields.each("tools"):
            yield read_name(fields), _tool(item)
    elif form in ("function", "custom"):
        tool = _tool(fields)
        offer.echo.append(_echo(tool, fields))
        yield "", tool
    elif form == "mcp":
        unsupported(fields.param("type"), "is mcp, and MCP servers are not called here; offer their tools as functions")
    else:
        offer.ignored.append(fields.where)


def _tool(fields: Fields) -> Tool:
    if fields.get("type") == "custom":
        return read_custom(fields)
    # Clients of other APIs write the members of a function one level deeper.
    return read_function(fields.inner("function") if "function" in fields else fields)


def _echo(tool: Tool, fields: Fields) -> dict[str, Any]:
    if tool.kind == "custom":
        told = {"description": fields.text("description") or None, "format": fields.get("format") or {"type": "text"}}
        return {"type": "custom", "name": tool.name, **told}
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or None,
        "parameters": tool.parameters or None,
        "strict": tool.strict,
    }
