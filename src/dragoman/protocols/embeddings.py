"""OpenAI's embeddings: read a request, write an answer, write a request, read an answer."""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Raw, Request
from . import wire
from .chat_error import error
from .fields import Fields, fields_of, invalid, is_token, kind, missing

__all__ = [
    "MOST_DIMENSIONS",
    "Settings",
    "answer",
    "error",
    "read_answer",
    "read_inputs",
    "read_request",
    "write_request",
]

_NOTED = ("input_type", "instruction", "normalize", "truncate_prompt_tokens")
MOST_DIMENSIONS = 1 << 20


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `packed`: vectors as base64 of little-endian 32-bit numbers.  `dimensions`: numbers of each, None for all.
    `truncate`: what is too long for the model is cut.  `stream`, `stats`: never.
    `ignored`: fields that were left aside.
    """

    packed: bool = False
    dimensions: int | None = None
    truncate: bool = False
    stream: bool = False
    stats: bool = False
    ignored: tuple[str, ...] = ()


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object: what is to be embedded stands in `Request.prompts`.

    Raises:
        RequestError: a field is missing, wrong or not offered; `param` is its path.
    """
    fields = fields_of(data)
    if "input" not in fields:
        missing("input", "a text, a list of texts, the ids of tokens, or a list of such lists")
    settings = replace(
        defaults or Settings(),
        packed=fields.word("encoding_format", ("float", "base64"), "float") == "base64",
        dimensions=fields.integer("dimensions", None, 1, MOST_DIMENSIONS),
        ignored=tuple(name for name in _NOTED if name in fields),
    )
    return Request(model=fields.text("model"), prompts=tuple(read_inputs(fields))), settings


def read_inputs(fields: Fields, key: str = "input") -> Iterator[Raw]:
    """What is to be embedded: texts, or lists of tokens.

    Raises:
        RequestError: one of them is empty, or is neither.
    """
    value, where = fields.get(key), fields.param(key)
    items = value if isinstance(value, list | tuple) else [value]
    if not items:
        invalid(where, "must not be empty")
    if all(isinstance(item, int) and not isinstance(item, bool) for item in items):
        yield _tokens(items, where)
        return
    for index, item in enumerate(items):
        place = f"{where}[{index}]" if items is value else where
        if isinstance(item, str):
            yield Raw(wire.clean(item) or invalid(place, "must not be an empty text"))
        elif isinstance(item, list | tuple):
            yield _tokens(item, place)
        else:
            invalid(place, f"must be a text or a list of tokens; it is {kind(item)}", "invalid_type")


def answer(
    rows: Sequence[Sequence[float]], *, tokens: int | None, packed: bool, model: str, **_: Any
) -> dict[str, Any]:
    """The whole answer."""
    shown = _packed if packed else list
    data = [{"object": "embedding", "index": index, "embedding": shown(row)} for index, row in enumerate(rows)]
    usage = {"prompt_tokens": tokens or 0, "total_tokens": tokens or 0}
    return {"object": "list", "data": data, "model": model, "usage": usage}


def write_request(model: str, inputs: Sequence[Raw], *, dimensions: int | None = None, **_: Any) -> dict[str, Any]:
    """A request to an upstream; this protocol has no word for cutting what is too long."""
    body: dict[str, Any] = {"input": [list(one.ids) or one.text for one in inputs], "encoding_format": "float"}
    if model:
        body["model"] = model
    return {**body, "dimensions": dimensions} if dimensions else body


def read_answer(data: Any, count: int) -> tuple[list[Any] | None, int | None]:
    """The vectors of an answer in the order of the texts, and its tokens; None if they are not so many."""
    found = data.get("data") if isinstance(data, Mapping) else None
    items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
    rows = {item.get("index", place): _unpacked(item.get("embedding")) for place, item in enumerate(items)}
    if len(items) != count or rows.keys() != set(range(count)):
        return None, None
    usage = data.get("usage")
    tokens = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    return [rows[place] for place in range(count)], tokens if isinstance(tokens, int) else None


def _tokens(ids: Sequence[Any], where: str) -> Raw:
    if not ids:
        invalid(where, "must not be an empty list")
    for index, token in enumerate(ids):
        if not is_token(token):
            invalid(f"{where}[{index}]", f"must be the id of a token; it is {token!r:.40}", "invalid_type")
    return Raw(ids=tuple(ids))


def _packed(row: Sequence[float]) -> str:
    numbers = array("f", row)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode()


def _unpacked(row: Any) -> Any:
    """The numbers of a vector; some servers pack them unasked."""
    if not isinstance(row, str):
        return row
    numbers = array("f")
    try:
        numbers.frombytes(base64.b64decode(row, validate=True))
    except ValueError:
        return None
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
