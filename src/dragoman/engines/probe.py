"""What an upstream is: found out by asking, from the most telling endpoint to the least."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .http import Http

__all__ = ["Found", "is_guided", "probe"]

_log = logging.getLogger(__name__)
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})")
_STRUCTURED = (
    0,
    11,
)  # vLLM's first version with `structured_outputs`; 0.12 no longer takes `guided_*`, and says nothing
_OWNERS = {"vllm": "vllm", "sglang": "sglang", "organization_owner": "lmstudio", "dragoman": "dragoman"}


@dataclass(slots=True)
class Found:
    """What was found: the kind of server, and the models it lists.

    `kind`: llama.cpp, ollama, vllm, sglang, lmstudio, dragoman, or "" for any other.
    `models`: name -> what is listed of it.  `props`: what llama.cpp says of itself.
    """

    kind: str = ""
    models: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    props: Mapping[str, Any] = field(default_factory=dict)


async def probe(http: Http) -> Found:
    """Ask.

    Raises:
        Unreachable: nobody is there.
    """
    models = listed(await http.try_json("/v1/models"))
    owners = {str(card.get("owned_by")) for card in models.values()}
    kind = next((kind for owner, kind in _OWNERS.items() if owner in owners), "")
    if kind:
        return Found(kind, await _more(http, kind, models))
    props = await http.try_json("/props")
    if isinstance(props, Mapping) and "default_generation_settings" in props:
        return Found("llama.cpp", models, props)
    tags = await http.try_json("/api/tags")
    if isinstance(tags, Mapping) and isinstance(tags.get("models"), list):
        return Found("ollama", _named(tags["models"], "name") or models)
    return Found("", models)


async def _more(http: Http, kind: str, models: dict[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """LM Studio tells contexts elsewhere, and what a model is for."""
    if kind != "lmstudio":
        return models
    told = await http.try_json("/api/v0/models")
    cards = _named(told.get("data"), "id") if isinstance(told, Mapping) else {}
    return {name: _context(card) for name, card in cards.items()} or models


async def is_guided(http: Http) -> bool:
    """Whether a vLLM is so old that it takes grammars as `guided_grammar`; one that does not tell its version is not."""
    told = await http.try_json("/version")
    found = _VERSION.match(str(told.get("version"))) if isinstance(told, Mapping) else None
    return found is not None and (int(found[1]), int(found[2])) < _STRUCTURED


def _context(card: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model that is loaded has the context it was loaded with."""
    loaded = card.get("loaded_context_length")
    return {**card, "context_length": loaded} if isinstance(loaded, int) else card


def listed(answer: Any) -> dict[str, Mapping[str, Any]]:
    """The models of a list as OpenAI's API has it."""
    return _named(answer.get("data") if isinstance(answer, Mapping) else answer, "id")


def _named(items: Any, key: str) -> dict[str, Mapping[str, Any]]:
    """The cards by name; a name that does not print would go into logs, metrics and terminals: such a model is left out."""
    cards = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    named = {card[key]: card for card in cards if isinstance(card.get(key), str)}
    for name in [name for name in named if not name.isprintable()]:
        _leave_out(name)
        del named[name]
    return named


@cache
def _leave_out(name: str) -> None:
    """Say it, once."""
    _log.warning("a model is left out, for its name does not print: %s", ascii(name))
