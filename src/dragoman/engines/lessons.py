"""Learning from what is on this machine: a chat template's text, a model's folder or a GGUF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..syntax.learn import Lesson, study
from ..syntax.probes import Render
from . import folder, gguf, jinja
from .gguf import Metadata

__all__ = ["lesson", "metadata", "renderer"]


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

    Raises:
        UsageError: it has none, or it could not be told from it.
    """
    if not known.template:
        raise UsageError(f"{known.name or 'this model'} has no chat template to learn from")
    jinja.compiled(known.template)
    return study(renderer(known), name=name or known.name or "learnt", specials=known.specials)
