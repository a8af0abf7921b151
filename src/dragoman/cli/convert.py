"""`dragoman convert`: a file of raw outputs, rewritten from one dialect to another."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .. import api
from ..batch.convert import Conversion
from ..batch.files import bad_lines, run
from ..errors import UsageError
from .case import offered
from .files import load

__all__ = ["convert"]


def convert(
    file: str,
    /,
    *,
    source: Annotated[str, Parameter(name="--from")] = "auto",
    target: Annotated[str, Parameter(name="--to")],
    out: str = "",
    tools: str = "",
    workers: int = 1,
    resume: bool = False,
    strict: bool = False,
) -> int:
    """Rewrite a file of raw outputs from one dialect to another.

    A line is a JSON object with a text under raw, completion, text or output, or with messages whose assistant
    contents are raw outputs; all else in it stays as it is.  Lines that cannot be rewritten go to a file of their own
    (OUT.bad), each with what is wrong with it; then the exit status is 1.

    Args:
        file: The lines.
        source: Who wrote them (`dragoman dialects`, or a dialect's file); auto recognises each by its marks.
        target: The dialect to write.
        out: Where to; by default beside the file, with the dialect's name in its own.
        tools: The tools on offer where a line has none: a JSON file, or JSON itself.
        workers: How many processes.
        resume: Go on where an earlier run stopped.
        strict: A text with anything repaired, cut or doubtful is a bad line.
    """
    if source != "auto":
        api.get(source)
    known = offered(load(tools)) if tools else None
    work = Conversion(source, target, None if known is None else tuple(known), strict)
    place = Path(file)
    output = Path(out) if out else place.with_name(f"{place.stem}.{api.get(target).name}{place.suffix or '.jsonl'}")
    if output.resolve() == place.resolve():
        raise UsageError("the output would overwrite the file that is read")
    with _progress(place) as seen:
        count = run(work, place, output, workers=max(1, workers), resume=resume, seen=seen)
    before = f", {count.before} had been done before" if count.before else ""
    wrong = f", {count.wrong} are bad lines (see {bad_lines(output)})" if count.wrong else ""
    print(f"{output}: {count.done} rewritten{wrong}{before}", file=sys.stderr)
    return 1 if count.wrong else 0


@contextmanager
def _progress(file: Path) -> Iterator[Callable[[int], None]]:
    """How far a file was read, on a terminal."""
    if not sys.stderr.isatty() or not file.is_file():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 (slow, and only for a person)
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(file.name, total=file.stat().st_size)
        yield lambda size: progress.advance(task, size)
