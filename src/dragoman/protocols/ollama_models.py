"""Models as Ollama tells of them: /api/tags, /api/show, /api/ps and /api/version.

Clients decide by `capabilities` what they offer to their user, and read the context window from `model_info`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..version import __version__

__all__ = ["Model", "running", "show", "tags", "version"]

_API = "0.13.0"  # the version of Ollama whose API this is; clients refuse to speak with too old a one
_NEVER = "2318-01-01T00:00:00Z"  # a model is never unloaded


@dataclass(slots=True)
class Model:
    """What is told of a model; what is not known is "" or 0.

    `created`: in seconds.  `size`: in bytes.  `capabilities`: completion, embedding, tools, thinking, vision, insert.
    """

    name: str
    created: int = 0
    size: int = 0
    family: str = ""
    template: str = ""
    context: int = 0
    capabilities: tuple[str, ...] = ("completion",)


def tags(models: Iterable[Model]) -> dict[str, Any]:
    """The models there are."""
    return {"models": [{**_head(model), "modified_at": _moment(model.created)} for model in models]}


def running(models: Iterable[Model]) -> dict[str, Any]:
    """The models that are loaded: all of them."""
    return {"models": [{**_head(model), **_loaded(model)} for model in models]}


def show(model: Model) -> dict[str, Any]:
    """One model."""
    family = model.family or "unknown"
    info: dict[str, Any] = {"general.architecture": family, "general.basename": model.name}
    if model.context:
        info[f"{family}.context_length"] = model.context
    return {
        "modelfile": f"FROM {model.name}\n",
        "parameters": f"num_ctx {model.context}" if model.context else "",
        "template": model.template,
        "details": _details(model),
        "model_info": info,
        "capabilities": list(model.capabilities),
        "modified_at": _moment(model.created),
    }


def version() -> dict[str, str]:
    """Which API is spoken, and by whom."""
    return {"version": _API, "server": f"dragoman {__version__}"}


def _head(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "size": model.size,
        "digest": _digest(model),
        "details": _details(model),
    }


def _loaded(model: Model) -> dict[str, Any]:
    return {"expires_at": _NEVER, "size_vram": 0, "context_length": model.context}


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.family,
        "families": [model.family] if model.family else [],
        "parameter_size": "",
        "quantization_level": "",
    }


def _digest(model: Model) -> str:
    """Tells models apart, as clients use it; it is that of what is known of them, not of their weights."""
    facts = (model.name, model.created, model.size, model.family, model.template)
    return hashlib.sha256(repr(facts).encode("utf-8", "replace")).hexdigest()


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
