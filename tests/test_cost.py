"""Promise P3, counted instead of timed: eight times the text costs at most nine times the work.

Counted are the calls into C (each search, each slice of a string through a method) and the characters that a parser
still holds when it is fed, which is what a search may look at and what an append has to copy.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest
from garble import TOOLS, atoms, kinds, marks_of
from hypothesis import given
from hypothesis import strategies as st
from scenes import LONG, examples
from streams import Setting

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Turn

SMALL, TIMES, MOST = 4_000 if LONG else 600, 8, 9
PIECE = 6

CALLERS = [name for name in (api.names() if LONG else kinds(api.names())) if api.get(name).call]

for_each = pytest.mark.parametrize("name", CALLERS)


QUOTE = re.compile(r"""(<[^<]*>|["'])\Z""")


@dataclass
class Cost:
    """What a turn cost: calls into C, characters held when something was fed, and the most that were held."""

    calls: int = 0
    held: int = 0
    most: int = 0


def cost(setting: Setting, text: str) -> Cost:
    found = Cost()

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        found.calls += event == "c_call"

    parser = setting.parser()
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    before = sys.getprofile()
    for piece in pieces:
        sys.setprofile(count)
        try:
            parser.feed(piece)
        finally:
            sys.setprofile(before)
        held = len(parser._reader.buf) - parser._reader.pos
        found.held += held
        found.most = max(found.most, held)
    sys.setprofile(count)
    try:
        parser.close("length")
    finally:
        sys.setprofile(before)
    return found


def growth(setting: Setting, before: str, unit: str, after: str, size: int = SMALL) -> str:
    """What grows faster than the text, "" if nothing does."""
    count = max(size // len(unit), 4)
    small = cost(setting, before + unit * count + after)
    large = cost(setting, before + unit * (count * TIMES) + after)
    if large.calls > MOST * small.calls + 100:
        return f"calls: {small.calls} -> {large.calls}"
    if large.held > MOST * small.held + TIMES * size:
        return f"held: {small.held} -> {large.held}"
    return ""


def grows(setting: Setting, before: str, unit: str, after: str = "") -> str:
    """The same, asked again with a longer text: up to `LONGEST` characters may wait, which tilts a short one."""
    return growth(setting, before, unit, after) and growth(setting, before, unit, after, 5 * SMALL)


def none_grows(setting: Setting, places: Iterable[tuple[str, str]], units: Iterable[str]) -> None:
    found = {}
    for before, after in places:
        for unit in units:
            if grown := grows(setting, before, unit, after):
                found[before, unit, after] = grown
    assert not found


def some(name: str, units: Sequence[str]) -> Sequence[str]:
    """A third of them, another one for each neighbour in the list of dialects; all of them in the long mode."""
    return units if LONG else units[CALLERS.index(name) % 3 :: 3]


# --- where the text goes


def places(name: str) -> dict[str, tuple[str, str]]:
    """What stands before and behind a repeated text: in the answer, in a thought, in each kind of argument."""
    dialect = api.get(name)
    phase = "final" if dialect.frame and "final" in dialect.frame.channels else ""
    made: dict[str, Turn] = {"content": Turn((Text("@", phase),))}
    if dialect.reasoning:
        made["reasoning"] = Turn((Reasoning("@"),))
    values = {
        "string": {"path": "@"}, "list": {"list": ["@"]}, "object": {"obj": {"k": "@"}}, "key": {"@": 1},
        "second string": {"n": 1, "path": "@"},
    }  # fmt: skip
    for place, value in values.items():
        made[place] = Turn((Call("put", json.dumps(value)),), "tool_calls")
    found = {}
    for place, turn in made.items():
        try:
            before, _, after = api.encode(name, turn, prompt=dialect.begins).partition("@")
        except UsageError:
            continue  # a key that is no name, where keys are names
        found[place] = (before, after)
        if LONG or place in ("reasoning", "string", "list"):
            found[f"{place}, open"] = (before, "")
    found["bare value"] = (re.sub(QUOTE, "", found["list"][0]), "")
    return found


UNITS = (
    "word ", "<", "< ", "`", "```\n", " ", "\n", " \n", "{", "[", "(", "\\", '"', "'", ",", ":", "a,b:c,", "x=", "|", "\\u00e9",
    '{"name": "put", ', "https://a.b/c,d:e ", "\ttext\n", "a" * 50, "thought\n", "\r\n", "1", "[1,", '{"a":', "&lt;", "{}",
)  # fmt: skip


@for_each
def test_p3_repeated_fragments(name: str):
    none_grows(Setting(api.get(name), TOOLS, api.get(name).begins), places(name).values(), some(name, UNITS))


@for_each
def test_p3_repeated_marks(name: str):
    """Every mark, alone and with words around it."""
    dialect = api.get(name)
    units = [unit for mark in marks_of(dialect) for unit in (mark, f"x{mark[:-1]} y\n{mark} ")]
    where = places(name)
    chosen = [where[key] for key in ("content", "reasoning", "string", "list, open") if key in where]
    none_grows(Setting(dialect, TOOLS, dialect.begins), chosen, some(name, units))


@for_each
def test_p3_openers_of_calls_that_never_come(name: str):
    dialect = api.get(name)
    written = api.encode(name, Turn((Call("put", '{"path": "x"}'),), "tool_calls"), prompt=dialect.begins)
    units = [written[: max(1, len(written) * share // 8)] + "\n" for share in range(1, 9)]
    units += [unit.replace("put", "nope") for unit in units]
    chosen = [value for key, value in places(name).items() if key in ("content", "reasoning, open")]
    for tools in (TOOLS, None, ()):
        none_grows(Setting(dialect, tools, dialect.begins), chosen, some(name, units))


@for_each
def test_p3_any_repetition(name: str):
    dialect = api.get(name)
    where = st.sampled_from(sorted(places(name).values()))

    @examples(20)
    @given(st.lists(st.sampled_from(atoms(dialect)), min_size=1, max_size=4).map("".join).filter(bool), where)
    def check(unit, place):
        assert not grows(Setting(dialect, TOOLS, dialect.begins), place[0], unit, place[1])

    check()


# --- P4: what waits


@for_each
def test_p4_prose_leaves_at_once(name: str):
    """Without a mark in it, nothing of a text is held but white space at its end."""
    dialect = api.get(name)
    before, _ = places(name)["content"]
    parser = Setting(dialect, TOOLS, dialect.begins).parser()
    parser.feed(before)
    for word in ("Once upon", " a", " time,", " 3 < 4", " and", " so", " on.", "\n", "Then"):
        said = "".join(event.text for event in parser.feed(word) if hasattr(event, "text"))
        assert said.strip() == word.strip(), word


# A call that begins with a word, or a bare one in Python, waits until it is sure.
LIVE = [name for name in CALLERS if not api.get(name).call[0].isalnum() and name != "gemma3-pythonic"]


@pytest.mark.parametrize("name", LIVE)
def test_p4_arguments_leave_at_once(name: str):
    dialect = api.get(name)
    before, _ = places(name)["string"]
    parser = Setting(dialect, TOOLS, dialect.begins).parser()
    parser.feed(before)
    for word in ("Once", " upon", " a", " time"):
        said = "".join(event.json for event in parser.feed(word) if hasattr(event, "json"))
        assert said.endswith(word), word


def waits(name: str) -> Iterator[tuple[str, Callable[[int], str]]]:
    yield "white space", lambda n: "x" + " " * n
    yield "newlines", lambda n: "x" + "\n" * n
    for mark in marks_of(api.get(name)):
        yield f"beginnings of {mark!r}", lambda n, mark=mark: ("x" + mark[:-1]) * (n // len(mark) + 1)


@for_each
def test_p4_the_most_that_waits_in_content(name: str):
    dialect = api.get(name)
    before, _ = places(name)["content"]
    for what, text in waits(name):
        found = cost(Setting(dialect, TOOLS, dialect.begins), before + text(4000))
        assert found.most <= 256 + max(map(len, marks_of(dialect))), what
