"""`dragoman explain`: what a model wrote, what was made of it, and why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from cyclopts import Parameter
from rich.console import Console

from .. import api
from ..cases.case import Case
from ..cases.expect import describe
from ..cases.read import is_case, read
from ..cases.write import brief, write
from ..errors import UsageError
from ..explanation import Explanation, as_data
from ..explanation import explain as explained
from ..rendition import frames
from ..state.keep import kept
from . import case as cases
from .decode import Reason, prompt_text
from .files import STDIN, dump, load
from .files import read as read_file
from .paint import Painter
from .remote import fetch

__all__ = ["explain"]

_AUTO = (
    "auto"  # the marks decide; a case that names no dialect is of an engine that decodes by itself, or a raw completion
)


def explain(
    source: str = STDIN,
    /,
    *,
    dialect: Annotated[str, Parameter(alias="-d")] = "",
    tools: str = "",
    prompt: str = "",
    finish: Reason | None = None,
    recover: Literal["strict", "turn-start", "anywhere"] | None = None,
    step: bool = False,
    pieces: bool = False,
    compare: Annotated[tuple[str, str] | None, Parameter(consume_multiple=False)] = None,
    protocol: str = "",
    report: bool = False,
    json: bool = False,
    server: str = "http://127.0.0.1:8000",
    api_key: Annotated[str, Parameter(env_var="DRAGOMAN_API_KEY", show_default=False)] = "",
    kept_in: str = "",
    url: str = "",
    port: int = 8001,
) -> int:
    """Explain what a model wrote: what every character became, and what was noticed.

    The text is coloured by meaning: content, reasoning, arguments, and the marks around them.

    Args:
        source: A raw output, a case file, or the id of a turn that a server remembers; - is standard input.
        dialect: Who wrote it; by default what the case says, else recognised by its marks.
        tools: The tools on offer, as in `dragoman decode`.
        prompt: The end of the rendered prompt, or @FILE.
        finish: Why the engine stopped.
        recover: Where calls without their marks are looked for; by default as the case says, else at a turn's start.
        step: Walk through it piece by piece; on a terminal, Enter goes on.
        pieces: Show where the pieces end, and which were special tokens.
        compare: Two dialects: what each of them reads.
        protocol: Show what a client was sent: chat, responses, messages or ollama.
        report: Print a case file, ready for a bug report or the corpus.
        json: Print JSON.
        server: The server that remembers the turn, if the source is an id.
        api_key: Its key.
        url: A server to stand in front of: every turn that goes through is explained as it ends, or with --step as it comes.
        port: The port to listen on for --url.
        kept_in: Where it keeps turns (its --turn-log-to), instead of asking it.
    """
    if url:
        from .between import stand_between  # noqa: PLC0415 (the server is needed for nothing else here)

        return stand_between(url, port, dialect, step=step, pieces=pieces)
    case = _given(_source(source, server, api_key, kept_in), dialect, tools, prompt, finish, recover)
    if compare:
        return _compare(case, *compare)
    named = replace(case, dialect=_recognised(case)) if case.dialect == _AUTO else case
    found = explained(named, cases.named(named.dialect))
    if report:
        print(write(brief(replace(named, expect=tuple(describe(found.turn))))), end="")
    elif json:
        print(dump(as_data(named, found), indent=2))
    elif protocol:
        _frames(named, found, protocol)
    else:
        _show(Painter(Console(highlight=False, soft_wrap=False), named, found), step=step, pieces=pieces)
    return 0


def _source(source: str, server: str, key: str, place: str) -> Case:
    """The case of a file, of standard input, or of a turn's id."""
    if source == STDIN or _is_there(source):
        text = read_file(source)
        return read(text, Path(source).name)[0] if is_case(text) else Case(_AUTO, "text", ((text, False),), None)
    if place:
        case = kept(Path(place).expanduser(), source)
        if case is None:
            raise UsageError(f"there is no turn {source!r} in {place}")
        return case
    if "/" in source or "." in source:
        raise UsageError(f"cannot read {source}: there is no such file")
    try:
        return read(fetch(f"{server}/dragoman/turns/{quote(source, safe='')}.txt", key))[0]
    except UsageError as problem:
        raise UsageError(f"there is no file {source!r}, and as the id of a turn it was not found: {problem}") from None


def _is_there(source: str) -> bool:
    try:
        return Path(source).exists()
    except (OSError, ValueError):  # too long for a name, or with a zero in it
        return False


def _given(case: Case, dialect: str, tools: str, prompt: str, finish: str | None, recover: str | None) -> Case:
    """The case, with what the command line says of it."""
    if recover:
        case = replace(case, policy={**case.policy, "recover": recover})
    if tools:
        case = replace(case, tools=cases.as_tools(load(tools)))
    if prompt:
        case = replace(case, prompt=prompt_text(prompt))
    case = replace(case, finish=finish) if finish else case
    return replace(case, dialect=dialect) if dialect else case


def _recognised(case: Case) -> str:
    return cases.Case(case.raw, prompt=case.prompt).whose().name


def _compare(case: Case, one: str, other: str) -> int:
    """What two dialects read; 3 if they differ."""
    turns = [describe(explained(replace(case, dialect=name), api.get(name)).turn) for name in (one, other)]
    for name, lines in zip((one, other), turns, strict=True):
        print(f"{name}\n" + "".join(f"  {mark} {line}\n" for mark, line in _marked(lines, turns)))
    return 0 if turns[0] == turns[1] else 3


def _marked(lines: list[str], turns: list[list[str]]) -> Iterator[tuple[str, str]]:
    shared = set(turns[0]) & set(turns[1])
    return ((" " if line in shared else "*", line) for line in lines)


def _frames(case: Case, found: Explanation, protocol: str) -> None:
    for step, sent in zip(found.steps, frames(case, found, protocol), strict=True):
        if sent:
            print(f"# {dump(step.text)}" if step.text else "# end")
            print(sent.decode("utf-8", "replace").rstrip("\n"))


def _show(painter: Painter, *, step: bool, pieces: bool) -> None:
    if not step:
        painter.whole(pieces=pieces)
        return
    waits = sys.stdin.isatty() and sys.stdout.isatty()
    for _ in painter.steps():
        if waits and not _goes_on():
            return


def _goes_on() -> bool:
    """Whether the reader wants the next piece: Enter, and neither q nor the end of input (Ctrl-D)."""
    try:
        return not input().strip().lower().startswith("q")
    except EOFError:
        print()
        return False
