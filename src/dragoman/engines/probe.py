"""What an upstream is: found out by asking, from the most telling endpoint to the least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .http import Http

__all__ = ["Found", "probe"]


@dataclass(slots=True)
class Found:
    """What was found: the kind of server, the way to speak with it, and the models it lists.

    `kind`: llama.cpp, ollama, vllm, sglang, dragoman, or "" for any other.
    `way`: llamacpp, ollama, completions, chat ...  `models`: name -> what is listed of it.
    `props`: what llama.cpp says of itself.
    """

    kind: str = ""
    way: str = "chat"
    models: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    props: Mapping[str, Any] = field(default_factory=dict)


async def probe(http: Http) -> Found:
    """Ask.

    Raises:
        Unreachable: nobody is there.
    """
    props = await http.try_json("/props")
    models = listed(await http.try_json("/v1/models"))
    if isinstance(props, Mapping) and "default_generation_settings" in props:
        return Found("llama.cpp", "llamacpp", models, props)
    root = await http.try_json("/")
    if isinstance(root, Mapping) and root.get("name") == "dragoman":
        return Found("dragoman", "chat", models)
    return Found("", "chat", models)


def listed(answer: Any) -> dict[str, Mapping[str, Any]]:
    """The models of a list as OpenAI's API has it."""
    items = answer.get("data") if isinstance(answer, Mapping) else answer
    cards = [item for item in items or () if isinstance(item, Mapping)] if isinstance(items, list) else []
    return {card["id"]: card for card in cards if isinstance(card.get("id"), str)}
