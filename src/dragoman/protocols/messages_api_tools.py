"""The tools of a Messages request, and the choice among them.

Tools that a hosted service would run, or whose schema only its models know, cannot be offered to an open model.
They are left out and reported, unless the request insists on them.

A deferred tool (`defer_loading`) is one that the model does not see until a search has found it: it comes on offer with the
block that refers to it.  Claude Code defers those of its MCP servers, which can be hundreds.  Where the search itself is a
hosted tool, or no other tool is there that could find them, they are on offer from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..messages import Tool
from .fields import Fields, invalid, missing, unsupported

__all__ = ["Offer", "read_tools"]

_NAME = 128
_SEARCH = "tool_search_tool"
_CHOICES = ("auto", "any", "tool", "none")


@dataclass(slots=True)
class Offer:
    """The tools on offer, and the choice and the parallel flag as `Request` has them.

    `eager`: names of tools whose arguments the client wants as they are written, valid or not.
    `left_out`: paths of tools that cannot be offered.
    """

    tools: tuple[Tool, ...] = ()
    choice: str = "none"
    parallel: bool = True
    eager: frozenset[str] = frozenset()
    left_out: dict[str, str] = field(default_factory=dict)


def read_tools(fields: Fields) -> Offer:
    """What a request offers.

    Raises:
        RequestError: a tool cannot be read, or the choice names one that is not there.
    """
    offer = Offer()
    tools: dict[str, Tool] = {}
    eager, deferred = set(), set()
    for item in fields.each("tools"):
        if item.text("type", "custom") != "custom":
            offer.left_out[item.where] = item.text("name") or item.text("type")
            continue
        tool = _tool(item)
        if tool.name in tools:
            invalid(item.where, f"has the name {tool.name!r}, which an earlier tool has")
        tools[tool.name] = tool
        if item.flag("eager_input_streaming"):
            eager.add(tool.name)
        if item.flag("defer_loading"):
            deferred.add(tool.name)
    hidden = _hidden(fields, deferred, offer) if deferred < set(tools) else set()
    offer.tools, offer.eager = tuple(tool for tool in tools.values() if tool.name not in hidden), frozenset(eager)
    _choose(fields, offer)
    return offer


def _hidden(fields: Fields, deferred: set[str], offer: Offer) -> set[str]:
    """The deferred tools that the model does not know yet."""
    if any(name.startswith(_SEARCH) for name in offer.left_out.values()):
        return set()
    return deferred - set(_referred(fields.items("messages"))) - {fields.inner("tool_choice").text("name")}


def _referred(messages: Sequence[Any]) -> Iterator[str]:
    """The names that the blocks of a conversation refer to."""
    waiting = list(messages)
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            if item.get("type") == "tool_reference":
                yield str(item.get("tool_name"))
            content = item.get("content")
            waiting += content if isinstance(content, list) else ()


def _tool(fields: Fields) -> Tool:
    name = fields.required("name", "the name of the tool")
    if len(name) > _NAME or not all(char.isalnum() or char in "_-.:/" for char in name):
        invalid(fields.param("name"), f"must be up to {_NAME} letters, digits or any of _-.:/; it is {name!r:.60}")
    return Tool(name, fields.text("description"), fields.mapping("input_schema"), fields.flag("strict"))


def _choose(fields: Fields, offer: Offer) -> None:
    choice = fields.inner("tool_choice")
    word = choice.word("type", _CHOICES, "auto")
    offer.parallel = not choice.flag("disable_parallel_tool_use")
    if word == "tool":
        offer.choice = "name:" + _named(choice, offer)
    elif word == "any":
        offer.choice = _any(choice, offer)
    else:
        offer.choice = word if offer.tools else "none"


def _named(choice: Fields, offer: Offer) -> str:
    name = choice.text("name") or missing(choice.param("name"), "the name of a tool")
    if name in offer.left_out.values():
        unsupported(choice.param("name"), f"names the tool {name!r:.60}, which is not offered here")
    if not _has(offer.tools, name):
        invalid(choice.param("name"), f"names the tool {name!r:.60}, which the request does not offer")
    return name


def _any(choice: Fields, offer: Offer) -> str:
    if offer.left_out and not offer.tools:
        where = next(iter(offer.left_out))
        unsupported(where, f"({offer.left_out[where]!r:.60}) is a hosted tool; it is not offered here")
    if not offer.tools:
        invalid(choice.param("type"), "is any, but the request offers no tools")
    return "required"


def _has(tools: Sequence[Tool], name: str) -> bool:
    return any(tool.name == name for tool in tools)
