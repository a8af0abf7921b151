"""Files of lines, done in order: bounded memory, several processes, and going on where an earlier run stopped.

Every line of the source that holds anything becomes one line of the output, or one of the file of bad lines, in order.
So the lines in both tell how far an earlier run came; a line that was cut while it was written is written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO

from ..errors import UsageError
from .convert import Line

__all__ = ["Count", "bad_lines", "lines", "run"]

_PORTION = 256  # lines for each process at a time

Work = Callable[[tuple[int, str]], Line]


@dataclass(slots=True)
class Count:
    """How many lines were done, were wrong, and had been done before."""

    done: int = 0
    wrong: int = 0
    before: int = 0


def bad_lines(output: Path) -> Path:
    """Where lines go that cannot be done."""
    return output.with_name(f"{output.name}.bad")


def lines(source: Path, seen: Callable[[int], None]) -> Iterator[tuple[int, str]]:
    """The lines that hold anything, numbered; `seen` hears of every line's bytes."""
    try:
        file = source.open("rb")
    except OSError as problem:
        raise UsageError(f"cannot read {source}: {problem.strerror}") from None
    with file:
        for number, line in enumerate(file, 1):
            seen(len(line))
            if line.strip():
                yield number, line.decode("utf-8", "surrogateescape")


def run(
    work: Work,
    source: Path,
    output: Path,
    *,
    workers: int = 1,
    resume: bool = False,
    seen: Callable[[int], None] = lambda _: None,
) -> Count:
    """Do all lines of a file.

    Raises:
        UsageError: the output is there already and it is not to be resumed, or a file cannot be opened.
    """
    bad = bad_lines(output)
    if not resume and (output.exists() or bad.exists()):
        raise UsageError(f"{output} is there already; --resume goes on with it")
    count = Count(before=_whole(output) + _whole(bad))
    with ExitStack() as stack:
        good, wrong = (stack.enter_context(_append(path)) for path in (output, bad))
        todo = islice(lines(source, seen), count.before, None)
        for done in _spread(work, todo, workers, stack):
            _write(done, good, wrong, count)
    if not bad.stat().st_size:
        bad.unlink()
    return count


def _spread(work: Work, todo: Iterator[tuple[int, str]], workers: int, stack: ExitStack) -> Iterator[Line]:
    """The lines done, in order; a portion at a time, so a file may be larger than memory."""
    each: Callable[..., Iterable[Line]] = map
    if workers > 1:
        each = stack.enter_context(get_context("spawn").Pool(workers)).map
    while portion := list(islice(todo, _PORTION * workers)):
        yield from each(work, portion)


def _write(line: Line, good: BinaryIO, wrong: BinaryIO, count: Count) -> None:
    if line.wrong:
        told = json.dumps({"line": line.number, "error": line.wrong, "text": line.text})
        wrong.write(f"{told}\n".encode())
    else:
        good.write(f"{line.text}\n".encode("utf-8", "surrogateescape"))
    count.done += not line.wrong
    count.wrong += bool(line.wrong)


def _append(path: Path) -> BinaryIO:
    try:
        return path.open("ab")
    except OSError as problem:
        raise UsageError(f"cannot write {path}: {problem.strerror}") from None


def _whole(path: Path) -> int:
    """The whole lines of a file; one that was cut is cut off."""
    if not path.exists():
        return 0
    count = end = 0
    with path.open("r+b") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            count, end = count + 1, end + len(line)
        file.truncate(end)
    return count
