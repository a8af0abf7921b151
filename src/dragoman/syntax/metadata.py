r"""A model's own word on what it writes, compiled: `response_template` of a tokenizer's configuration.

    {"start_anchor": "<|im_start|>assistant\n",
     "fields": {"thinking":   {"open": "<think>", "close": "</think>"},
                "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": true,
                               "transform": {"type": "function", "function": "{content}"}},
                "content":    {"close": "<|im_end|>"}}}

Its regions are cut by searching for their marks; compiled to a dialect, a value finds its own end, a cut call is a cut
call, and the arguments stream.  A `response_schema`, its older form, is rewritten first (`response_schema`).  The format: the page "Response Parsing" of the documentation of transformers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from .codecs import Codec
from .codecs.braces import Braces
from .codecs.json import JsonObject
from .codecs.json_call import ARGS, JsonCall
from .codecs.kv_lines import KvLines
from .codecs.params import Params
from .codecs.python import Python
from .dialect import Dialect
from .framing import Framing, tags
from .patterns import examples
from .response_schema import rewritten
from .template import marks

__all__ = ["compiled"]

_THOUGHTS = ("thinking", "reasoning_content", "reasoning")
_CALLS, _CONTENT = "tool_calls", "content"


def compiled(template: Mapping[str, Any], name: str = "response-template") -> Dialect:
    """The dialect of a `response_template`, or of a `response_schema`.

    Raises:
        UsageError: it describes what no dialect can say; the message says which part.
    """
    if "fields" not in template and ("properties" in template or "x-regex" in template):
        template = rewritten(template)
    fields = template.get("fields")
    if not isinstance(fields, Mapping) or not fields:
        raise UsageError("a response template needs fields")
    for key in fields:
        if key not in (*_THOUGHTS, _CALLS, _CONTENT):
            raise UsageError(
                f"a response template with the field {key!r}: a dialect has thinking, content and tool_calls"
            )
    return _Compiling(template, fields, name).dialect()


class _Compiling:
    def __init__(self, template: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], name: str) -> None:
        self.template, self.fields, self.name = template, fields, name

    def dialect(self) -> Dialect:
        begins = next(iter(_texts(self.template, "start_anchor")), "")
        thoughts = [block for key in _THOUGHTS if key in self.fields for block in self.blocks(key, begins)]
        opened, closed = self.around(_CONTENT)
        call, codec = self.call() if _CALLS in self.fields else ("", None)
        shown = [close.strip() for close in closed if close.strip()]
        ends = tuple(dict.fromkeys(mark for close in shown for mark in marks(close)[:1]))
        made = Dialect(
            self.name,
            call=call,
            args=codec,
            reasoning=thoughts[0] if thoughts else "",
            thoughts=tuple(thoughts[1:]),
            begins=self.beginning(begins, thoughts),
            ends=() if opened else ends,  # what closes an answer that was opened only closes that
            drops=tuple(mark for one in opened for mark in marks(one)) + (ends if opened else ()),
            signs=marks(call.partition("{")[0])[:1],
        )
        return self.framed(made, opened, closed) or made

    def framed(self, made: Dialect, opened: list[str], closed: list[str]) -> Dialect | None:
        """The same with a frame, where the answer, the thought and a call have headers that end with one mark."""
        before, _, after = made.reasoning.partition("{text}")
        ends = {(tags(one) or [""])[-1] for one in (before, *opened)}
        if (
            not (before and opened and len(ends) == 1 and made.args)
            or min(ends) not in made.call.partition("{args}")[0]
        ):
            return None
        head, _, tail = made.call.partition("{args}")
        call = f"{' ' * (head[0] not in ' <')}{head.replace(chr(10), ' ')}{{args}}{tail}"
        last = tags(tail)[-1:]
        answer = (opened[0], after.strip())
        frame = Framing(made.begins, made.begins, (before, after.strip()), answer, tuple(filter(None, closed)))
        return next(frame.framed(replace(made, thoughts=(), drops=()), call, last[0] if last else "", made.args), None)

    def beginning(self, begins: str, thoughts: list[str]) -> str:
        """What begins a turn; a mark of thinking behind it only opens that."""
        for block in thoughts:
            begins = begins.partition(block.partition("{text}")[0].strip() or "\0")[0]
        return begins

    def around(self, key: str) -> tuple[list[str], list[str]]:
        field = self.fields.get(key, {})
        return list(_texts(field, "open")), list(_texts(field, "close"))

    def blocks(self, key: str, begins: str) -> Iterator[str]:
        """The templates of thinking; where nothing opens it, the prompt does."""
        opened, closed = self.around(key)
        close = next((close.strip() for close in closed if close.strip()), "")
        if not close:
            raise UsageError(f"the field {key!r} of a response template has no mark that closes it")
        for one in [one for one in opened if one.strip()] or [_mirrored(close, begins)]:
            gap = "\n" if one.endswith("\n") else ""
            yield f"{one}{{text}}{gap}{close}"

    # --- calls

    def call(self) -> tuple[str, Codec]:
        field = self.fields[_CALLS]
        opened, closed = self.around(_CALLS)
        if not opened:
            raise UsageError("the field 'tool_calls' of a response template has no mark that opens it")
        before, after = opened[0], closed[0] if closed else ""
        name, arguments, own = _placed(field)
        for hole, place in (("name", name), ("id", own)):
            if place and not place.startswith("content"):
                before = before.replace(f"{{{place}}}", f"{{{hole}}}")
        return self.written(field, before, after, name, arguments)

    def written(
        self, field: Mapping[str, Any], before: str, after: str, name: str, arguments: str
    ) -> tuple[str, Codec]:
        kind, given = field.get("content", "text"), field.get("content_args") or {}
        if kind == "python-call-list":
            return f"{before}{{call}}{after}", Python(listed=True)
        if kind == "xml-inline":
            return _tagged(before, after, given)
        if kind == "kv-lines":
            return f"{before}{{args}}{after}", KvLines(given.get("kv_sep", ":"), given.get("line_sep", "\n"))
        if kind != "json":
            raise UsageError(f"calls as {kind!r} in a response template")
        if not name or name.startswith("content"):
            return f"{before}{{call}}{after}", _whole(name, arguments, listed="transform_each" in field)
        if envelope := _spelled(before):
            return "{call}", envelope
        if given.get("string_delims") or given.get("unquoted_keys"):
            return f"{before}{{args}}{after}", Braces(*_delimiters(given))
        return f"{before}{{args}}{after}", JsonObject()


def _texts(field: Mapping[str, Any], key: str) -> Iterator[str]:
    """The marks of a field, given as a text, a list of texts or a pattern."""
    value, pattern = field.get(key), field.get(f"{key}_pattern")
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from value
    if isinstance(pattern, str):
        yield from examples(pattern)


def _mirrored(close: str, begins: str) -> str:
    """The mark that opens what this one closes."""
    tail = marks(begins)[-1:] if begins else ()
    opened = close.replace("</", "<", 1).replace("[/", "[", 1)
    if opened == close and not tail:
        raise UsageError(f"nothing tells which mark opens what {close!r} closes")
    return f"{opened}\n" if f"{opened}\n" in begins else opened if opened != close else tail[0]


def _placed(field: Mapping[str, Any]) -> tuple[str, str, str]:
    """Where name, arguments and id of a call come from: a group of a pattern, or a place in the content."""
    shape = field.get("transform") or field.get("transform_each") or {}
    function = shape.get("function", shape) if isinstance(shape, Mapping) else shape
    if not isinstance(function, Mapping):
        return "", "", ""
    values = (function.get("name"), function.get("arguments"), shape.get("id"))
    name, arguments, own = (value.strip("{}") if isinstance(value, str) else "" for value in values)
    return name, arguments, own


def _whole(name: str, arguments: str, *, listed: bool) -> JsonCall:
    """A call that is one JSON object, by its keys."""
    key, args = name.rpartition(".")[2] or "name", arguments.rpartition(".")[2]
    more = (args, *(one for one in ARGS if one != args)) if args else ARGS
    return JsonCall(key, ARGS if more[0] == ARGS[0] else more, listed=listed)


def _spelled(before: str) -> JsonCall | None:
    """A JSON object whose beginning was written out as a mark."""
    try:
        value = json.loads(before.replace("{name}", "NAME") + "{}}")
    except ValueError:
        return None
    keys = {str(item): key for key, item in value.items()} if isinstance(value, dict) else {}
    return _whole(keys["NAME"], keys["{}"], listed=False) if {"NAME", "{}"} <= set(keys) else None


def _tagged(before: str, after: str, given: Mapping[str, Any]) -> tuple[str, Codec]:
    """A call with a tag for each argument, or with keyword arguments."""
    pattern = str(given.get("tag_pattern", ""))
    tag = examples(pattern)[0]
    if tag.replace(" ", "") == "{key}={value}" and before.endswith("("):
        head, tail = before.partition("{name}")[0], after.removeprefix(")")
        return f"{head.removesuffix('[')}{{call}}{tail.removeprefix(']')}", Python(listed=head.endswith("["))
    if not all(marks(part) for part in tag.replace("{key}", "{value}").split("{value}")):
        raise UsageError(f"arguments written as {tag!r} in a response template: a key or a value without marks")
    return f"{before}{{args}}{after}", Params(tag, strip="\\s*(?P<value>" in pattern)


def _delimiters(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The mark of a string, or the two of one."""
    opened, closed = (given.get("string_delims") or [['"', '"']])[0]
    return (str(opened),) if opened == closed else (str(opened), str(closed))
