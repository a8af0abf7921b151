"""The case files `tests/corpus/*.txt`: what a model wrote, and what it meant.

A file is a heading, then cases.  A line that begins with `#` is a comment, blank lines separate.

    vocabulary: <tool_call> </tool_call>         marks that tokenizers of this dialect have as special tokens
    tool: get_weather(city: string, days?: integer)
    tools: get_weather                           what a case offers that does not say it itself
    prompt: "<|im_start|>assistant\\n"            the end of the rendered prompt, likewise

    ==== a title, unique in its file
    # where the case comes from
    tools: get_weather, ping(), plan(items: {"type": "array"}, note: string|null)
    finish: length
    ---- raw
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Os
    ---- expect
    cut get_weather {"city": "Os"}
    finish length

Options of a case

    tools: none | unknown | names of the heading and signatures, any mixed (more lines add up)
    prompt: "JSON string"
    raw: "JSON string"        instead of the block, for text that does not show (more lines add up)
    finish: why the engine ended: stop (default) or length
    policy: recover=strict unknown=text repair=no
    marks: yes                what stands between ⟦ and ⟧ arrives as a special token, everything else as text
    special: no               by rule another result when marks arrive as special tokens: not run that way
    stop: "a stop string"     run through `Generation` (the parser knows no stop strings)
    canonical: yes            `encode` writes exactly this text

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from signatures import signatures

from dragoman.messages import Reasoning, Text, Tool, Turn

FOLDER = Path(__file__).parent / "corpus"

Piece = tuple[str, bool]


class BadCase(Exception):
    """A case file that cannot be read: where, and why."""


@dataclass(frozen=True)
class Case:
    """One case; `lines` is where its expectation stands in the file (first, behind the last)."""

    dialect: str
    title: str
    pieces: tuple[Piece, ...]
    tools: tuple[Tool, ...] | None = ()
    prompt: str = ""
    finish: str = "stop"
    policy: Mapping[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    marks: bool = False
    special: bool = True
    canonical: bool = False
    expect: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] = ()
    lines: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return f"{self.dialect}: {self.title}"

    @property
    def raw(self) -> str:
        """The text, however it comes."""
        return "".join(text for text, _ in self.pieces)


# --- reading


def files() -> list[Path]:
    """All case files."""
    return sorted(FOLDER.glob("*.txt"))


def load(path: Path) -> list[Case]:
    """The cases of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("==== ")]
    heading = _options(path, lines[: starts[0] if starts else None], 0)
    ends = [*starts[1:], len(lines)]
    cases = [_case(path, lines, start, end, heading) for start, end in zip(starts, ends, strict=True)]
    titles = [case.title for case in cases]
    if twice := {title for title in titles if titles.count(title) > 1}:
        raise BadCase(f"{path.name}: these titles stand there twice: {sorted(twice)}")
    return cases


def everything() -> list[Case]:
    """All cases of all files."""
    return [case for path in files() for case in load(path)]


Options = dict[str, list[str]]


def _options(path: Path, lines: Iterable[str], first: int) -> Options:
    found: Options = {}
    for number, line in enumerate(lines, first + 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not colon:
            raise BadCase(f"{path.name}:{number}: not an option: {line!r}")
        found.setdefault(key, []).append(value.strip())
    return found


def _case(path: Path, lines: list[str], start: int, end: int, heading: Options) -> Case:
    title = lines[start].removeprefix("==== ").strip()
    where = f"{path.name}:{start + 1}: {title}"
    try:
        expect_at = lines.index("---- expect", start, end)
    except ValueError:
        raise BadCase(f"{where}: no '---- expect'") from None
    raw_at = lines.index("---- raw", start, expect_at) if "---- raw" in lines[start:expect_at] else expect_at
    own = _options(path, lines[start + 1 : raw_at], start + 1)
    raw = "\n".join(lines[raw_at + 1 : expect_at]) + "".join(map(json.loads, own.pop("raw", [])))
    last = _last(lines, expect_at + 1, end)
    try:
        return _made(path.stem, title, raw, heading, own, tuple(lines[expect_at + 1 : last]), (expect_at + 1, last))
    except (ValueError, KeyError) as error:
        raise BadCase(f"{where}: {error}") from error


def _last(lines: list[str], start: int, end: int) -> int:
    """The expectation ends at a blank line, a comment or the next case."""
    return next((i for i in range(start, end) if not lines[i] or lines[i].startswith("#")), end)


def _made(
    dialect: str, title: str, raw: str, heading: Options, own: Options, expect: tuple[str, ...], lines: tuple[int, int]
) -> Case:
    known = {name: signature for line in heading.get("tool", ()) for name, signature in signatures(line).items()}
    marks = own.pop("marks", ["no"]) == ["yes"]
    case = Case(
        dialect,
        title,
        tuple(_pieces(raw)) if marks else ((raw, False),),
        _tools(own.pop("tools", heading.get("tools", ["none"])), known),
        "".join(map(json.loads, own.pop("prompt", heading.get("prompt", [])))),
        own.pop("finish", ["stop"])[0],
        _policy(own.pop("policy", [])),
        tuple(map(json.loads, own.pop("stop", []))),
        marks,
        own.pop("special", ["yes"]) == ["yes"],
        own.pop("canonical", ["no"]) == ["yes"],
        expect,
        tuple(word for line in heading.get("vocabulary", ()) for word in line.split(" ")),
        lines,
    )
    if own:
        raise ValueError(f"unknown options {sorted(own)}")
    for line in expect:
        expected(line)
    return case


def _pieces(raw: str) -> Iterator[Piece]:
    for i, text in enumerate(re.split("⟦(.*?)⟧", raw, flags=re.DOTALL)):
        if text:
            yield text, bool(i % 2)


def _policy(lines: list[str]) -> dict[str, Any]:
    words = dict(word.split("=") for line in lines for word in line.split())
    return {key: value == "yes" if key == "repair" else value for key, value in words.items()}


# --- tools


def _tools(lines: list[str], known: Mapping[str, Tool]) -> tuple[Tool, ...] | None:
    if lines == ["unknown"]:
        return None
    if lines == ["none"]:
        return ()
    named = {name: tool for line in lines for name, tool in signatures(line, known).items()}
    return tuple(named.values())


# --- comparing


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


# --- writing


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


def update(path: Path, found: Mapping[str, list[str]]) -> None:
    """Rewrite the expectations of the cases with these titles."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for case in reversed(load(path)):
        if case.title in found:
            lines[slice(*case.lines)] = found[case.title]
    path.write_text("\n".join(lines), encoding="utf-8")
