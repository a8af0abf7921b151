"""Probe conversations: what a chat template shows of a turn, whatever it wants its messages to look like.

Templates differ in what they take: arguments as an object or as text, contents as text or as parts, ids of nine
characters, results behind every call.  None says so; each way is tried until the words of a probe show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Call, Reasoning, Text, Tool, Turn

__all__ = ["NAMES", "Probe", "Probes", "Render", "tools_of"]

Render = Callable[..., str]
"""`render(messages, tools, **flags)` answers the text, or raises where the template refuses."""

Entry = dict[str, Any]

USER, AGAIN, ANSWER, THOUGHT, RESULT = "Us3r asks", "Us3r goes on", "C0ntent told", "Th0ught kept", "R3sult given"
NAMES = ("f1rst_tool", "s3cond_tool")
IDS = ("a1b2c3d4e", "f5g6h7i8j")
_REASONING_KEYS = ("reasoning_content", "thinking", "reasoning", "thinking_content")
_FLAGS = {"add_generation_prompt": False, "enable_thinking": True, "thinking": True}


@dataclass(frozen=True, slots=True)
class Probe:
    """A turn that was shown: what it was, and the text that stands for it (from the assistant's mark to its end)."""

    what: str
    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to give a template its messages.

    `flat`: name and arguments stand in the call itself too.  `tools`: `asked` (where calls need them), `never`, or
    `always`.
    """

    arguments: str = "object"
    typed: bool = False
    answered: bool = False
    empty: Any = ""
    flat: bool = False
    tools: str = "asked"


def _ways() -> Iterator[_Way]:
    """The usual ones first."""
    each = [(answered, empty, arguments) for answered in (False, True) for empty in ("", None) for arguments in _FORMS]
    for typed in (False, True):
        yield from (_Way(arguments, typed, answered, empty) for answered, empty, arguments in each)
    for flat, tools in ((True, "asked"), (False, "never"), (True, "never")):
        yield from (_Way(arguments, False, answered, empty, flat, tools) for answered, empty, arguments in each)


_FORMS = ("object", "text")
_WAYS = tuple(_ways())
_OTHER = Tool("0ther_tool", "It does.", {"type": "object", "properties": {}})


class Probes:
    """The probes of one template, rendered when asked for."""

    def __init__(self, render: Render) -> None:
        self.render = render
        self.way = _Way()
        self.numbered = False
        self.refusal = ""  # what the template said when it last refused
        self.ways = (_Way(), _Way(typed=True), _Way(tools="always"), _Way(typed=True, tools="always"))

    def settle(self) -> bool:
        """Choose the way in which the template shows a call; whether there is one."""
        call = Call(NAMES[0], '{"k1y": "V4lue one"}', IDS[0])
        for way in _WAYS:
            self.way = way
            shown = self.turn(Turn((call,)))
            if "V4lue one" in shown and (NAMES[0] in shown or IDS[0] in shown) and "'k1y'" not in shown:
                self.numbered = NAMES[0] not in shown
                self._settle_tools(shown)
                return True
        self.way = next((way for way in self.ways if self._takes(way)), _Way())
        return False

    def _settle_tools(self, called: str) -> None:
        """A template that shows a question or an answer only, or otherwise, where there are tools is always given some."""
        asked, still = behind(self.prompt()), behind(self.prompt(ask=False))
        begun = asked.removeprefix(still).strip()
        if not asked or (begun in called and begun not in self.turn(Turn((Text(ANSWER),)))):
            before, self.way = self.way, replace(self.way, tools="always")
            if not self.prompt():
                self.way = before

    def _takes(self, way: _Way) -> bool:
        self.way = way
        return USER in self.prompt()

    def prompt(self, *, ask: bool = True) -> str:
        """A conversation of one question; `ask` for what comes next."""
        return self.say([self.entry("user", USER)], add_generation_prompt=ask)

    def turn(self, turn: Turn, tools: Sequence[Tool] | None = None, *, goes_on: bool = False) -> str:
        """What stands behind the question where this turn answers it."""
        messages = [self.entry("user", USER), self.assistant(turn)]
        if self.way.answered and turn.calls:
            messages += [self.result(call) for call in turn.calls]
        if goes_on:
            messages.append(self.entry("user", AGAIN))
        return behind(self.say(messages, tools_of(turn) if tools is None else tools))

    def answered(self, turn: Turn) -> str:
        """The same, with a result behind every call."""
        messages = [self.entry("user", USER), self.assistant(turn), *map(self.result, turn.calls)]
        return behind(self.say(messages, tools_of(turn)))

    def say(self, messages: list[Entry], tools: Sequence[Tool] = (), **flags: Any) -> str:
        """The rendering, "" where the template refuses."""
        tools = {"never": (), "always": tools or (_OTHER,)}.get(self.way.tools, tools)
        try:
            return self.render(messages, [_declared(tool) for tool in tools] or None, **{**_FLAGS, **flags})
        except Exception as problem:  # noqa: BLE001 - whatever the caller's renderer raises is a refusal
            self.refusal = str(problem)[:200]
            return ""

    def entry(self, role: str, text: str) -> Entry:
        content = [{"type": "text", "text": text}] if self.way.typed else text
        return {"role": role, "content": content}

    def assistant(self, turn: Turn) -> Entry:
        entry = self.entry("assistant", turn.content)
        if turn.calls and not turn.content:
            entry["content"] = self.way.empty
        if turn.reasoning:
            entry |= dict.fromkeys(_REASONING_KEYS, turn.reasoning)
        if turn.calls:
            entry["tool_calls"] = [self.call(call) for call in turn.calls]
        return entry

    def call(self, call: Call) -> Entry:
        arguments = json.loads(call.arguments) if self.way.arguments == "object" else call.arguments
        function = {"name": call.name, "arguments": arguments}
        return {"id": self.id(call), "type": "function", "function": function, **(function if self.way.flat else {})}

    def said(self, turn: Turn) -> Turn:
        """A turn with the ids that its calls were given."""
        parts = (replace(part, id=self.id(part)) if isinstance(part, Call) else part for part in turn.parts)
        return Turn(tuple(parts))

    def result(self, call: Call) -> Entry:
        return {**self.entry("tool", RESULT), "name": call.name, "tool_call_id": self.id(call)}

    def id(self, call: Call) -> str:
        """A call's id, with name and number in it where the template shows nothing else."""
        return f"functions.{call.name}:{NAMES.index(call.name)}" if self.numbered else call.id


def behind(text: str) -> str:
    """What stands behind the question, "" if it does not show."""
    _, question, answer = text.rpartition(USER)
    return answer if question else ""


def calling(*arguments: Mapping[str, Any], text: str = "", reasoning: str = "") -> Turn:
    """A turn of calls, perhaps with reasoning and text before them."""
    calls = (
        Call(name, json.dumps(given, ensure_ascii=False), own)
        for name, own, given in zip(NAMES, IDS, arguments, strict=False)
    )
    parts = (*((Reasoning(reasoning),) if reasoning else ()), *((Text(text),) if text else ()), *calls)
    return Turn(parts)


ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "a string": {"k1y": "V4lue one"},
    "two strings": {"k1y": "V4lue one", "k2y": "W0rd two"},
    "numbers": {"k1y": 17, "k2y": -2.5},
    "words": {"k1y": True, "k2y": False},
    "nothing": {"k1y": None},
    "a list": {"k1y": ["p", 1], "k2y": []},
    "an object": {"k1y": {"a": "x", "b": {"c": [1, True]}}},
    "quotes": {"k1y": 'say "hi", it\'s fine'},
    "letters": {"k1y": "café 🙂 日本"},
    "marks": {"k1y": "a <b> & </b> {c} [d]"},
    "lines": {"k1y": "one\ntwo\n  three", "k2y": "x"},
    "no arguments": {},
}


def turns() -> Iterator[tuple[str, Turn]]:
    """What is asked of a template, by name."""
    for what, given in ARGUMENTS.items():
        yield what, calling(given)
    one, two = ARGUMENTS["a string"], ARGUMENTS["two strings"]
    yield "two calls", calling(one, two)
    yield "text and a call", calling(one, text=ANSWER)
    yield "reasoning and a call", calling(one, reasoning=THOUGHT)
    yield "reasoning, text and two calls", calling(one, two, text=ANSWER, reasoning=THOUGHT)
    yield "text", Turn((Text(ANSWER),))
    yield "reasoning and text", Turn((Reasoning(THOUGHT), Text(ANSWER)))


def tools_of(turn: Turn) -> list[Tool]:
    """The tools that a probe's calls need."""
    given: dict[str, dict[str, Any]] = {}
    for call in turn.calls:
        given.setdefault(call.name, {}).update(json.loads(call.arguments))
    return [Tool(name, "It does.", _schema(values)) for name, values in given.items()]


def _schema(values: Mapping[str, Any]) -> dict[str, Any]:
    properties = {key: {"type": _type(value), "description": "It is."} for key, value in values.items()}
    return {"type": "object", "properties": properties, "required": list(values)}


def _type(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _declared(tool: Tool) -> Entry:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
