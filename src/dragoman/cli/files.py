"""Files in and JSON out: UTF-8, byte for byte, whatever a model wrote."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import UsageError

__all__ = ["STDIN", "dump", "lines", "load", "read"]

STDIN = "/dev/stdin"  # what a lone `-` becomes: cyclopts would take it for an option; works where there is no /dev too

_SURROGATE = re.compile("[\ud800-\udfff]")


def read(path: str) -> str:
    """All text of a file; bytes that are no UTF-8 become lone surrogates, newlines stay what they are."""
    with _open(path) as file:
        return file.read().decode("utf-8", "surrogateescape")


def lines(path: str) -> Iterator[str]:
    """A file's lines, as they come."""
    with _open(path) as file:
        for line in file:
            yield line.decode("utf-8", "surrogateescape")


def load(source: str) -> Any:
    """A file with JSON, or JSON itself."""
    inline = source.lstrip().startswith(("[", "{"))
    text = source if inline else read(source).removeprefix("\ufeff")
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{'the JSON given' if inline else source} is no JSON: {error}") from None


def dump(value: Any, *, indent: int | None = None) -> str:
    """JSON that any reader takes: text as it is, but lone surrogates escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _open(path: str) -> BinaryIO:
    if path == STDIN:
        return sys.stdin.buffer
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
