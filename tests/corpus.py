"""The case files `tests/corpus/*.txt` (see `dragoman.cases.read`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dragoman.cases.case import Case
from dragoman.cases.expect import describe, plain, problems, same_parts
from dragoman.cases.read import load

__all__ = ["FOLDER", "Case", "describe", "everything", "files", "load", "plain", "problems", "same_parts", "update"]

FOLDER = Path(__file__).parent / "corpus"


def files() -> list[Path]:
    """All case files."""
    return sorted(FOLDER.glob("*.txt"))


def everything() -> list[Case]:
    """All cases of all files."""
    return [case for path in files() for case in load(path)]


def update(path: Path, found: Mapping[str, list[str]]) -> None:
    """Rewrite the expectations of the cases with these titles."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for case in reversed(load(path)):
        if case.title in found:
            lines[slice(*case.lines)] = found[case.title]
    path.write_text("\n".join(lines), encoding="utf-8")
