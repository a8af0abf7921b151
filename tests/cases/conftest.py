"""The server that case files are shown to."""

from __future__ import annotations

from ..server.conftest import serving

__all__ = ["serving"]
