"""A dialect's own words for what a model's chat template does not know: tools, calls, results, or everything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from ..errors import UsageError
from ..messages import Call, Message, Part, Reasoning, Result, Text, Turn
from ..syntax.dialect import Dialect
from ..syntax.encode import encode
from ..syntax.template import split
from .ability import Abilities
from .history import joined

__all__ = ["begins", "conversation", "opened", "said", "told", "written"]

_HOLE = re.compile(r"\{(role|text|name|id|tools|example)\}")
_DECLARE = "# Tools\n\nYou can call these functions:\n{tools}\n\nTo call one, write:\n{example}"
_EXAMPLE = Call("NAME", '{"PARAMETER": "VALUE"}')
_INSIDE = "assistant"  # as `results_role`: results stand inside the turn that made the calls


def begins(dialect: Dialect) -> str:
    """What opens the model's turn."""
    return dialect.begins or _fill(_around(dialect)[0], role="assistant")


def opened(dialect: Dialect) -> str:
    """The end of a prompt that has opened the model's reasoning."""
    return begins(dialect) + (split(dialect.reasoning)[0] if dialect.reasoning else "")


def told(messages: Sequence[Message], dialect: Dialect, tools: Sequence[Any]) -> list[Message]:
    """The messages, with the tools declared by the system."""
    if not tools:
        return list(messages)
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    text = _fill(dialect.declare or _DECLARE, tools=lines, example=said(dialect, (_EXAMPLE,)))
    if messages and messages[0].role == "system":
        text = f"{joined(messages[0].parts)}\n\n{text}"
        messages = messages[1:]
    return [Message("system", (Text(text),)), *messages]


def said(dialect: Dialect, parts: Iterable[Part], *, prompt: str = "") -> str:
    """What the assistant said, as the dialect writes it; what would not read back as it was is written plainly."""
    spoken = tuple(part for part in parts if isinstance(part, Reasoning | Text | Call))
    try:
        return encode(dialect, Turn(spoken), prompt=prompt)
    except UsageError:
        calls = [
            f'{{"name": "{part.name}", "arguments": {part.arguments}}}' for part in spoken if isinstance(part, Call)
        ]
        return "\n".join(text for text in (joined(spoken), *calls) if text)


def written(messages: Iterable[Message], dialect: Dialect, able: Abilities) -> list[Message]:
    """The messages with calls, and results where the template cannot show them as such, as text in the dialect."""
    done: list[Message] = []
    for with_results, group in groupby(messages, _has_results):
        if with_results and not (able.tools and able.results):
            done.append(Message(_speaker(dialect, able), (Text(_results(group, dialect)),)))
        else:
            done += [_spelled(message, dialect) for message in group]
    return done


def conversation(messages: Sequence[Message], dialect: Dialect) -> str:
    """A prompt in the dialect's own words, up to where the model begins to write."""
    turns = list(_turns(messages, dialect))
    text, is_open = "", False
    for turn, after in zip_longest(turns, turns[1:]):
        if turn.role == "assistant":
            text += ("" if is_open else begins(dialect)) + turn.body
            is_open = _goes_on(turn, after)
            text += "" if is_open else _closing(dialect, turn.body)
        else:
            text += _fill(dialect.turn, role=turn.role, text=turn.body) if turn.role else turn.body
    return text if is_open else text + begins(dialect)


@dataclass(slots=True)
class _Turn:
    """A turn of the prompt; `inside`: results that stand in the model's own turn, which goes on after them."""

    role: str
    body: str
    inside: bool = False


def _goes_on(turn: _Turn, after: _Turn | None) -> bool:
    """Whether the model's turn stays open: results come next inside it, or it goes on after them."""
    if after is None:
        return turn.inside
    return after.inside or (turn.inside and after.role == "assistant")


def _turns(messages: Sequence[Message], dialect: Dialect) -> Iterator[_Turn]:
    asked = max((place for place, message in enumerate(messages) if message.role == "user"), default=0)
    for with_results, group in groupby(enumerate(messages), lambda item: _has_results(item[1])):
        if with_results:
            body = _results((message for _, message in group), dialect)
            yield _Turn(_bringer(dialect), body, _bringer(dialect) == _INSIDE)
        else:
            yield from (_turn(message, dialect, recent=place > asked) for place, message in group)


def _turn(message: Message, dialect: Dialect, *, recent: bool) -> _Turn:
    if message.role != "assistant":
        return _Turn(message.role, joined(message.parts))
    kept = [part for part in message.parts if recent or not isinstance(part, Reasoning)]  # old thinking is not shown
    return _Turn("assistant", said(dialect, kept, prompt=begins(dialect)))


def _closing(dialect: Dialect, body: str) -> str:
    """What ends the model's turn, unless its last block already did (a framed call)."""
    ends = (*dialect.ends, *(dialect.frame.closes if dialect.frame else ()))
    closing = _fill(_around(dialect)[1], role="assistant")
    end = next((mark for mark in (closing.strip(), *ends) if mark and body.endswith(mark)), "")
    return closing if not end else closing.removeprefix(end) if closing.startswith(end) else ""


def _around(dialect: Dialect) -> tuple[str, str]:
    before, _, after = dialect.turn.partition("{text}")
    return before, after


def _results(messages: Iterable[Message], dialect: Dialect) -> str:
    results = [part for message in messages for part in message.parts if isinstance(part, Result)]
    lines = [_fill(dialect.results, text=joined(item.parts), name=item.name, id=item.id) for item in results]
    return ("" if _bringer(dialect) in ("", _INSIDE) else "\n").join(lines)


def _bringer(dialect: Dialect) -> str:
    """The role of a turn with results; none where each result is a message with a frame of its own."""
    return "" if dialect.frame else dialect.results_role


def _speaker(dialect: Dialect, able: Abilities) -> str:
    """Who brings results in a template that does not know them."""
    return dialect.results_role if able.results and _bringer(dialect) not in ("", _INSIDE) else "user"


def _spelled(message: Message, dialect: Dialect) -> Message:
    calls = [part for part in message.parts if isinstance(part, Call)]
    if not calls:
        return message
    kept = tuple(part for part in message.parts if isinstance(part, Reasoning))
    text = "\n".join(line for line in (joined(message.parts), said(dialect, calls)) if line)
    return Message(message.role, (*kept, Text(text)))


def _has_results(message: Message) -> bool:
    return any(isinstance(part, Result) for part in message.parts)


def _fill(template: str, **values: str) -> str:
    return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), template)
