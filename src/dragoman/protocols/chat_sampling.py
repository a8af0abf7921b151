"""How a Chat Completions request wants its tokens drawn: the numbers, checked, by llama.cpp's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fields import Fields, invalid, kind

__all__ = ["INTEGERS", "NUMBERS", "OTHER_NAMES", "read_sampling", "write_sampling"]

_MANY = float("inf")

NUMBERS = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "typical_p": (0, 1),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
    "repeat_penalty": (0, _MANY),
    "top_n_sigma": (-1, _MANY),
    "xtc_probability": (0, 1),
    "xtc_threshold": (0, 1),
    "dynatemp_range": (0, _MANY),
    "dynatemp_exponent": (0, _MANY),
    "mirostat_tau": (0, _MANY),
    "mirostat_eta": (0, _MANY),
    "dry_multiplier": (0, _MANY),
    "dry_base": (0, _MANY),
}
INTEGERS = {
    "top_k": (-1, 2**31 - 1),
    "seed": (-(2**63), 2**63 - 1),
    "repeat_last_n": (-1, 2**31 - 1),
    "mirostat": (0, 2),
    "dry_allowed_length": (0, 2**31 - 1),
    "dry_penalty_last_n": (-1, 2**31 - 1),
    "min_keep": (0, 2**31 - 1),
}
OTHER_NAMES = {"repetition_penalty": "repeat_penalty"}


def read_sampling(fields: Fields) -> dict[str, Any]:
    """The fields that are given; absent ones are left to the model's defaults.

    Raises:
        RequestError: a number is out of its range.
    """
    found: dict[str, Any] = {}
    for name, (low, high) in NUMBERS.items():
        found[name] = fields.number(name, low, high)
    for name, (least, most) in INTEGERS.items():
        found[name] = fields.integer(name, None, least, most)
    for other, name in OTHER_NAMES.items():
        if other in fields and found[name] is None:
            found[name] = fields.number(other, *NUMBERS[name])
    found["ignore_eos"] = fields.flag("ignore_eos") or None
    found["grammar"] = fields.text("grammar") or None
    found["logit_bias"] = _bias(fields)
    return {name: value for name, value in found.items() if value is not None}


def _bias(fields: Fields) -> list[list[Any]] | None:
    value = fields.get("logit_bias")
    if not value:
        return None
    if isinstance(value, list | tuple):
        return [_pair(pair, f"{fields.param('logit_bias')}[{index}]") for index, pair in enumerate(value)]
    return [_pair(pair, fields.param("logit_bias")) for pair in fields.mapping("logit_bias").items()]


def _pair(pair: Any, where: str) -> list[Any]:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        invalid(where, f"must be a token and its bias; it is {kind(pair)}", "invalid_type")
    token, bias = pair
    if isinstance(bias, bool) or not isinstance(bias, int | float) or not -100 <= bias <= 100:
        invalid(where, f"must be a number from -100 to 100 for the token {token!r:.20}; it is {bias!r:.40}")
    return [_token(token, where), bias]


def _token(token: Any, where: str) -> int:
    if isinstance(token, str) and token.isascii() and token.isdigit() and len(token) < 10:
        return int(token)
    if isinstance(token, bool) or not isinstance(token, int):
        invalid(where, f"must be keyed by token ids; {token!r:.40} is none")
    return token


def write_sampling(sampling: Mapping[str, Any]) -> dict[str, Any]:
    """The same for an upstream that speaks Chat Completions."""
    bias = sampling.get("logit_bias")
    pairs = {"logit_bias": {str(token): value for token, value in bias}} if bias else {}
    return {**sampling, **pairs}
