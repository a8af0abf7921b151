"""What a model of an upstream is like: template, special tokens and context, from files of this machine or the upstream.

In this order: the files that the settings name; what the upstream tells of itself; the files it runs from, where they
are on this machine too (as they are for most who run models at home), also in the cache of the model hub.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from . import folder, gguf
from .gguf import Metadata
from .http import Http

__all__ = ["context_of", "from_files", "of_completions", "of_ollama", "shown"]

_FROM = re.compile(r"^FROM\s+(/\S.*)$", re.MULTILINE)
_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")


async def from_files(path: str) -> Metadata:
    """The metadata in a GGUF file or a model's folder.

    Raises:
        UsageError: there is none.
    """
    return await asyncio.to_thread(_read, Path(path))


async def of_completions(http: Http, card: Mapping[str, Any]) -> tuple[Metadata, str]:
    """What vLLM or SGLang tells of a model, and where that was found; an empty one if nothing was."""
    told = await http.try_json("/tokenizer_info")
    if isinstance(told, Mapping) and told.get("chat_template"):
        return folder.described(told), "/tokenizer_info"
    info = await http.try_json("/get_model_info")
    told_path = info.get("tokenizer_path") or info.get("model_path") if isinstance(info, Mapping) else None
    for root in (card.get("root"), told_path):
        if isinstance(root, str) and root and (found := await asyncio.to_thread(_quietly, root)).template:
            return found, f"the files of {root}"
    return Metadata(), ""


async def shown(http: Http, model: str) -> Mapping[str, Any]:
    """What Ollama shows of a model."""
    told = await http.try_json("/api/show", {"model": model})
    return told if isinstance(told, Mapping) else {}


async def of_ollama(told: Mapping[str, Any]) -> tuple[Metadata, str, str]:
    """What Ollama tells of a model, where that was found, and its template in Ollama's own language."""
    own = told.get("template") if isinstance(told.get("template"), str) else ""
    found = _FROM.search(str(told.get("modelfile") or ""))
    if found and (files := await asyncio.to_thread(_quietly, found[1].strip())).template:
        return files, "the file that Ollama runs", str(own)
    return Metadata(), "", str(own)


def context_of(card: Mapping[str, Any]) -> int | None:
    """The context that a list of models tells, under the names that servers give it."""
    meta = card.get("meta")
    for holder in (card, meta if isinstance(meta, Mapping) else {}):
        for key in _CONTEXTS:
            if isinstance(holder.get(key), int):
                return int(holder[key])
    return None


def _read(path: Path) -> Metadata:
    place = path.expanduser()
    return folder.read(place) if place.is_dir() else gguf.read(place)


def _quietly(root: str) -> Metadata:
    """The metadata at a path, or of a name in the model hub's cache; an empty one if there is none."""
    place = Path(root).expanduser()
    if not place.exists() and _NAME.fullmatch(root):
        place = _hub() / f"models--{root.replace('/', '--')}"
        place = place / "snapshots" / _revision(place)
    try:
        return _read(place) if place.exists() else Metadata()
    except UsageError:
        return Metadata()


def _hub() -> Path:
    """Where the model hub's client keeps what it downloaded."""
    home = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def _revision(place: Path) -> str:
    try:
        return (place / "refs" / "main").read_text("utf-8").strip()
    except OSError:
        return "none"
