"""`dragoman dialects`: which there are, how one of them writes, and what a chat template nobody has seen speaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from .. import api
from ..errors import UsageError
from ..messages import Call, Reasoning, Text, Tool, Turn
from ..syntax.definition import dump as written
from ..syntax.dialect import Dialect
from ..syntax.learn import Lesson
from ..syntax.template import marks, parse
from .files import dump

__all__ = ["dialects", "directions", "example", "facts"]

CALL = Call("get_weather", '{"city": "Paris", "days": 3}')


def dialects(name: str = "", source: str = "", /, *, json: bool = False, file: bool = False) -> None:
    """List the dialects, show one, or learn one from a model's chat template.

    `dialects NAME` shows its templates, its marks and an example.  `dialects learn SOURCE` prints the dialect that a
    chat template speaks, as a file that --dialect takes; `dialects detect SOURCE` tells which known ones fit.

    Args:
        name: A dialect, one of its other names, or a file; or `learn`, or `detect`.
        source: A file with a chat template, a GGUF file, or a model's folder; to detect, a sample of output too.
        json: Print JSON.
        file: Print the definition as a file.
    """
    if name == "learn":
        print(_learnt(source), end="")
    elif name == "detect":
        print("\n".join(_detected(source)))
    elif source:
        raise UsageError(f"one dialect at a time; to learn one: dragoman dialects learn {source}")
    elif name and file:
        print(written(api.get(name)), end="")
    elif name:
        one = facts(api.get(name))
        print(dump(one, indent=2) if json else "\n".join([*_details(one), *_unwritten(api.get(name))]))
    else:
        every = [api.get(known) for known in api.names()]
        print(dump([facts(one) for one in every], indent=2) if json else "\n".join(_table(every)))


def _learnt(source: str) -> str:
    """The definition found, with a summary above it."""
    from ..engines.lessons import lesson, metadata  # noqa: PLC0415 (it needs jinja2)

    if not source:
        raise UsageError("name what to learn from: a file with a chat template, a GGUF file, or a model's folder")
    learnt = lesson(metadata(source))
    return "".join(f"# {line}\n" for line in _summary(learnt, source)) + written(learnt.dialect)


def _detected(source: str) -> Iterator[str]:
    """The dialects that fit, best first, each with its reason."""
    from ..engines.lessons import metadata  # noqa: PLC0415 (it needs jinja2)

    if not source:
        raise UsageError("name what to detect: a model's folder, a GGUF file, a chat template, or a sample of output")
    known = metadata(source)
    sample = known.template if not any(mark in known.template for mark in ("{%", "{{")) else ""
    found = api.detections(known.template, known.specials or None, sample, model=known.name)
    yield from (f"{name:<20}  {reason}" for name, reason in found)
    if not found:
        yield "no dialect fits; `dragoman dialects learn` finds one from a chat template"


def directions(dialect: Dialect) -> list[str]:
    """What can be done in a dialect."""
    found = ["decode"] + ["encode"] * bool(example(dialect))
    with suppress(UsageError):
        found += ["constrain"] * bool(api.constrain(dialect, [Tool("get_weather")], "required"))
    return found


def _summary(learnt: Lesson, source: str) -> Iterator[str]:
    """What was found in which conversation, what was not found, and what does not fit."""
    read, kept = learnt.probes - len(learnt.unread), learnt.probes - len(learnt.unwritten)
    yield f"Learnt from {source}."
    yield f"Of {learnt.probes} short conversations that it shows, {read} read back, {kept} are written to the letter."
    found = {what: where for what, where in learnt.found.items() if getattr(learnt.dialect, what, True)}
    for what, where in found.items():
        yield f"  {what}: seen in: {where}"
    for what, told in _ABSENT.items():
        if not getattr(learnt.dialect, what) and "all" not in found:
            yield f"Not found: {told}"
    for what, probes in (("Not read back", learnt.unread), ("Cannot be written", learnt.unsaid)):
        if probes:
            yield f"{what}: {', '.join(probes)}. The first is shown as {learnt.texts.get(probes[0], '')!r:.160}"
    if otherwise := [what for what in learnt.unwritten if what not in learnt.unsaid]:
        yield f"Written with other spaces, quotes or marks: {', '.join(otherwise)}."


_ABSENT = {
    "call": "tool calls; no conversation shows one.",
    "reasoning": "reasoning; neither an answer nor the prompt shows any.",
    "begins": "what begins a turn; give it as `begins` so that open reasoning is known from the prompt.",
    "ends": "what ends a turn; the engine's own end of text counts.",
}


def facts(dialect: Dialect) -> dict[str, Any]:
    """What is to be known of a dialect, as plain data."""
    return {
        "name": dialect.name,
        "aliases": list(dialect.aliases),
        "models": dialect.models,
        "directions": directions(dialect),
        "begins": dialect.begins,
        "ends": list(dialect.ends),
        "reasoning": dialect.reasoning,
        "content": list(dialect.content),
        "calls": [form.template for form in dialect.forms],
        "marks": list(dict.fromkeys(_marks(dialect))),
        "example": example(dialect),
    }


def example(dialect: Dialect) -> str:
    """What a model writes that thinks and then calls a tool, as far as a dialect has these."""
    thought = Reasoning("The user asks for the weather.")
    for parts in ((thought, CALL), (CALL,), (thought, Text("It is sunny."))):
        with suppress(UsageError):
            return api.encode(dialect, Turn(parts))
    return ""


def _unwritten(dialect: Dialect) -> Iterator[str]:
    """Why there is no example: such a dialect most often does not read what it was meant to."""
    if not example(dialect):
        try:
            api.encode(dialect, Turn((CALL,) if dialect.call else (Text("It is sunny."),)))
        except UsageError as problem:
            yield f"a call cannot be written: {problem}"


def _marks(dialect: Dialect) -> Iterator[str]:
    templates = (dialect.reasoning, *dialect.content, *(form.template for form in dialect.forms))
    for template in templates:
        for piece in parse(template):
            if isinstance(piece, str):
                yield from marks(piece)
    yield from dialect.special
    yield from dialect.ends


def _table(every: Sequence[Dialect]) -> Iterator[str]:
    width = max((len(one.name) for one in every), default=0)
    for one in every:
        yield f"{one.name:<{width}}  {one.models}".rstrip()
        if one.aliases:
            yield f"{'':<{width}}  also: {', '.join(one.aliases)}"


def _details(one: dict[str, Any]) -> Iterator[str]:
    """Texts as they are, templates quoted: their newlines count."""
    for key in ("name", "models"):
        if one[key]:
            yield f"{key:<10} {one[key]}"
    for key in ("aliases", "directions", "marks"):
        if one[key]:
            yield f"{key:<10} {'  '.join(one[key])}"
    for key in ("begins", "ends", "reasoning", "content", "calls"):
        value = one[key]
        for template in [value] if isinstance(value, str) else value:
            if template:
                yield f"{key:<10} {dump(template)}"
    if one["example"]:
        yield from ("", "example", "", *(f"  {line}" for line in one["example"].splitlines()))
