"""`dragoman keys`: a new API key, shown once and kept hashed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import UsageError
from ..server.keys import Keys, digest, fresh

__all__ = ["keys"]


def keys(
    name: str, /, *, file: str = "keys.toml", model: list[str] | None = None, streams: int = 0, per_minute: int = 0
) -> int:
    """Make an API key: it is printed once, and its hash goes into a file for `dragoman serve --keys`.

    Args:
        name: Whose key it is; the log and the queue know it by this name.
        file: The file to add it to.
        model: A pattern of models it may use; give it several times for several. Without it: all.
        streams: Requests it may have running at once; 0 is no limit.
        per_minute: Requests it may send a minute; 0 is no limit.
    """
    path = Path(file).expanduser()
    if path.exists() and name in Keys.read(file).names:
        raise UsageError(f"{file} has a key named {name!r} already; delete its lines first, or choose another name")
    key = fresh()
    _add(path, "\n".join(_table(name, digest(key.encode()), model or [], streams, per_minute)) + "\n")
    print(key)
    print(f"This is the only time that it is shown; {file} holds its hash.", file=sys.stderr)
    return 0


def _table(name: str, hashed: str, models: list[str], streams: int, per_minute: int) -> Iterator[str]:
    yield from ("[[key]]", f"name = {json.dumps(name)}", f'hash = "{hashed}"')
    if models:
        yield f"models = {json.dumps(models)}"
    if streams:
        yield f"streams = {streams}"
    if per_minute:
        yield f"per_minute = {per_minute}"


def _add(path: Path, table: str) -> None:
    """Behind what is there; a new file is for its owner alone."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as out:
            out.write(("\n" if out.tell() else "") + table)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}") from None
