"""Well-formed turns, and how each dialect writes them: what must come out is known before anybody reads it."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Turn
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.template import marks

_WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "metric": {"type": "boolean"},
        "limit": {"type": "number"},
    },
    "required": ["city"],
}
_PLAN = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {}},
        "opts": {"type": "object"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}
_WRITE = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}

TOOLS = [
    {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}}
    for name, schema in [
        ("get_weather", _WEATHER),
        ("plan", _PLAN),
        ("write_file", _WRITE),
        ("ping", {"type": "object", "properties": {}}),
    ]
]

OPENED = ", opened by the prompt"
_SAYS = ("they say ", " there")
_CODE = 'if a < b && c > d:\n    print("x\\n", \'y\')  # {"k": [1]}\n'
_PROSE = "In short:\n\n1. `a < b` holds, [see](x)\n2. {so} it is.\n\n"


@dataclass(frozen=True)
class Case:
    """A turn in a dialect: what ends the prompt, what the model wrote, and what it means."""

    dialect: Dialect
    kind: str
    prompt: str
    raw: str
    turn: Turn
    stop: str = "<|endoftext|>"
    tools: Sequence[dict[str, Any]] = field(default_factory=lambda: TOOLS)

    @property
    def thinks(self) -> bool:
        """Whether the model was asked to think."""
        return bool(self.turn.reasoning)

    @property
    def opened(self) -> bool:
        """Whether the prompt has opened the thinking."""
        return self.kind.endswith(OPENED)

    def quoted(self) -> tuple[str, str, str]:
        """What stands before a mark that is quoted in a string, the mark, and the rest."""
        before, found, after = self.raw.partition(_SAYS[0])
        mark, _, rest = after.partition(_SAYS[1])
        return (before + found, mark, _SAYS[1] + rest) if found else (self.raw, "", "")


def cases(dialect: Dialect) -> Iterator[Case]:
    """All cases that the dialect can write."""
    for kind, parts in _kinds(dialect):
        turn = Turn(parts)
        prompt = dialect.begins if turn.reasoning else _silent(dialect)
        try:
            raw = api.encode(dialect, turn, prompt=prompt)
        except UsageError:
            continue
        stop = next((mark for mark in pairs()["stops"].get(dialect.name, ()) if raw.endswith(mark)), "")
        yield Case(dialect, kind, prompt, raw.removesuffix(stop), turn, stop or "<|endoftext|>")
        yield from _opened(dialect, kind, raw, turn)


def _silent(dialect: Dialect) -> str:
    """The prompt of a turn without thinking: its template closes the block at once."""
    framed = dialect.frame is not None or dialect.blocks
    return dialect.begins if framed else dialect.begins + dialect.reasoning.replace("{text}", "")


def _opened(dialect: Dialect, kind: str, raw: str, turn: Turn) -> Iterator[Case]:
    """The same where the prompt has opened the thinking already, as many templates do."""
    before = dialect.reasoning.partition("{text}")[0]
    if turn.reasoning and before and dialect.frame is None and raw.startswith(before):
        yield Case(dialect, kind + OPENED, dialect.begins + before, raw[len(before) :], turn)


def _kinds(dialect: Dialect) -> Iterator[tuple[str, tuple[Reasoning | Text | Call, ...]]]:
    answer = Text("It rains.", "final" if dialect.frame else "")
    thought = Reasoning("The user asks for rain.\n\nSo I look it up.")
    prose = Text(_PROSE + "Done.", "final" if dialect.frame else "")
    yield "content", (answer,)
    yield "content that looks like markup", (prose,)
    if dialect.reasoning:
        yield "reasoning and content", (thought, answer)
    if not dialect.call:
        return
    call = _call("get_weather", city="Oslo", days=3)
    if dialect.reasoning:
        yield "reasoning and a call", (thought, call)
    yield "content and a call", (Text("Let me look.", "commentary" if dialect.frame else ""), call)
    yield "two calls", (call, _call("ping"), _call("get_weather", city="Rome"))[:: 2 if dialect.gated else 1]
    for kind, arguments in _arguments(dialect):
        yield kind, (arguments,)


def _arguments(dialect: Dialect) -> Iterator[tuple[str, Call]]:
    closer = next(iter(marks(dialect.call.rpartition("}")[2])), "") or next(iter(dialect.special), "")
    yield "one call", _call("get_weather", city="Oslo")
    yield "no arguments", _call("ping")
    yield "numbers and booleans", _call("get_weather", city="Oslo", days=-3, metric=False, limit=2.5)
    yield "a float that is whole", _call("get_weather", city="Oslo", limit=10.0)
    yield "unicode", _call("get_weather", city='東京 — Łódź 😀 "x"')
    yield "nested", _call("plan", items=[1, [2, {"a": "b]"}], None, True], opts={"x": {"y": [{}, []]}, "z": "}"})
    yield "empty values", _call("plan", items=[], opts={}, note="")
    yield "null", _call("plan", items=[None], note=None)
    yield "strings like other types", _call("write_file", path="12", text="true")
    yield "code", _call("write_file", path="a.py", text=_CODE.rstrip())
    yield "lines with blanks at both ends", _call("write_file", path="a", text="\n\n  two\n\tlines  \n\n")
    yield "quotes and backslashes", _call("write_file", path="C:\\temp\\new", text="a \"b\" 'c' \\ \\\\ \\n")
    yield "markup", _call("write_file", path="a.html", text='<b class="x">1 &lt; 2 &amp; 3</b> <a/> [x] {y}')
    yield "a long string", _call("write_file", path="a", text="word and word, " * 60 + "end")
    if closer.strip():
        yield "its own mark in a string", _call("write_file", path="a", text=_SAYS[0] + closer.strip() + _SAYS[1])


def _call(name: str, **arguments: object) -> Call:
    return Call(name, json.dumps(arguments, ensure_ascii=False))


@functools.cache
def pairs() -> dict[str, dict[str, Any]]:
    """The tables of `pairs.toml`."""
    return tomllib.loads((Path(__file__).parent / "pairs.toml").read_text(encoding="utf-8"))
