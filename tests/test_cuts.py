"""A turn that a limit cut says the beginning of what the whole turn says, wherever it was cut, in every dialect.

Half a mark, half a header and half a name are nothing.  Marks that are words, and calls that have no mark, are text
until they are whole.
"""

from __future__ import annotations

import json
import re
from typing import Any

from scenes import for_each

from dragoman import api
from dragoman.cases.signatures import signatures
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Turn

TOOLS = tuple(signatures("ping(), put(path: string, text: string), weather(city: string, days?: integer)").values())
WEATHER = Call("weather", '{"city": "Oslo", "days": 3}')
PUT = Call("put", '{"path": "a.txt", "text": "1 < 2 <b>\\n"}')
PING = Call("ping", "{}")

TURNS = (
    (Reasoning("Need to look."), WEATHER, PUT),
    (Text("Let me look."), WEATHER, PING),
    (Reasoning("Need to look."), Text("It is fine.")),
    (PING,),
)

WORD = re.compile(r"[A-Za-z][A-Za-z :]{0,30}")
BARE = re.compile(r"[\[{\w].{0,80}", re.DOTALL)


def written(name: str) -> list[str]:
    """What this dialect writes of the turns that it can write."""
    found = []
    for parts in TURNS:
        try:
            found.append(api.encode(name, Turn(parts), prompt=_prompt(name)))
        except UsageError:
            continue
    return found


def _prompt(name: str) -> str:
    return api.get(name).begins


def said(name: str, text: str, finish: str) -> Turn:
    return api.decode(name, text, TOOLS, prompt=_prompt(name), finish=finish)


def begins(part: Any, whole: Any) -> bool:
    """Whether a value is the beginning of another."""
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and begins(value, whole[key]) for key, value in part.items())
    return bool(part == whole)


def excess(part: str, whole: str) -> str:
    """What of a text is not the beginning of another."""
    part, whole = part.strip(), whole.strip()
    same = 0
    while same < min(len(part), len(whole)) and part[same] == whole[same]:
        same += 1
    return part[same:].strip()


@for_each
def test_a_cut_turn_says_the_beginning_of_the_whole(name: str):
    bare = api.get(name).gated or not re.match(r"[<\[>]", api.get(name).section or api.get(name).call)
    for raw in written(name):
        whole = said(name, raw, "stop")
        for at in range(len(raw)):
            cut = said(name, raw[:at], "length")
            more = excess(cut.content, whole.content)
            assert not more or WORD.fullmatch(more) or (bare and BARE.fullmatch(more)), raw[:at]
            more = excess(cut.reasoning, whole.reasoning)
            assert not more or WORD.fullmatch(more), raw[:at]
            assert len(cut.calls) <= len(whole.calls), raw[:at]
            for part, call in zip(cut.calls, whole.calls, strict=False):
                assert part.name == call.name, raw[:at]
                assert begins(json.loads(part.arguments + part.missing), json.loads(call.arguments)), raw[:at]
                assert not part.complete or part.arguments == call.arguments, raw[:at]
