"""The page of the server: plain files that a browser takes as they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["KINDS", "read"]

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@cache
def read(name: str) -> bytes | None:
    """A file of the page, None if there is none of this name."""
    if "/" in name or not name.endswith(tuple(KINDS)):
        return None
    path = files(__name__) / name
    return path.read_bytes() if path.is_file() else None
