"""Templates that nobody has ever written: `learn` refuses one with a reason, or reads and writes all it has shown, and more."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from functools import cache
from random import Random
from typing import Any

import pytest
from inventedtemplates import Invented

from dragoman.errors import UsageError
from dragoman.messages import Tool, Turn
from dragoman.syntax.decode import decode
from dragoman.syntax.definition import dump, load
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode
from dragoman.syntax.learn import learn, reads, show, written

SOME, MANY = range(120), range(1000, 3000)
SCALARS: tuple[Any, ...] = (
    0, 7, -3, 1.5, True, False, None, "Oslo", "two words", "a, b: c", "x=1; y", "Ünïcode ✓", "{not json}", "12", "true",
    "null", "C:\\dir", "it's", "<b>bold</b> & co", "a\nb", " padded ", "", "longer, with commas. And dots.",
)  # fmt: skip
KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


@cache
def learnt(seed: int) -> Dialect | str:
    """What is learnt, or why it is not."""
    try:
        return learn(Invented(seed))
    except UsageError as problem:
        return str(problem)


def check(seed: int) -> None:
    dialect = learnt(seed)
    if isinstance(dialect, str):
        assert len(dialect) > 20
        return
    for probe in show(Invented(seed)):
        assert reads(dialect, probe), probe
        assert written(dialect, probe) is not None, probe
    loaded = load(dump(dialect))
    assert plain(loaded) == plain(dialect)
    random = Random(seed)
    for _ in range(4):
        reads_what_was_never_shown(Invented(seed), loaded, random)


def reads_what_was_never_shown(render: Invented, dialect: Dialect, random: Random) -> None:
    calls = [
        (random.choice(("look_up", "f.g", "get-x")) + str(at), arguments(random)) for at in range(random.randrange(3))
    ]
    text, thought = random.choice(("", "Let me look.", "Two\n\nparagraphs, here.")), random.choice(("", "I think so."))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text if calls else text or "Hi.",
        "reasoning_content": thought,
    }
    message["tool_calls"] = [
        {"id": f"id{at}", "function": {"name": name, "arguments": given}} for at, (name, given) in enumerate(calls)
    ]
    shown = render([{"role": "user", "content": "Qu3stion"}, message]).partition("Qu3stion")[2]
    raw = shown[shown.index(dialect.begins) + len(dialect.begins) :]
    tools = [Tool(name, parameters={"properties": schema(given)}) for name, given in calls]
    turn = decode(dialect, raw, tools, prompt=dialect.begins)
    assert called(turn) == calls, raw
    assert turn.content.strip() == message["content"], raw
    assert turn.reasoning.strip() == (thought if thought in raw else ""), raw
    again = decode(dialect, encode(dialect, turn, prompt=dialect.begins), tools, prompt=dialect.begins)
    assert called(again) == calls


def called(turn: Turn) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.calls]


def arguments(random: Random) -> dict[str, Any]:
    return {random.choice(("city", "days", "query", "opts")): value(random) for _ in range(random.randrange(4))}


def value(random: Random, depth: int = 2) -> Any:
    kind = random.randrange(6) if depth else 0
    if kind == 4:
        return [value(random, depth - 1) for _ in range(random.randrange(3))]
    if kind == 5:
        return {random.choice("abcdef"): value(random, depth - 1) for _ in range(random.randrange(3))}
    return random.choice(SCALARS)


def schema(given: dict[str, Any]) -> dict[str, Any]:
    return {key: {"type": KINDS.get(type(value), "null")} for key, value in given.items()}


def plain(value: Any) -> Any:
    """A dialect as values that can be compared: codecs by what they were made with."""
    if isinstance(value, dict | tuple | list | str | bool | int | None):
        return value
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return type(value).__name__, vars(value) if hasattr(value, "encode") else str(value)


@pytest.mark.parametrize("seed", SOME)
def test_an_invented_template(seed: int):
    check(seed)


def test_nine_of_ten_are_learnt():
    assert sum(isinstance(learnt(seed), Dialect) for seed in SOME) > 0.9 * len(SOME)


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY)
def test_many_invented_templates(seed: int):
    check(seed)
