"""What came out of a reader, theirs or ours, and how it is compared with what was meant."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from dragoman.messages import Turn

__all__ = ["Answer"]


@dataclass
class Answer:
    """Thinking, content and calls (name and arguments as text, by their number), or what was raised."""

    reasoning: str = ""
    content: str = ""
    calls: dict[int, list[str]] = field(default_factory=dict)
    raised: str = ""

    def call(self, index: int, name: str | None, arguments: str | None) -> None:
        """A piece of a call."""
        found = self.calls.setdefault(index, ["", ""])
        found[0] += name or ""
        found[1] += arguments or ""

    def differs(self, turn: Turn) -> str:
        """In what it is not the turn that was meant: a word, empty if it is."""
        if self.raised:
            return "raises"
        names = [call.name for call in turn.calls]
        if [name for name, _ in self.calls.values()] != names:
            return "calls"
        for call, (_, arguments) in zip(turn.calls, self.calls.values(), strict=True):
            if not _same(arguments, call.arguments):
                return "arguments"
        if self.content.strip() != turn.content.strip():
            return "content"
        return "" if self.reasoning.strip() == turn.reasoning.strip() else "reasoning"


def _same(one: str, other: str) -> bool:
    try:
        return _typed(json.loads(one or "{}")) == _typed(json.loads(other))
    except ValueError:
        return False


def _typed(value: object) -> object:
    """Values that compare as JSON: 1 and 1.0 are one number, and true is none."""
    if isinstance(value, dict):
        return {key: _typed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_typed(one) for one in value]
    return (type(value) is bool, value)
