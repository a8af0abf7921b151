"""Ollama's /api/embed: read a request, write an answer, write a request, read an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import UnsupportedFeature
from ..messages import Raw, Request
from . import wire
from .embeddings import MOST_DIMENSIONS, Settings
from .fields import Fields, fields_of, invalid, kind
from .ollama_error import error

__all__ = ["Settings", "answer", "error", "read_answer", "read_request", "write_request"]

_FIXED = "num_ctx"  # the server's to decide, and a client should hear of it


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; one that has nothing to embed loads the model, and it is loaded.

    Raises:
        RequestError: a field is wrong; `param` is its path.
    """
    fields = fields_of(data)
    options = fields.inner("options")
    settings = replace(
        defaults or Settings(),
        truncate=fields.flag("truncate", default=True),
        dimensions=fields.integer("dimensions", None, 0, MOST_DIMENSIONS) or None,
        ignored=(options.param(_FIXED),) if _FIXED in options else (),
    )
    return Request(model=fields.text("model"), prompts=_inputs(fields)), settings


def answer(
    rows: Sequence[Sequence[float]], *, tokens: int | None, model: str, seconds: float = 0.0, **_: Any
) -> dict[str, Any]:
    """The whole answer; durations are in nanoseconds."""
    return {
        "model": model,
        "embeddings": [list(row) for row in rows],
        "total_duration": int(seconds * 1e9),
        "load_duration": 0,  # the model is there before anything is asked
        "prompt_eval_count": tokens or 0,
    }


def write_request(
    model: str, inputs: Sequence[Raw], *, dimensions: int | None = None, truncate: bool = False
) -> dict[str, Any]:
    """A request to an upstream.

    Raises:
        UnsupportedFeature: an input is a list of tokens, which Ollama does not take.
    """
    if any(one.ids for one in inputs):
        raise UnsupportedFeature("the upstream embeds texts only, no lists of tokens", param="input", status=501)
    body = {"model": model, "input": [one.text for one in inputs], "truncate": truncate}
    return {**body, "dimensions": dimensions} if dimensions else body


def read_answer(data: Any, count: int) -> tuple[list[Any] | None, int | None]:
    """The vectors of an answer, and its tokens; None if they are not so many."""
    rows = data.get("embeddings") if isinstance(data, Mapping) else None
    if not isinstance(rows, list) or len(rows) != count:
        return None, None
    tokens = data.get("prompt_eval_count")
    return rows, tokens if isinstance(tokens, int) else None


def _inputs(fields: Fields) -> tuple[Raw, ...]:
    value = fields.get("input")
    if value is None or value == "":
        return ()
    items = value if isinstance(value, list | tuple) else [value]
    for index, item in enumerate(items):
        where = f"input[{index}]" if items is value else "input"
        if not isinstance(item, str):
            invalid(where, f"must be a text; it is {kind(item)}", "invalid_type")
        if not item:
            invalid(where, "must not be an empty text")
    return tuple(Raw(wire.clean(item)) for item in items)
