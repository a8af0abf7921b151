"""What a model of an upstream does, as far as its card says so: writing, making vectors, being shown images.

Servers say it in different words: Ollama lists capabilities, LM Studio has types, others list kinds of input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["embeds_only", "makes_vectors", "sees"]


def makes_vectors(card: Mapping[str, Any]) -> bool:
    """Whether the card says that the model makes vectors."""
    return card.get("type") in ("embeddings", "embedding") or _can(card, "embedding") or _can(card, "embeddings")


def embeds_only(card: Mapping[str, Any]) -> bool:
    """Whether the card says that it makes vectors and writes nothing."""
    writes = _can(card, "completion") or _can(card, "completion_chat") or _can(card, "streaming")
    return makes_vectors(card) and not writes


def sees(card: Mapping[str, Any], props: Mapping[str, Any]) -> bool:
    """Whether the card, or what llama.cpp says of itself, has images among what it is given."""
    modalities = props.get("modalities")
    if isinstance(modalities, Mapping) and modalities.get("vision") is True:
        return True
    shape = card.get("architecture")
    kinds = shape.get("input_modalities") if isinstance(shape, Mapping) else card.get("input_modalities")
    return card.get("type") == "vlm" or _can(card, "vision") or (isinstance(kinds, list) and "image" in kinds)


def _can(card: Mapping[str, Any], what: str) -> bool:
    told = card.get("capabilities")
    return told.get(what) is True if isinstance(told, Mapping) else isinstance(told, list) and what in told
