"""JSON as it goes over a wire: one line of valid UTF-8, and quick where a token passes.

Text that a model wrote may hold half of a surrogate pair, which UTF-8 cannot carry: each half becomes U+FFFD.
Halves are never joined, not even when they meet, so the result does not depend on where the text was cut.
They are looked for only after an encoding has failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["clean", "dump", "load", "quote", "whole"]

_HALVES = re.compile("[\ud800-\udfff]")

_quote: Callable[[str], bytes]
_dump: Callable[[Any], bytes]
_load: Callable[[str | bytes], Any]
try:
    import msgspec
except ImportError:
    _stdlib_quote = json.encoder.encode_basestring
    _stdlib_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

    def _quote(text: str) -> bytes:
        return _stdlib_quote(text).encode()

    def _dump(value: Any) -> bytes:
        return _stdlib_dump(value).encode()

    _load = json.loads
else:
    _quote = _dump = msgspec.json.Encoder().encode
    _strict_load = msgspec.json.Decoder().decode

    def _load(text: str | bytes) -> Any:
        """Quick, and as lenient as the standard library, which takes halves of characters, NaN and huge numbers."""
        try:
            return _strict_load(text)
        except (msgspec.MsgspecError, UnicodeError):
            return json.loads(text)


def clean(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD."""
    return _HALVES.sub("\ufffd", text)


def whole(value: Any) -> Any:
    """Any JSON with its texts `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    return {clean(key): whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def quote(text: str) -> bytes:
    """A string as JSON."""
    try:
        return _quote(text)
    except UnicodeEncodeError:
        return _quote(clean(text))


def dump(value: Any) -> bytes:
    """A value as JSON on one line."""
    try:
        return _dump(value)
    except UnicodeEncodeError:
        return _dump(_cleaned(value))


def load(text: str | bytes) -> Any:
    """JSON as a value.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return _load(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value
