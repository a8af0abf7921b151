"""What a model's folder says of it: the files that are published beside the weights (tokenizer and chat template).

The template is `chat_template.jinja` with its named siblings in `additional_chat_templates/`; in older folders it is
an entry of `tokenizer_config.json`, one text or a list of named ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .gguf import Metadata, combine

__all__ = ["described", "read"]


def read(folder: str | Path) -> Metadata:
    """The metadata of a model's folder.

    Raises:
        UsageError: it is no folder, or has no tokenizer, or a file in it is no JSON.
    """
    place = Path(folder)
    config, tokenizer, model = (_json(place / f"{name}.json") for name in ("tokenizer_config", "tokenizer", "config"))
    if not place.is_dir() or not (config or tokenizer or _named(place)):
        raise UsageError(
            f"{str(folder)!r} is no folder of a model: it has neither tokenizer_config.json nor a template"
        )
    found = described(config, tokenizer)
    named = combine(_named(place))
    return replace(
        found, name=place.resolve().name, template=named or found.template, context=_context(model) or found.context
    )


def described(config: Mapping[str, Any], tokenizer: Mapping[str, Any] | None = None) -> Metadata:
    """The metadata in the contents of `tokenizer_config.json`, and of `tokenizer.json` where there is one."""
    said = config.get("response_template") or config.get("response_schema")
    return Metadata(
        response_template=said if isinstance(said, dict) else {},
        template=combine(_listed(config.get("chat_template"))),
        specials=dict(_specials(config, tokenizer or {})),
        bos=_text(config.get("bos_token")),
        eos=_text(config.get("eos_token")),
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as problem:
        raise UsageError(f"{str(path)!r} cannot be read: {problem}") from problem
    return value if isinstance(value, dict) else {}


def _named(place: Path) -> dict[str, str]:
    """The templates in files of their own."""
    files = {file.stem: file for file in sorted(place.glob("additional_chat_templates/*.jinja"))}
    if (main := place / "chat_template.jinja").is_file():
        files["default"] = main
    return {name: file.read_text("utf-8") for name, file in files.items()}


def _listed(value: Any) -> dict[str, str]:
    """The templates in the tokenizer's configuration."""
    if isinstance(value, str):
        return {"default": value}
    return {item["name"]: item["template"] for item in value} if isinstance(value, list) else {}


def _specials(config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Added tokens are control tokens (special) or user-defined ones; both are marks, unless they are mere blanks."""
    for token, added in config.get("added_tokens_decoder", {}).items():
        if added["content"].strip():
            yield added["content"], int(token)
    for added in tokenizer.get("added_tokens", ()):
        if added["content"].strip():
            yield added["content"], added["id"]


def _text(token: Any) -> str:
    """A token's text; some files wrap it in an object."""
    text = token.get("content", "") if isinstance(token, dict) else token
    return text if isinstance(text, str) else ""


def _context(model: Mapping[str, Any]) -> int | None:
    """Models that also see keep the limit of their text part in a section of its own."""
    inner = model.get("text_config")
    found = model.get("max_position_embeddings") or (inner or {}).get("max_position_embeddings")
    return found if isinstance(found, int) else None
