"""Where state is kept on this machine if nobody says otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["data"]


def data() -> Path:
    """The folder of the user's data: DRAGOMAN_DATA, or what the system has for it."""
    if given := os.environ.get("DRAGOMAN_DATA"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "dragoman"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "dragoman"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dragoman"
