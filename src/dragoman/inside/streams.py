"""What other engines ask of a plug-in, without any of their types: thinking split off, then calls read.

They ask twice.  First a text is split into thinking and the rest, which must stay exactly as the model wrote it; then
the rest is read for calls.  A framed dialect cannot be split like that, for the frame goes with the thinking; nor can
one whose thinking only a call ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from .. import api
from ..events import Content, Event, Reasoning
from ..messages import Call, Tool, Turn
from ..messages import Reasoning as Thought
from ..syntax.decode import Parser
from ..syntax.dialect import Dialect
from ..syntax.template import split

__all__ = ["Thinking", "call_id", "dialects", "envelope", "read", "thinks"]


def dialects() -> list[Dialect]:
    """Those that can be used inside another engine."""
    every = map(api.get, api.names())
    return [one for one in every if one.frame is None and (one.call or one.reasoning) and _splits(one)]


def _splits(dialect: Dialect) -> bool:
    """Whether a call can still be read when the thinking before it was split off."""
    if not (dialect.call and dialect.reasoning):
        return True
    thinking = Thinking(dialect)
    raw = api.encode(dialect, Turn((Thought("x"), Call("f", '{"a": 1}'))))
    rest = thinking.feed(raw)[1] + thinking.close()[1]
    return bool(api.decode(dialect, rest, [Tool("f")]).calls)


class Thinking:
    """A text on its way, split into thinking and the rest.

    Args:
        dialect: who writes it.
        prompt: the end of the rendered prompt, which may have opened the thinking.
        alone: nobody reads the rest for calls, so it comes as the answer, without its marks.
    """

    def __init__(self, dialect: Dialect, prompt: str = "", *, alone: bool = False) -> None:
        self._parser = Parser(dialect, (), prompt=prompt)
        self._alone = alone
        self._raw = ""
        self.over = False

    def feed(self, text: str) -> tuple[str, str]:
        """The thinking in the next piece, and what is none, verbatim from where the thinking is over."""
        if self.over and not self._alone:
            return "", text
        self._raw += "" if self._alone else text
        return self._split(self._parser.feed(text))

    def close(self) -> tuple[str, str]:
        """What was still held back."""
        return ("", "") if self.over and not self._alone else self._split(self._parser.close())

    def _split(self, events: Iterable[Event]) -> tuple[str, str]:
        thought, said = [], []
        for event in events:
            if isinstance(event, Reasoning):
                thought.append(event.text)
            elif isinstance(event, Content):
                self.over = True
                if not self._alone:
                    return "".join(thought), self._raw[event.at :]
                said.append(event.text)
        return "".join(thought), "".join(said)


def thinks(dialect: Dialect, text: str) -> bool | None:
    """Whether the last mark of thinking in a text opens it; None if there is none."""
    if not dialect.reasoning:
        return None
    before, _, after = split(dialect.reasoning)
    _, begins, turn = text.rpartition(dialect.begins.strip()) if dialect.begins.strip() else ("", "", text)
    text = turn if begins else text
    opened, closed = text.rfind(before.strip()), text.rfind(after.strip())
    return None if opened == closed == -1 else opened > closed


def read(dialect: Dialect, text: str, tools: Iterable[Tool | Mapping[str, Any]] | None) -> tuple[Turn, str]:
    """A whole text as a turn, and its content; thinking that nobody split off stays in it, marks and all."""
    turn = api.decode(dialect, text, tools)
    kept = dialect.reasoning.replace("{text}", turn.reasoning) if turn.reasoning else ""
    return turn, kept + turn.content


def envelope(dialect: Dialect, name: str) -> tuple[str, str, str] | None:
    """What stands before and behind the JSON arguments of a call, and the mark that begins it; None if they are no JSON."""
    if not dialect.call:
        return None
    before, found, after = api.encode(dialect, Turn((Call(name, "{}"),))).rpartition("{}")
    mark = dialect.section.partition("{")[0] or dialect.call.partition("{")[0]
    return (before, after, mark.strip()) if found and mark.strip() else None


def call_id(own: str = "") -> str:
    """A call's id: the model's own, or a new one."""
    return own or f"call_{secrets.token_hex(12)}"
