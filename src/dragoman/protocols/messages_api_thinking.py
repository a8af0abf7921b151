"""Whether and how much a Messages request wants the model to think, and how it wants to see it.

A value that is not known is left aside and reported, since it changes the length of an answer, not its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

from .fields import Fields

__all__ = ["read_thinking"]

Thinking = bool | str | None

_EFFORTS: Mapping[str, str] = {"low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
_SWITCHES: Mapping[str, Thinking] = {"disabled": False, "enabled": True, "adaptive": None, "between_tools": None}


def read_thinking(fields: Fields) -> tuple[Thinking, str, tuple[str, ...]]:
    """How much to think, how to show it (full, omitted, none), and the paths of what was not understood."""
    ignored: list[str] = []
    config, output = fields.inner("thinking"), fields.inner("output_config")
    switch = _word(config, "type", _SWITCHES, ignored)
    effort = _word(output, "effort", _EFFORTS, ignored)
    if switch is False:
        return False, "none", tuple(ignored)
    budget = config.integer("budget_tokens", None, 0)
    if effort is None and switch is True and budget is not None:
        effort = _effort(budget)
    shown = "omitted" if config.text("display") == "omitted" else "full"
    return switch if effort is None else effort, shown, tuple(ignored)


def _word(fields: Fields, key: str, known: Mapping[str, Thinking], ignored: list[str]) -> Thinking:
    word = fields.text(key)
    if word and word not in known:
        ignored.append(fields.param(key))
    return known.get(word)


def _effort(tokens: int) -> str:
    return "low" if tokens < 2000 else "medium" if tokens < 8000 else "high"
