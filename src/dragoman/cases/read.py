r"""Reads case files: what a model wrote, and what it meant.  The corpus of tests is made of them, and so is the turn log.

A file is a heading, then cases.  A line that begins with `#` is a comment, blank lines separate.

    dialect: hermes-json                         who wrote them; without it the file's name says so
    vocabulary: <tool_call> </tool_call>         marks that tokenizers of this dialect have as special tokens
    tool: get_weather(city: string, days?: integer)
    tools: get_weather                           what a case offers that does not say it itself
    prompt: "<|im_start|>assistant\n"            the end of the rendered prompt, likewise

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

    tools: none | unknown | names of the heading and signatures, any mixed | a tool as JSON (more lines add up)
    prompt: "JSON string"
    raw: "JSON string"        instead of the block, for text that does not show (more lines add up)
    finish: why the engine ended: stop (default) or length
    policy: recover=strict unknown=text repair=no
    marks: yes                what stands between ⟦ and ⟧ arrives as a special token, everything else as text
    special: no               by rule another result when marks arrive as special tokens: not run that way
    stop: "a stop string"     run through `Generation` (the parser knows no stop strings)
    parallel: no              the turn ends after its first call
    canonical: yes            `encode` writes exactly this text
    path: /v1/responses       where a recorded request went

Blocks of a recorded turn, before `---- expect`

    ---- pieces               instead of raw: seconds, the text as JSON, `special`, token ids
    0.213 "<tool_call>" special 151657
    ---- request              the request's JSON
    ---- frames               what was sent: seconds, the text as JSON

What is expected: see `cases.expect`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..messages import Tool
from ..syntax.decode import REASONS, Policy
from .case import BadCase, Case, Moment, Piece
from .expect import expected
from .signatures import signatures

__all__ = ["is_case", "load", "read"]

Options = dict[str, list[str]]
_BLOCKS = ("raw", "pieces", "request", "frames", "expect")


def load(path: Path) -> list[Case]:
    """The cases of a file.

    Raises:
        BadCase: it cannot be read; the message names the line or the case.
    """
    return read(path.read_text(encoding="utf-8", errors="surrogateescape"), path.name)


def is_case(text: str) -> bool:
    """Whether a text is a case file, and not something that a model wrote."""
    return bool(re.search(r"^==== .+\n(?:.*\n)*?---- (?:raw|pieces|expect)$", text, re.MULTILINE))


def read(text: str, name: str = "") -> list[Case]:
    """The cases of a text; `name` is that of its file: `hermes-json.txt`."""
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("==== ")]
    heading = _options(name, lines[: starts[0] if starts else None], 0)
    heading.setdefault("dialect", [name.removesuffix(".txt")])
    ends = [*starts[1:], len(lines)]
    cases = [_case(name, lines, start, end, heading) for start, end in zip(starts, ends, strict=True)]
    titles = [case.title for case in cases]
    if twice := {title for title in titles if titles.count(title) > 1}:
        raise BadCase(f"{name}: these titles stand there twice: {sorted(twice)}")
    return cases


def _options(name: str, lines: Iterable[str], first: int) -> Options:
    found: Options = {}
    for number, line in enumerate(lines, first + 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not colon:
            raise BadCase(f"{name}:{number}: not an option: {line!r}")
        found.setdefault(key, []).append(value.strip())
    return found


def _case(name: str, lines: list[str], start: int, end: int, heading: Options) -> Case:
    title = lines[start].removeprefix("==== ").strip()
    where = f"{name}:{start + 1}: {title}"
    marks = _blocks(lines, start, end)
    if "expect" not in marks:
        raise BadCase(f"{where}: no '---- expect'")
    head = lines[start + 1 : min(marks.values())]
    own = _options(name, head, start + 1)
    facts = tuple(line[1:].strip() for line in head if line.startswith("#"))
    first = marks["expect"] + 1
    last = _last(lines, first, end)
    try:
        return _made(title, _bodies(lines, marks), heading, own, facts, tuple(lines[first:last]), (first, last))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as error:
        raise BadCase(f"{where}: {error}") from error


def _blocks(lines: list[str], start: int, end: int) -> dict[str, int]:
    """Where each block begins; text that a model wrote may look like a beginning, so each counts once and in order."""
    found: dict[str, int] = {}
    for number in range(start, end):
        name = lines[number].removeprefix("---- ")
        if name != lines[number] and name in _BLOCKS and name not in found:
            found[name] = number
        if "expect" in found:
            break
    return found


def _bodies(lines: list[str], marks: Mapping[str, int]) -> dict[str, list[str]]:
    edges = sorted(marks.values())
    nexts = dict(itertools.pairwise(edges))
    return {name: lines[at + 1 : nexts[at]] for name, at in marks.items() if at in nexts}


def _last(lines: list[str], start: int, end: int) -> int:
    """The expectation ends at a blank line, a comment or the next case."""
    return next((i for i in range(start, end) if not lines[i] or lines[i].startswith("#")), end)


def _made(
    title: str,
    bodies: Mapping[str, list[str]],
    heading: Options,
    own: Options,
    facts: tuple[str, ...],
    expect: tuple[str, ...],
    lines: tuple[int, int],
) -> Case:
    known = {name: signature for line in heading.get("tool", ()) for name, signature in signatures(line).items()}
    marks = own.pop("marks", ["no"]) == ["yes"]
    pieces, moments = _told(bodies, own.pop("raw", []), marks=marks)
    case = Case(
        own.pop("dialect", heading["dialect"])[0],
        title,
        pieces,
        _tools(own.pop("tools", heading.get("tools", ["none"])), known),
        "".join(map(_text, own.pop("prompt", heading.get("prompt", [])))),
        _finish(own.pop("finish", ["stop"])[0]),
        _policy(own.pop("policy", [])),
        tuple(map(_text, own.pop("stop", []))),
        marks,
        own.pop("special", ["yes"]) == ["yes"],
        own.pop("canonical", ["no"]) == ["yes"],
        vocabulary=_words(own.pop("vocabulary", heading.get("vocabulary", []))),
        lines=lines,
        moments=moments,
        path=own.pop("path", [""])[0],
        parallel=own.pop("parallel", ["yes"]) == ["yes"],
        request="\n".join(bodies.get("request", ())),
        frames=tuple(map(_frame, bodies.get("frames", ()))),
        facts=facts,
        expect=expect,
    )
    if own:
        raise ValueError(f"unknown options {sorted(own)}")
    for line in expect:
        expected(line)
    return case


def _told(
    bodies: Mapping[str, list[str]], quoted: list[str], *, marks: bool
) -> tuple[tuple[Piece, ...], tuple[Moment, ...]]:
    """What the model wrote: as pieces, or as a text."""
    if "pieces" in bodies:
        found = [_piece(line) for line in bodies["pieces"]]
        return tuple(piece for piece, _ in found), tuple(moment for _, moment in found)
    raw = "\n".join(bodies.get("raw", ())) + "".join(map(_text, quoted))
    return (tuple(_marked(raw)) if marks else ((raw, False),)), ()


_DECODER = json.JSONDecoder()


def _text(value: str) -> str:
    """A text in quotes."""
    return _is_text(json.loads(value))


def _is_text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(f"a text in quotes is expected, not {found!r:.80}")
    return found


def _finish(reason: str) -> str:
    if reason not in REASONS:
        raise ValueError(f"finish {reason!r:.80}: use one of {', '.join(REASONS)}")
    return reason


def _piece(line: str) -> tuple[Piece, Moment]:
    seconds, _, rest = line.partition(" ")
    text, end = _DECODER.raw_decode(rest)
    words = rest[end:].split()
    ids = tuple(int(word) for word in words if word != "special")
    return (_is_text(text), "special" in words), Moment(float(seconds), ids)


def _frame(line: str) -> tuple[float, str]:
    seconds, _, text = line.partition(" ")
    return float(seconds), _text(text)


def _marked(raw: str) -> Iterator[Piece]:
    for i, text in enumerate(re.split("⟦(.*?)⟧", raw, flags=re.DOTALL)):
        if text:
            yield text, bool(i % 2)


def _words(lines: Sequence[str]) -> tuple[str, ...]:
    """Words, or JSON strings where a mark has blanks in it."""
    found = (word for line in lines for word in (json.loads(line) if line.startswith('["') else line.split(" ")))
    return tuple(map(_is_text, found))


def _policy(lines: list[str]) -> dict[str, Any]:
    words = dict(word.split("=") for line in lines for word in line.split())
    if strange := set(words) - {"recover", "unknown", "repair"}:
        raise ValueError(f"unknown policies {sorted(strange)}")
    policy: dict[str, Any] = {key: value == "yes" if key == "repair" else value for key, value in words.items()}
    Policy(**policy)  # it refuses what it does not know
    return policy


def _tools(lines: list[str], known: Mapping[str, Tool]) -> tuple[Tool, ...] | None:
    if lines == ["unknown"]:
        return None
    if lines == ["none"]:
        return ()
    named = {tool.name: tool for line in lines for tool in _line_tools(line, known)}
    return tuple(named.values())


def _line_tools(line: str, known: Mapping[str, Tool]) -> Iterable[Tool]:
    if line.startswith("{"):
        return (_tool(json.loads(line)),)
    return signatures(line, known).values()


def _tool(told: Any) -> Tool:
    tool = Tool(**told)
    if not all(isinstance(text, str) for text in (tool.name, tool.description)):
        raise TypeError("the name of a tool and its description are texts")
    if not isinstance(tool.parameters, Mapping):
        raise TypeError(f"the parameters of {tool.name} are no object")
    return tool
