"""Ollama's older /api/embeddings: one text, and its vector alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..messages import Raw, Request
from . import wire
from .embeddings import Settings
from .fields import fields_of
from .ollama_error import error

__all__ = ["Settings", "answer", "error", "read_request"]


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; one without a text loads the model, and it is loaded.

    Raises:
        RequestError: a field is wrong; `param` is its path.
    """
    fields = fields_of(data)
    options = fields.inner("options")
    text = wire.clean(fields.text("prompt"))
    ignored = (options.param("num_ctx"),) if "num_ctx" in options else ()
    settings = replace(defaults or Settings(), truncate=True, ignored=ignored)
    return Request(model=fields.text("model"), prompts=(Raw(text),) if text else ()), settings


def answer(rows: Sequence[Sequence[float]], **_: Any) -> dict[str, Any]:
    """The whole answer."""
    return {"embedding": list(rows[0]) if rows else []}
