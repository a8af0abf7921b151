"""Whether and how much a Chat Completions request wants the model to think, under all the names that servers have for it.

A value that is not known is left aside and reported, since it changes the length of an answer, not its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fields import Fields

__all__ = ["read_thinking", "write_thinking"]

Thinking = bool | str | None

_EFFORTS: Mapping[str, bool | str] = {
    "none": False,
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
_SWITCHES = {"enabled": True, "adaptive": None, "auto": None, "disabled": False}


def read_thinking(fields: Fields) -> tuple[Thinking, tuple[str, ...]]:
    """Whether and how much to think, by the first field that says so; and the paths of those not understood."""
    ignored: list[str] = []
    kwargs = fields.inner("chat_template_kwargs")
    for holder, key, read in (
        (fields, "reasoning_effort", _effort),
        (fields, "reasoning", _reasoning),
        (fields, "thinking", _switch),
        (fields, "enable_thinking", _switch),
        (fields, "thinking_budget", _budget),
        (kwargs, "reasoning_effort", _effort),
        (kwargs, "enable_thinking", _switch),
        (kwargs, "thinking", _switch),
    ):
        if key not in holder:
            continue
        try:
            thinking = read(holder.get(key))
        except (AttributeError, KeyError, TypeError):  # another form, an unknown word
            ignored.append(holder.param(key))
            continue
        if thinking is not None:
            return thinking, tuple(ignored)
    return None, tuple(ignored)


def _effort(value: Any) -> Thinking:
    return _EFFORTS[value]


def _budget(tokens: Any) -> Thinking:
    if tokens <= 0:
        return False
    return "low" if tokens < 2000 else "medium" if tokens < 8000 else "high"


def _switch(value: Any) -> Thinking:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _EFFORTS[value]
    if value.get("budget_tokens") and value["type"] == "enabled":
        return _budget(value["budget_tokens"])
    return _SWITCHES[value["type"]]


def _reasoning(value: Any) -> Thinking:
    if value.get("effort") is not None:
        return _EFFORTS[value["effort"]]
    if value.get("max_tokens") is not None:
        return _budget(value["max_tokens"])
    enabled = value.get("enabled")
    return enabled if isinstance(enabled, bool) else None


def write_thinking(thinking: Thinking) -> dict[str, Any]:
    """The same for an upstream that speaks Chat Completions."""
    if isinstance(thinking, bool):
        return {"chat_template_kwargs": {"enable_thinking": thinking}}
    return {} if thinking is None else {"reasoning_effort": thinking}
