"""`dragoman decode`: what a model wrote, as a turn, as events, or character by character."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ..cases.read import is_case
from ..cases.read import read as read_cases
from ..errors import DragomanError, UsageError
from ..events import Event, Finish, Notice
from ..messages import Turn
from ..syntax.decode import Policy, fold
from .case import Case, offered
from .files import STDIN, dump, lines, load, read
from .trace import Trace, colourful

__all__ = ["Reason", "decode", "prompt_text"]

Reason = Literal["stop", "length", "filter", "cancelled", "error"]
FOUND = 3


def decode(
    file: str = STDIN,
    /,
    *,
    dialect: Annotated[str, Parameter(alias="-d")] = "auto",
    tools: str = "",
    prompt: str = "",
    finish: Reason = "stop",
    events: bool = False,
    trace: bool = False,
    jsonl: bool = False,
    chunks: int = 0,
    strict: bool = False,
    check: bool = False,
) -> int:
    """Decode what a model wrote, and print the turn as JSON.

    The file is read exactly as it is, with the special tokens in it; of a case file, the first case is read.

    Args:
        file: The raw output; - is standard input.
        dialect: Who wrote it (`dragoman dialects`); auto recognises it by its marks.
        tools: The tools on offer: a JSON file, or JSON itself; a list, or a request with `tools`.
        prompt: The end of the rendered prompt, or @FILE: it may have opened the reasoning.
        finish: Why the engine stopped.
        events: Print the events, one a line.
        trace: Print what became of every character.
        jsonl: Many: each line is an object with `raw`, and `dialect`, `tools`, `prompt`, `finish` where they differ.
        chunks: Feed pieces of so many characters; 0 is all at once.
        strict: Repair nothing.
        check: Exit with 3 if anything was repaired, cut, dropped or doubtful.
    """
    if events + trace + jsonl > 1:
        raise UsageError("--events, --trace and --jsonl exclude each other")
    known = offered(load(tools)) if tools else None
    case = Case("", dialect, known, prompt_text(prompt), finish, Policy(repair=not strict), max(0, chunks))
    if jsonl:
        noticed, failed = _many(case, lines(file))
        return 1 if failed else FOUND if noticed and check else 0
    show = _show_events if events else _show_trace if trace else _show_turn
    noticed = show(_given(case, read(file)))
    return FOUND if noticed and check else 0


def _given(case: Case, text: str) -> Case:
    """The text as it is; of a case file, what its first case says, where the command line says nothing."""
    if not is_case(text):
        return replace(case, raw=text)
    told = read_cases(text)[0]
    return replace(
        case,
        raw=told.raw,
        dialect=told.dialect if case.dialect == "auto" and told.dialect else case.dialect,
        tools=told.tools if case.tools is None else case.tools,
        prompt=case.prompt or told.prompt,
        finish=told.finish if case.finish == "stop" else case.finish,
    )


def prompt_text(prompt: str) -> str:
    """A prompt that is given, or @FILE."""
    return read(prompt[1:]) if prompt.startswith("@") and Path(prompt[1:]).is_file() else prompt


def _show_turn(case: Case) -> bool:
    turn = _turn(case)
    print(dump(turn, indent=2))
    return bool(turn["notices"])


def _show_events(case: Case) -> bool:
    noticed = False
    for event in case.events(case.whose()):
        print(dump(_event(event)))
        noticed |= isinstance(event, Notice)
    return noticed


def _show_trace(case: Case) -> bool:
    trace = Trace()
    events = list(case.events(case.whose(), trace))
    for line in trace.lines(case.raw, colour=colourful()):
        print(line)
    return any(isinstance(event, Notice) for event in events)


def _many(base: Case, source: Iterator[str]) -> tuple[int, int]:
    """A turn for every line, or what is wrong with it; how many had notices, how many were wrong."""
    noticed = failed = 0
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            answer = _turn(base.of(line))
            noticed += bool(answer["notices"])
        except DragomanError as error:
            answer = {"line": number, "error": str(error)}
            failed += 1
        print(dump(answer))
    return noticed, failed


def _turn(case: Case) -> dict[str, Any]:
    dialect = case.whose()
    turn: Turn = fold(case.events(dialect))
    return {
        "dialect": dialect.name,
        "reasoning": turn.reasoning,
        "content": turn.content,
        "calls": [
            {key: getattr(call, key) for key in ("id", "name", "arguments", "complete", "valid", "missing")}
            for call in turn.calls
        ],
        "finish": turn.finish,
        "notices": [asdict(notice) for notice in turn.notices],
    }


def _event(event: Event) -> dict[str, Any]:
    error = {"error": str(event.error)} if isinstance(event, Finish) and event.error else {}
    return {"event": type(event).__name__, **asdict(event), **error}
