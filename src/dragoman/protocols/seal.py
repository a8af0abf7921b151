"""Reasoning as a text that clients keep without reading it: given out as `encrypted_content`, taken back as it was.

It hides nothing: a client that may see the reasoning anyway only has to carry it.
"""

from __future__ import annotations

import base64
import binascii
import zlib

__all__ = ["seal", "unseal"]

_MARK = "dragoman1."
_MOST = 4 << 20  # bytes that a sealed text may open to


def seal(text: str) -> str:
    """Close a text."""
    packed = zlib.compress(text.encode(errors="surrogatepass"))
    return _MARK + base64.urlsafe_b64encode(packed).decode()


def unseal(sealed: str) -> str:
    """Open it again; "" for what was sealed elsewhere, or is broken."""
    if not sealed.startswith(_MARK):
        return ""
    opening = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(sealed.removeprefix(_MARK))
        text = opening.decompress(packed, _MOST).decode(errors="surrogatepass")
    except (binascii.Error, zlib.error, ValueError):
        return ""
    return text if opening.eof else ""
