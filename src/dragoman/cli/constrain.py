"""`dragoman constrain`: the grammar under which a model writes only valid calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .. import api
from ..errors import UsageError
from ..messages import Tool
from ..syntax.schema import loosened
from .case import as_tools
from .decode import prompt_text
from .files import load

__all__ = ["constrain"]

Format = Literal["gbnf", "lark", "structural_tag", "json_schema"]


def constrain(
    *,
    dialect: Annotated[str, Parameter(alias="-d")],
    tools: str = "",
    choice: str = "auto",
    format: Annotated[Format, Parameter(alias="--form")] = "gbnf",
    schema: str = "",
    prompt: str = "",
    specials: str = "",
    no_reasoning: bool = False,
    single: bool = False,
) -> None:
    """Print a grammar under which a model writes only valid calls of these tools.

    What of a schema the grammar does not enforce is told on standard error, a place a line.

    Args:
        dialect: What the model writes (`dragoman dialects`), or a file that says it.
        tools: The tools on offer: a JSON file, or JSON itself; a list, or a request with `tools`; - is standard input.
        choice: What the turn may be: auto (text and calls), required, none, or the name of the tool to call.
        format: For whom: gbnf is read by llama.cpp, lark by llguidance, structural_tag by xgrammar (vLLM, SGLang), and
            json_schema by anyone, where all that is written is one JSON document.
        schema: A JSON Schema for an answer that is no call: a file, or JSON itself.
        prompt: The end of the rendered prompt, or @FILE: it may have opened the reasoning.
        specials: The special tokens of the tokenizer, which are then written as tokens: JSON, or a file, of mark to id.
        no_reasoning: Leave the reasoning out.
        single: One call at most.
    """
    offered = as_tools(load(tools)) if tools else ()
    wanted = _object(schema, "schema")
    text = api.constrain(
        dialect,
        offered or (),
        _chosen(choice),
        form=format,
        prompt=prompt_text(prompt),
        specials=_ids(specials),
        parallel=not single,
        reasoning=not no_reasoning,
        schema=wanted,
    )
    print(text.rstrip("\n"))
    for line in _not_enforced(offered or (), wanted) if format != "json_schema" else ():
        print(line, file=sys.stderr)


def _chosen(choice: str) -> str:
    """A choice as the library takes it: any other word is the name of a tool."""
    return choice if choice in ("auto", "required", "none") or choice.startswith("name:") else f"name:{choice}"


def _object(source: str, what: str) -> Mapping[str, Any] | None:
    found = load(source) if source else None
    if found is not None and not isinstance(found, dict):
        raise UsageError(f"--{what}: a JSON object is expected")
    return found


def _ids(source: str) -> Mapping[str, int] | None:
    found = _object(source, "specials")
    if found is not None and not all(type(token) is int for token in found.values()):
        raise UsageError("--specials: each mark needs the number of its token")
    return found


def _not_enforced(tools: Sequence[Tool], schema: Mapping[str, Any] | None) -> Iterator[str]:
    for name, one in [*((tool.name, tool.parameters) for tool in tools), ("the answer", schema)]:
        for place in loosened(one) if one else ():
            yield f"note: {name}: {place} is not enforced"
