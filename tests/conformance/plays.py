"""What the scripted model answers to the clients: the same turns in any dialect, chosen by the word that the user says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dragoman import Turn, api, encode
from dragoman.messages import Call, Reasoning, Text

GREETING = 'Grüße, 世界 👋: a "quoted" \\word\\\n\n- and </a> list'
THOUGHT = "The user asks for\nthe answer to everything 🤔."
ANSWER = "It is 42."
LOOKED = "I will look that up."
PARIS, OSLO = "Paris", 'Oslo "Ø" 🏔'
FORECAST = "Sunny in Paris, snow in Oslo."
LONG = " ".join(f"word{number}" for number in range(400))
PERSON = {"name": "Ada Lovelace", "age": 36, "tags": ["math", "poetry"]}
FIRE = "the machine caught fire"
STEPS = 24
PATCH = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n"

Scene = dict[str, Any]


def call(name: str, /, **arguments: Any) -> Call:
    return Call(name, json.dumps(arguments, ensure_ascii=False))


def weather(*cities: str) -> tuple[Call, ...]:
    return tuple(call("get_weather", city=city) for city in cities)


def script(dialect: str, *before: Scene, **settings: Any) -> dict[str, Any]:
    """A script for `Script`; the scenes `before` come first."""
    return {"model": "demo", "dialect": dialect, "turn": [*before, *scenes(dialect)], **settings}


def scene(dialect: str, *parts: Any, when: Scene | None = None, **settings: Any) -> Scene:
    """What a model writes for these parts, in its dialect, with the mark that ends its turn."""
    written = encode(dialect, Turn(tuple(Text(part) if isinstance(part, str) else part for part in parts)))
    mark = "" if any(written.endswith(end) for end in api.get(dialect).ends) else api.get(dialect).ends[0]
    return {"output": written + mark, "when": when or {}, **settings}


def scenes(dialect: str) -> Iterator[Scene]:
    def says(word: str, *parts: Any, **settings: Any) -> Scene:
        return scene(dialect, *parts, when={"user": word, "results": False}, **settings)

    yield says("^plain", GREETING)
    yield says("^think", Reasoning(THOUGHT), ANSWER)
    yield says("^weather", Reasoning(THOUGHT), LOOKED, *weather(PARIS, OSLO))
    yield says("^one", *weather(PARIS))
    yield says("^nothing", call("refresh"))
    yield says("^cut", LONG)
    yield says("^half", *weather(PARIS, LONG))
    yield says("^break", LONG, after=20, error=FIRE)
    yield says("^stall", LONG, after=20, stall=True)
    yield says("^person", json.dumps(PERSON))
    yield says("^loop", call("step", number=1))
    yield says("^patch", call("apply_patch", input=PATCH))
    for number in range(1, STEPS):
        yield scene(dialect, call("step", number=number + 1), when={"results": rf"^done {number}$"})
    yield scene(dialect, f"All {STEPS} steps are done.", when={"results": rf"^done {STEPS}$"})
    yield scene(dialect, Reasoning("Both are here."), FORECAST, when={"results": "sun|snow"})
    yield scene(dialect, "It is done.", when={"results": True})
    yield scene(dialect, "A title", when={"user": "(?i)title"})
    yield scene(dialect, "I do not know that play.")
