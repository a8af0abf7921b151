"""Texts and their tokens, as local servers tell of them: /tokenize, /detokenize and /apply-template.

llama.cpp's words (`content`) and vLLM's (`prompt`, `messages`) are understood, and the answers have those of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..messages import Request
from . import wire
from .chat_request import read_request
from .fields import Fields, invalid, kind, missing

__all__ = ["Wanted", "read_detokenize", "read_template", "read_tokenize", "write_text", "write_tokens"]


@dataclass(slots=True)
class Wanted:
    """What is to be cut into tokens, and how.

    `request`: a conversation, instead of `text`.  `special`: special tokens are read.
    `start`: with the token that stands before every prompt.  `pieces`: each with its text.  `texts`: their texts apart.
    """

    model: str = ""
    text: str = ""
    request: Request | None = None
    special: bool = True
    start: bool = False
    pieces: bool = False
    texts: bool = False


def read_tokenize(data: Mapping[str, Any]) -> Wanted:
    """A request to /tokenize.

    Raises:
        RequestError: it has no text, or a field is wrong.
    """
    fields = Fields(data)
    wanted = Wanted(
        model=fields.text("model"),
        special=fields.flag("parse_special", default=True),
        pieces=fields.flag("with_pieces"),
        texts=fields.flag("return_token_strs"),
    )
    if "messages" in fields:
        wanted.request = read_template(data)
        return wanted
    key = fields.first("content", "prompt")
    if key not in fields:
        missing("content", "the text to tokenize (or prompt, or messages)")
    wanted.text = fields.text(key)
    # Of the two servers, one adds the token unless told not to, the other does not.
    wanted.start = fields.flag("add_special") or fields.flag("add_special_tokens", default=key == "prompt")
    return wanted


def read_detokenize(data: Mapping[str, Any]) -> tuple[str, tuple[int, ...]]:
    """A request to /detokenize: the model, and the ids.

    Raises:
        RequestError: it has no ids, or one that is none.
    """
    fields = Fields(data)
    if fields.get("tokens") is None:
        missing("tokens", "the ids of the tokens")
    for index, token in enumerate(fields.items("tokens")):
        if isinstance(token, bool) or not isinstance(token, int):
            invalid(f"tokens[{index}]", f"must be the id of a token; it is {kind(token)}", "invalid_type")
    return fields.text("model"), tuple(fields.items("tokens"))


def read_template(data: Mapping[str, Any]) -> Request:
    """A request to /apply-template: that of a chat.

    Raises:
        RequestError: a field is missing or wrong.
    """
    return read_request(data)[0]


def write_tokens(found: Sequence[tuple[int, bytes]], wanted: Wanted, context: int | None) -> dict[str, Any]:
    """The tokens, and how many there are and may be."""
    tokens = [{"id": token, "piece": _piece(piece)} if wanted.pieces else token for token, piece in found]
    texts = {"token_strs": [piece.decode(errors="replace") for _, piece in found]} if wanted.texts else {}
    return {"tokens": tokens, "count": len(found), "max_model_len": context, **texts}


def write_text(text: str) -> dict[str, str]:
    """A text, under the names of both servers."""
    return {"content": wire.clean(text), "prompt": wire.clean(text)}


def _piece(piece: bytes) -> str | list[int]:
    """Half a character is told as its bytes."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)
