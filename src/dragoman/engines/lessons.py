"""Learning from what is on this machine: a chat template's text, a model's folder or a GGUF file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ..errors import DragomanError, UsageError
from ..syntax.dialect import Dialect
from ..syntax.learn import Lesson, around, reads, show, study, writes
from ..syntax.metadata import compiled
from ..syntax.probes import Probe, Render
from . import folder, gguf, jinja
from .gguf import Metadata

__all__ = ["fitting", "lesson", "metadata", "renderer"]


def metadata(place: str | Path) -> Metadata:
    """What is known of a model: of a folder, a GGUF file, or a file with nothing but its chat template.

    Raises:
        UsageError: there is nothing like that.
    """
    path = Path(place).expanduser()
    if path.is_dir():
        return folder.read(path)
    if path.suffix == ".gguf":
        return gguf.read(path)
    if path.suffix == ".json":
        return folder.read(path.parent)
    try:
        return Metadata(name=path.stem, template=path.read_text("utf-8"), eos="</s>")
    except (OSError, ValueError) as problem:
        raise UsageError(f"{str(place)!r} cannot be read as a chat template: {problem}") from None


def renderer(known: Metadata) -> Render:
    """Renders with a model's chat template."""

    def render(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, **flags: Any) -> str:
        variables = {**flags, "messages": messages, "tools": tools, "bos_token": known.bos, "eos_token": known.eos}
        return jinja.render(known.template, variables)

    return render


def lesson(known: Metadata, name: str = "") -> Lesson:
    """The dialect of a model's chat template, and how sure it is.

    Where the model itself says what it writes (`response_template`, or the older `response_schema`) and that reads what the template shows, its word
    counts.

    Raises:
        UsageError: it has none, or it could not be told from it.
    """
    name = name or known.name or "learnt"
    if not known.template:
        return _told(known, name) or _nothing(known)
    jinja.compiled(known.template)
    said = _told(known, name, show(renderer(known)))
    return said if said and not said.unread else _studied(known, name, said)


def _studied(known: Metadata, name: str, said: Lesson | None) -> Lesson:
    try:
        found = study(renderer(known), name=name, specials=known.specials)
    except UsageError:
        if said is None:
            raise
        return said
    return said if said and len(said.unread) <= len(found.unread) else found


def _told(known: Metadata, name: str, shown: Sequence[Probe] = ()) -> Lesson | None:
    """What the model says of itself, held against what its template shows."""
    if not known.response_template:
        return None
    try:
        dialect = compiled(known.response_template, name)
        if known.template and not dialect.begins:
            begins, ends = around(renderer(known))
            dialect = replace(dialect, begins=begins, ends=dialect.ends or ends)
    except UsageError:
        return None
    unread, unwritten = (tuple(probe.what for probe in shown if not fits(dialect, probe)) for fits in (reads, writes))
    return Lesson(dialect, {"all": "its own response_template"}, unread, unwritten, len(shown))


def _nothing(known: Metadata) -> NoReturn:
    raise UsageError(f"{known.name or 'this model'} has no chat template to learn from")


def fitting(known: Metadata, dialect: Dialect | None, why: str) -> tuple[Dialect | None, str]:
    """The dialect that was recognised; or the one learnt, where only that reads the calls of the model's own template."""
    try:
        shown = [probe for probe in show(renderer(known)) if probe.turn.calls] if known.template else []
        if not shown or (dialect is not None and any(reads(dialect, probe) for probe in shown)):
            return dialect, why
        learnt = lesson(known, known.name)
    except DragomanError:
        return dialect, why
    if not learnt.dialect.call or len(learnt.unread) > learnt.probes // 2:
        return dialect, why
    return (
        learnt.dialect,
        f"learnt from its chat template: {learnt.probes - len(learnt.unread)} of {learnt.probes} probes read back",
    )
