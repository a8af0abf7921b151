"""What a case expects, and how a turn differs from it.

What is expected, in order; neighbours of one kind are joined with a newline, text is compared after strip

    reasoning "..."           text "..."           text:final "..." (with its phase)
    exact "..."               the content, to the last blank
    call NAME VALUE           complete and valid; id=... may stand after the name
    bad NAME = "..."          complete, not valid: the arguments verbatim
    cut NAME VALUE            not complete: the value of the arguments with what is missing
    finish REASON
    notices none | some | codes in any order (without the line nothing is said about them)

After any call kind, `= "..."` compares the arguments verbatim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..messages import Reasoning, Text, Turn
from .case import Case

__all__ = ["Line", "describe", "expected", "plain", "problems", "same_json", "same_parts"]


@dataclass(frozen=True)
class Line:
    """One line of an expectation, or what a turn has in its place (calls: `value` is the JSON text)."""

    kind: str
    value: Any
    name: str = ""
    id: str = ""
    phase: str = ""
    verbatim: bool = False


_CALL = re.compile(r"(call|bad|cut) (\S+)(?: id=(\S+))? (= )?(.*)", re.DOTALL)


def expected(line: str) -> Line:
    """A line of an expectation, read."""
    if match := _CALL.fullmatch(line):
        kind, name, own, verbatim, value = match.groups()
        json.loads(value)
        return Line(kind, json.loads(value) if verbatim else value, name, own or "", verbatim=bool(verbatim))
    kind, _, value = line.partition(" ")
    if kind in ("finish", "notices"):
        return Line(kind, value)
    kind, _, phase = kind.partition(":")
    if kind not in ("reasoning", "text", "exact"):
        raise ValueError(f"not an expectation: {line!r}")
    return Line(kind, json.loads(value), phase=phase)


def problems(case: Case, turn: Turn) -> list[str]:
    """How a turn differs from what the case expects; empty if it does not."""
    lines = [expected(line) for line in case.expect]
    said = [f"content: {turn.content!r}" for x in lines if x.kind == "exact" and x.value != turn.content]
    said += [f"finish: {turn.finish}" for x in lines if x.kind == "finish" and x.value != turn.finish]
    said += [f"notices: {_codes(turn)}" for x in lines if x.kind == "notices" and not _noted(x.value, turn)]
    wanted = [line for line in lines if line.kind not in ("finish", "notices")]
    found = list(_lines(turn, phases=any(line.phase for line in wanted)))
    if len(wanted) != len(found) or not all(map(_agrees, wanted, found)):
        said.append("\n".join(["it says", *describe(turn)]))
    return said


def _agrees(wanted: Line, found: Line) -> bool:
    kind = "text" if wanted.kind == "exact" else wanted.kind
    if (kind, wanted.name, wanted.phase, wanted.id) != (found.kind, found.name, found.phase, wanted.id and found.id):
        return False
    if kind in ("text", "reasoning"):
        return bool(wanted.value.strip() == found.value)
    whole, missing = found.value
    return bool(wanted.value == whole) if wanted.verbatim else same_json(wanted.value, whole + missing)


def _lines(turn: Turn, *, phases: bool) -> Iterator[Line]:
    """What a turn says, neighbours of one kind joined, nothing for blanks."""
    found: list[Line] = []
    for line in _parts(turn, phases=phases):
        before = found[-1] if found else None
        if before and before.kind in ("text", "reasoning") and (before.kind, before.phase) == (line.kind, line.phase):
            found[-1] = Line(line.kind, before.value + "\n" + line.value, phase=line.phase)
        else:
            found.append(line)
    return iter(found)


def _parts(turn: Turn, *, phases: bool) -> Iterator[Line]:
    for part in turn.parts:
        if isinstance(part, Text | Reasoning):
            kind = "text" if isinstance(part, Text) else "reasoning"
            phase = part.phase if phases and isinstance(part, Text) else ""
            if part.text.strip():
                yield Line(kind, part.text.strip(), phase=phase)
        else:
            kind = "cut" if not part.complete else "call" if part.valid else "bad"
            yield Line(kind, (part.arguments, part.missing), part.name, part.id)


def same_parts(one: Turn, other: Turn) -> bool:
    """Whether two turns say the same: text after strip, arguments as JSON values."""
    phases = all(part.phase for turn in (one, other) for part in turn.parts if isinstance(part, Text))
    ours, theirs = (list(_lines(turn, phases=phases)) for turn in (one, other))
    return len(ours) == len(theirs) and all(map(_same_line, ours, theirs))


def _same_line(one: Line, other: Line) -> bool:
    if one.kind != "call" or other.kind != "call":
        return one == other
    return one.name == other.name and same_json("".join(one.value), "".join(other.value))


def _codes(turn: Turn) -> str:
    return " ".join(sorted({notice.code for notice in turn.notices})) or "none"


def _noted(wanted: str, turn: Turn) -> bool:
    codes = _codes(turn)
    return {"none": codes == "none", "some": codes != "none"}.get(wanted, sorted(wanted.split()) == codes.split())


def same_json(one: str, other: str) -> bool:
    """Whether two JSON texts have the same value (`1` is `1.0`, but not `true`)."""
    try:
        return bool(plain(json.loads(one)) == plain(json.loads(other)))
    except ValueError:
        return False


def plain(value: Any) -> Any:
    """A JSON value for which equal means equal."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return ("bool", value) if isinstance(value, bool) else value


def describe(turn: Turn) -> list[str]:
    """The lines that expect this turn."""
    lines = _lines(turn, phases=any(isinstance(part, Text) and part.phase for part in turn.parts))
    return [*map(_written, lines), f"finish {turn.finish}", f"notices {_codes(turn)}"]


def _written(line: Line) -> str:
    if line.kind in ("text", "reasoning"):
        return f"{line.kind}{':' * bool(line.phase)}{line.phase} {_quoted(line.value)}"
    head = f"{line.kind} {line.name}" + f" id={line.id}" * bool(line.id)
    whole, missing = line.value
    try:
        return f"{head} {json.dumps(json.loads(whole + missing), ensure_ascii=False)}"
    except ValueError:
        return f"{head} = {_quoted(whole)}"


def _quoted(text: str) -> str:
    """JSON that stays on one line of a UTF-8 file."""
    shown = json.dumps(text, ensure_ascii=False)
    return shown if shown.isprintable() else json.dumps(text)
