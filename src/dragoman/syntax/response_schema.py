r"""The older word of a model on what it writes, a `response_schema`, rewritten as a `response_template`.

    {"x-regex": "^(?:<think>(?P<thinking>.*?)</think>)?(?P<content>.*?)(?P<tool_calls><call>.*</call>)?$",
     "properties": {"tool_calls": {"x-regex-iterator": "<call>(.*?)</call>",
                                   "items": {"x-parser": "json", ...}}}}

It is a JSON Schema whose nodes say how each is cut out of the text: `x-regex` (one group, or a named group for each
property), `x-regex-iterator` (one for each item), `x-regex-key-value`, and `x-parser`.  What stands around a group is
a mark.  The format: the page "Response Parsing" of the documentation of transformers 5.0 to 5.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import UsageError
from .patterns import examples

__all__ = ["rewritten"]

Node = Mapping[str, Any]
_HOLE = re.compile(r"\{(\w+)\}")
_IT = "it"
_CALLS, _CONTENT = "tool_calls", "content"
_IGNORED = ("role",)


def rewritten(schema: Node) -> dict[str, Any]:
    """The same as a `response_template`.

    Raises:
        UsageError: it says something that has no place there; the message says what.
    """
    _plain(schema, "the whole text")
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise UsageError("a response schema needs properties")
    shown = _around(schema["x-regex"]) if "x-regex" in schema else {}
    fields = {name: _field(name, node, shown) for name, node in properties.items() if name not in _IGNORED}
    _, last = shown.get(_CALLS, ([], []))
    begins = [one for name, field in fields.items() if name != _CONTENT for one in field.get("open", ())]
    content = fields.setdefault(_CONTENT, {})
    content["close"] = [one for one in (*content.get("close", ()), *last) if one.strip() and one not in begins]
    return {"fields": fields}


def _field(name: str, node: Node, shown: Mapping[str, tuple[list[str], list[str]]]) -> dict[str, Any]:
    """One property: the marks around it, by its own expression or by the named group of the whole one."""
    if name == _CALLS:
        return _calls(node, shown)
    if name != _CONTENT:
        _plain(node, f"{name!r}")
    opened, closed = _around(node["x-regex"]).get(_IT, ([], [])) if "x-regex" in node else shown.get(name, ([], []))
    return {"open": [one.lstrip() for one in opened], "close": closed}


# --- calls


def _calls(node: Node, shown: Mapping[str, tuple[list[str], list[str]]]) -> dict[str, Any]:
    _plain(node, "'tool_calls'")
    pattern = node.get("x-regex-iterator") or node.get("x-regex")
    opened, closed = _around(pattern).get(_IT, ([], [])) if pattern else shown.get(_CALLS, ([], []))
    items = node.get("items")
    items = items if isinstance(items, Mapping) else {}
    if "x-parser" in node:
        return {**_json(node), "open": opened, "close": closed, "transform_each": _keys(node)}
    _plain(items, "an item of 'tool_calls'")
    if "x-parser" in items:
        return {**_json(items), "open": opened, "close": closed, "transform": _keys(items)}
    return _spelled(_function(items), opened[:1] or [""], closed[:1] or [""])


def _json(node: Node) -> dict[str, Any]:
    if node["x-parser"] != "json":
        raise UsageError(f"calls as {node['x-parser']!r} in a response schema")
    return {"content": "json"}


def _keys(node: Node) -> Any:
    """Where name and arguments stand in a call's object."""
    said = str((node.get("x-parser-args") or {}).get("transform", "function: @"))
    name, arguments = re.search(r"\bname:\s*([\w.]+)", said), re.search(r"\barguments:\s*([\w.]+)", said)
    if name and arguments:
        return {"function": {"name": f"{{content.{name[1]}}}", "arguments": f"{{content.{arguments[1]}}}"}}
    if re.search(r"\bfunction:\s*@", said):
        return {"function": "{content}"}
    raise UsageError(f"calls changed by {said!r:.100} in a response schema")


def _function(items: Node) -> Mapping[str, Node]:
    """The nodes of a call's name and arguments."""
    found = items.get("properties") or {}
    inner = found.get("function", items)
    return inner.get("properties") or {} if isinstance(inner, Mapping) else {}


def _spelled(function: Mapping[str, Node], opened: list[str], closed: list[str]) -> dict[str, Any]:
    """A call whose name and arguments have expressions of their own."""
    name, arguments = function.get("name", {}), function.get("arguments", {})
    if "x-regex" not in name:
        raise UsageError("nothing in a response schema tells where the name of a call stands")
    before, after = _around(name["x-regex"])[_IT]
    before, after = before or [""], after or [""]
    head, tail = opened[0] + before[0] + "{fn}" + after[0], closed[0]
    found: dict[str, Any] = {"transform": {"function": {"name": "{fn}", "arguments": "{content}"}}}
    if "x-regex-key-value" in arguments:
        found |= {"content": "xml-inline", "content_args": {"tag_pattern": arguments["x-regex-key-value"]}}
        tail = _mirrored(before[0]) + tail
    elif "x-parser" in arguments and "x-regex" in arguments:
        inside, behind = _around(arguments["x-regex"])[_IT]
        found |= _json(arguments)
        head, tail = head + (inside or [""])[0], (behind or [""])[0] + tail
    else:
        raise UsageError("nothing in a response schema tells how the arguments of a call are written")
    return {**found, "open": [head], "close": [tail]}


def _mirrored(opened: str) -> str:
    """The tag that closes what a tag around a name opens (`<function=`), which the expression leaves out."""
    tag = re.search(r"<(\w+)\W[^<>]*\Z", opened)
    return f"</{tag[1]}>" if tag else ""


# --- expressions


def _around(pattern: object) -> dict[str, tuple[list[str], list[str]]]:
    """What stands before and behind each group of an expression; one without a name is `it`."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    shown = examples(str(pattern), group=_IT)
    holes = [set(_HOLE.findall(example)) for example in shown]
    for example, own in zip(shown, holes, strict=True):
        if any(own < other for other in holes):
            continue  # what stands around a group that is missing says nothing
        for name, before, after in _cut(example):
            opened, closed = found.setdefault(name, ([], []))
            opened += [before] * (before not in opened)
            closed += [after] * (after not in closed)
    return {name: (list(filter(None, opened)), list(filter(None, closed))) for name, (opened, closed) in found.items()}


def _cut(example: str) -> Iterator[tuple[str, str, str]]:
    """The groups of an example: each with what stands before it, if nothing else does, and behind it."""
    pieces = _HOLE.split(example)
    for at in range(1, len(pieces), 2):
        yield pieces[at], pieces[at - 1] if at == 1 else "", pieces[at + 1]


def _plain(node: Node, what: str) -> None:
    """A text that is changed before it is read has no place in a dialect."""
    if "x-regex-substitutions" in node:
        raise UsageError(f"a response schema that changes {what} before it is read")
