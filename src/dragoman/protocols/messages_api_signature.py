"""The signature of a thinking block: ours, opaque to clients, given out and taken back.

It proves that a thought was written here, as it is.  Where the client wanted the block empty, it carries the thought
itself, so that the model has it again when the block comes back.  It may be read by those who decode it: it is signed,
not hidden.  One that is foreign, wrong or missing proves nothing, and never refuses a request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import zlib

__all__ = ["recall", "sign", "verify"]

_BEGINS = "dragoman."
_SEAL = 16  # bytes of the HMAC that are kept
_TEXT, _CARRIED = b"text:", b"carried:"


def sign(text: str, key: bytes, *, carry: bool = False) -> str:
    """The signature of a thought; `carry`: with the thought in it."""
    body = zlib.compress(_bytes(text)) if carry else b""
    seal = _seal(_CARRIED + body if carry else _TEXT + _bytes(text), key)
    return _BEGINS + base64.b64encode(seal + body).decode()


def verify(text: str, signature: str, key: bytes) -> bool:
    """Whether this thought was signed with this key, or is in the signature."""
    raw = _raw(signature)
    carried = _carried(raw, key)
    if carried is not None:
        return carried == text
    return hmac.compare_digest(raw, _seal(_TEXT + _bytes(text), key))


def recall(signature: str, key: bytes) -> str:
    """The thought that a signature of this key carries, "" if there is none."""
    return _carried(_raw(signature), key) or ""


def _carried(raw: bytes, key: bytes) -> str | None:
    """What is carried is opened only if it is ours."""
    seal, body = raw[:_SEAL], raw[_SEAL:]
    if not body or not hmac.compare_digest(seal, _seal(_CARRIED + body, key)):
        return None
    return zlib.decompress(body).decode()


def _seal(data: bytes, key: bytes) -> bytes:
    return hmac.digest(key, data, hashlib.sha256)[:_SEAL]


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")


def _raw(signature: str) -> bytes:
    """What a signature of our form holds, b"" for all others."""
    try:
        form, raw = signature.startswith(_BEGINS), base64.b64decode(signature.removeprefix(_BEGINS), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return raw if form else b""
