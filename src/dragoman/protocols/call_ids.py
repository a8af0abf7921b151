"""Ids of calls on the wire and in a model's own words.

A model's own id goes out as it is where every protocol can carry it (up to 40 of A-Z a-z 0-9 _ -).
What cannot be carried is written in these characters, and read back when the conversation is rendered again, so that
the model meets the id that it wrote: `functions.get_weather:0` is `dg_functions_2eget__weather_3a0` on the wire.
"""

from __future__ import annotations

import re

__all__ = ["own_id", "wire_id"]

_FITS = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MARK = "dg_"
_MOST = 40
_STRANGE = re.compile(r"[^A-Za-z0-9-]")
_WRITTEN = re.compile(r"_(?:(_)|([0-9a-f]{2}))|_")


def wire_id(own: str) -> str:
    """The id as it goes out, "" for one that cannot go out in any form."""
    if _FITS.fullmatch(own) and not own.startswith(_MARK):
        return own
    if not own or not own.isascii():
        return ""
    written = _MARK + _STRANGE.sub(_write, own)
    return written if len(written) <= _MOST else ""


def own_id(given: str) -> str:
    """The id as the model wrote it; one that was not written by `wire_id` stays as it is."""
    if not given.startswith(_MARK):
        return given
    own = _WRITTEN.sub(_read, given.removeprefix(_MARK))
    return own if wire_id(own) == given else given


def _write(found: re.Match[str]) -> str:
    char = found[0]
    return "__" if char == "_" else f"_{ord(char):02x}"


def _read(found: re.Match[str]) -> str:
    if found[1]:
        return "_"
    return chr(int(found[2], 16)) if found[2] else found[0]
