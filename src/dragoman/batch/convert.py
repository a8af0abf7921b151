"""Rewrite what models wrote from one dialect to another, line by line of a file that may be larger than memory.

A line is a JSON object with the raw output under `raw` (or `completion`, `text`, `output`), or with `messages` whose
assistant contents are raw outputs.  All else in it stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import api
from ..errors import UsageError
from ..syntax.decode import Policy

__all__ = ["KEYS", "Conversion", "Line"]

KEYS = ("raw", "completion", "text", "output")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was done: its new text, or what is `wrong` with it and its old text."""

    number: int
    text: str
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """How to rewrite; it goes to other processes, so it holds names and plain values alone.

    `source`, `target`: dialects (a name or a file), `source` auto where the marks of each text are to tell.
    `tools`: those on offer where a line does not say.  `strict`: a text with anything doubtful in it is wrong.
    """

    source: str
    target: str
    tools: tuple[Mapping[str, Any], ...] | None = None
    strict: bool = False

    def __call__(self, numbered: tuple[int, str]) -> Line:
        """One line, by its number and text."""
        number, text = numbered
        try:
            return Line(number, json.dumps(self.line(text), ensure_ascii=False))
        except UsageError as problem:
            return Line(number, text.rstrip("\n"), str(problem))

    def line(self, text: str) -> dict[str, Any]:
        """The object of a line, rewritten.

        Raises:
            UsageError: it is none, or its text cannot be written in the other dialect.
        """
        data = _object(text)
        offered = data.get("tools", self.tools)
        key = next((key for key in KEYS if isinstance(data.get(key), str)), "")
        if key:
            return {**data, key: self.raw(data[key], offered, _text(data, "prompt"), _text(data, "finish") or "stop")}
        if isinstance(data.get("messages"), list):
            return {**data, "messages": [self.message(message, offered) for message in data["messages"]]}
        raise UsageError(f"neither a text ({', '.join(KEYS)}) nor messages are in this line")

    def message(self, message: Any, offered: Any) -> Any:
        if not isinstance(message, dict) or message.get("role") != "assistant":
            return message
        if not isinstance(message.get("content"), str):
            return message
        return {**message, "content": self.raw(message["content"], offered, "", "stop")}

    def raw(self, raw: str, offered: Any, prompt: str, finish: str) -> str:
        """A raw output in the other dialect."""
        name = self.source if self.source != "auto" else api.detect(text=prompt + raw)
        if name is None:
            return raw  # no marks at all: it is the same in every dialect
        turn = api.decode(name, raw, offered, prompt=prompt, finish=finish, policy=Policy(repair=not self.strict))
        if self.strict and turn.notices:
            raise UsageError(f"doubtful: {', '.join(dict.fromkeys(notice.code for notice in turn.notices))}")
        return api.encode(self.target, turn)


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"no JSON: {problem}") from None
    if not isinstance(data, dict):
        raise UsageError("an object is expected")
    return data


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
