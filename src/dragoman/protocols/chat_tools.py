"""The tools of a Chat Completions request, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..messages import Grammar, Tool
from ..syntax.matching import matching
from .fields import Fields, invalid, kind, missing, unsupported

__all__ = ["FREE_TEXT", "read_choice", "read_custom", "read_function", "read_name", "read_once", "read_tools", "unread"]

# A tool that takes free text is shown to the model as a function with this one parameter.
FREE_TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}

_NAME = 128
_WORDS = {"none": "none", "auto": "auto", "required": "required", "any": "required"}


def read_tools(fields: Fields) -> tuple[tuple[Tool, ...], str]:
    """The tools on offer, and the choice as `Request.choice` has it.

    Raises:
        RequestError: a tool cannot be read, or the choice names one that is not there.
    """
    old = "functions" in fields
    if old and "tools" in fields:
        invalid("functions", "is the old name of tools; send only one of the two")
    items = fields.each("functions" if old else "tools")
    tools = tuple(read_function(item) if old else _tool(item) for item in items)
    read_once(tools, fields.param("functions" if old else "tools"))
    return read_choice(fields, tools, "function_call" if old else "tool_choice")


def _tool(fields: Fields) -> Tool:
    form = fields.required("type", "function or custom")
    if form == "custom":
        return read_custom(fields.inner("custom") if "custom" in fields else fields)
    if form != "function":
        unsupported(
            fields.param("type"), f"must be function or custom; tools of type {form!r:.60} are not offered here"
        )
    # Clients of other APIs write the members of `function` beside its type.
    return read_function(fields.inner("function") if "function" in fields else fields)


def read_function(fields: Fields) -> Tool:
    """The members of a function."""
    return Tool(read_name(fields), fields.text("description"), fields.mapping("parameters"), fields.flag("strict"))


def read_custom(fields: Fields) -> Tool:
    """The members of a free-text tool; its grammar is told to the model too, which helps it to stay within."""
    grammar, told = _format(fields.inner("format")), fields.text("description")
    if grammar is not None:
        told += f"\n\nThe input must follow this grammar ({grammar.syntax}):\n{grammar.definition}"
    return Tool(read_name(fields), told.strip(), FREE_TEXT, kind="custom", grammar=grammar)


def _format(fields: Fields) -> Grammar | None:
    if fields.word("type", ("text", "grammar"), "text") == "text":
        return None
    form = fields.inner("grammar") if "grammar" in fields else fields  # one API nests it, the other does not
    syntax = form.word("syntax", ("lark", "regex"), "")
    if not syntax:
        missing(form.param("syntax"), "lark or regex")
    if "definition" not in form:
        missing(form.param("definition"), "the grammar that the input follows")
    return Grammar(syntax, form.text("definition"), fields.where)


def unread(tools: Sequence[Tool]) -> tuple[str, ...]:
    """Where grammars stand that cannot be read here, and so are told to the model and not enforced; these are let go."""
    found = []
    for tool in tools:
        try:
            if tool.grammar is not None:
                matching(tool.grammar)
        except UsageError:
            found.append(tool.grammar.param)  # type: ignore[union-attr]  # it has one
            tool.grammar = None
    return tuple(found)


def read_name(fields: Fields) -> str:
    """The name of a tool."""
    name = fields.required("name", "the name of the tool")
    if len(name) > _NAME or not all(char.isalnum() or char in "_-.:/" for char in name):
        invalid(fields.param("name"), f"must be up to {_NAME} letters, digits or any of _-.:/; it is {name!r:.60}")
    return name


def read_once(tools: Sequence[Tool], param: str) -> None:
    """No two tools have one name."""
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        if tool.name in seen:
            invalid(f"{param}[{index}]", f"has the name {tool.name!r}, which an earlier tool has")
        seen.add(tool.name)


def read_choice(fields: Fields, tools: tuple[Tool, ...], key: str) -> tuple[tuple[Tool, ...], str]:
    """The tools that may be called, and the choice among them as `Request.choice` has it."""
    value = fields.get(key)
    param = fields.param(key)
    if value is None:
        return tools, "auto" if tools else "none"
    if isinstance(value, str):
        return tools, _word(value, tools, param)
    if not isinstance(value, Mapping):
        invalid(param, f"must be a string or an object; it is {kind(value)}", "invalid_type")
    choice = Fields(value, param)
    if choice.get("type") == "allowed_tools":
        return _allowed(choice.inner("allowed_tools") if "allowed_tools" in choice else choice, tools)
    return tools, "name:" + _named(choice, tools)


def _word(word: str, tools: Sequence[Tool], param: str) -> str:
    if word not in _WORDS:
        invalid(param, f"must be none, auto, required or an object that names a tool; it is {word!r:.60}")
    if not tools and _WORDS[word] == "required":
        invalid(param, f"is {word}, but the request offers no tools")
    return _WORDS[word] if tools else "none"


def _allowed(fields: Fields, tools: Sequence[Tool]) -> tuple[tuple[Tool, ...], str]:
    mode = fields.word("mode", ("auto", "required"), "auto")
    names = {_named(item, tools) for item in fields.each("tools")}
    if not names:
        missing(fields.param("tools"), "the tools that may be called")
    return tuple(tool for tool in tools if tool.name in names), mode


def _named(fields: Fields, tools: Sequence[Tool]) -> str:
    holder = next((fields.inner(key) for key in ("function", "custom") if key in fields), fields)
    name = holder.required("name", "the name of a tool")
    if all(tool.name != name for tool in tools):
        invalid(holder.param("name"), f"names the tool {name!r:.60}, which the request does not offer")
    return name
