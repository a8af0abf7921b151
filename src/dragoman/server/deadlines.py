"""Deadlines: the limits in time of single models, where the server's own do not fit them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from .config import Config

__all__ = ["for_model", "read"]

_NAMES = {"first-token": "first_token", "stall": "stall", "total": "total"}
_FORM = "write MODEL: first-token=SECONDS stall=SECONDS total=SECONDS; MODEL: ..."


def read(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The deadlines of patterns of models, as `big-*: first-token=1800 stall=300; tiny: total=20` says them.

    Raises:
        UsageError: it is not of this form.
    """
    return [_line(part) for part in text.split(";") if part.strip()]


def for_model(config: Config, model: str) -> Config:
    """The settings for a model: the server's, with the deadlines of the first pattern that fits."""
    for pattern, limits in read(config.deadlines):
        if fnmatchcase(model, pattern):
            return replace(config, deadlines="", **limits)
    return config


def _line(part: str) -> tuple[str, dict[str, Any]]:
    pattern, found, rest = part.strip().rpartition(": ")  # a model's name may have a colon, but none with a blank
    if not found or not pattern:
        raise UsageError(f"{part.strip()!r} names no model or no deadline; {_FORM}")
    return pattern.strip(), dict(_limits(rest))


def _limits(text: str) -> Iterator[tuple[str, float]]:
    for word in text.replace(",", " ").split():
        name, _, value = word.partition("=")
        if name not in _NAMES:
            raise UsageError(f"there is no deadline {name!r}; {_FORM}")
        try:
            yield _NAMES[name], float(value)
        except ValueError:
            raise UsageError(f"{value!r} is no number of seconds for {name}; {_FORM}") from None
