"""What a chat template can do, found by trying it once with small conversations.

Templates differ in more than their marks: some know no tools, no system message or no second user message in a row,
some want arguments as text, some take only short ids.  None of them says so; each either shows a text or does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..errors import RequestError
from .jinja import render

__all__ = ["Abilities", "abilities", "content"]

_NEEDLE = "n33dle"
_SECOND = "s3cond"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a template can show.

    `arguments`: how it wants the arguments of calls: object, text, or "" if it shows no calls.
    `typed`: it wants contents as lists of parts.  `short_ids`: it takes only ids of nine letters and digits.
    `late_system`: a system message after the beginning.  `repeats`: two messages of one role in a row.
    """

    tools: bool = False
    arguments: str = ""
    results: bool = False
    system: bool = False
    late_system: bool = False
    repeats: bool = False
    typed: bool = False
    short_ids: bool = False


@lru_cache(64)
def abilities(template: str) -> Abilities:
    """The abilities of a template.

    Raises:
        EngineError: it does not parse.
    """
    return _Trial(template).run()


def content(text: str, *, typed: bool) -> Any:
    """A message's text as a template wants it."""
    return [{"type": "text", "text": text}] if typed else text


class _Trial:
    def __init__(self, template: str) -> None:
        self.template, self.typed = template, False

    def run(self) -> Abilities:
        user, answer = self.say("user"), self.say("assistant")
        if not self.shows([self.say("user", _NEEDLE)]):
            self.typed = True
            self.typed = self.shows([self.say("user", _NEEDLE)])
            user, answer = self.say("user"), self.say("assistant")
        arguments, short = self.calls(user)
        return Abilities(
            tools=self.shows([user], tools=[_tool()]),
            arguments=arguments,
            results=self.results(user, arguments, short=short),
            system=self.shows([self.say("system", _NEEDLE), user]),
            late_system=self.shows([user, answer, self.say("system", _NEEDLE), user]),
            repeats=self.shows([self.say("user", _NEEDLE), self.say("user", _SECOND)], _NEEDLE, _SECOND),
            typed=self.typed,
            short_ids=short,
        )

    def say(self, role: str, text: str = "x") -> dict[str, Any]:
        return {"role": role, "content": content(text, typed=self.typed)}

    def shows(self, messages: Sequence[dict[str, Any]], *needles: str, **variables: Any) -> bool:
        text = self.text(messages, **variables)
        return all(needle in text for needle in needles or (_NEEDLE,))

    def text(self, messages: Sequence[dict[str, Any]], **variables: Any) -> str:
        known = {"bos_token": "", "eos_token": "", "tools": None, "add_generation_prompt": True}
        try:
            return render(self.template, {**known, **variables, "messages": messages})
        except RequestError:
            return ""

    def calls(self, user: dict[str, Any]) -> tuple[str, bool]:
        """How calls must look to be shown."""
        for short in (False, True):
            for arguments in ("object", "text"):
                called = self.text([user, self.call(arguments, short=short), self.result(short=short)])
                if _NEEDLE in called and f"'{_NEEDLE}'" not in called:  # a value printed Python's way is a mistake
                    return arguments, short
        return "", False

    def results(self, user: dict[str, Any], arguments: str, *, short: bool) -> bool:
        called = self.call(arguments, short=short) if arguments else self.say("assistant")
        return self.shows([user, called, self.result(short=short)], _SECOND)

    def call(self, arguments: str, *, short: bool) -> dict[str, Any]:
        given: Any = {_NEEDLE: 1} if arguments == "object" else f'{{"{_NEEDLE}": 1}}'
        function = {"name": "f", "arguments": given}
        called = {"id": _id(short=short), "type": "function", "function": function}
        return {**self.say("assistant", ""), "tool_calls": [called]}

    def result(self, *, short: bool) -> dict[str, Any]:
        return {**self.say("tool", _SECOND), "name": "f", "tool_call_id": _id(short=short)}


def _id(*, short: bool) -> str:
    return "c12345678" if short else "call_1234567890"


def _tool() -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"x": {"type": "string", "description": "x"}}, "required": ["x"]}
    function = {"name": _NEEDLE, "description": "x", "parameters": parameters}
    return {"type": "function", "function": function}
