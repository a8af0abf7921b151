"""The scripted engine plays exactly what is written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines.base import End, Options, Piece, Prompt, Segment
from dragoman.engines.script import Script
from dragoman.errors import Broken, Refused, RequestError, UsageError
from dragoman.messages import Message, Request, Result, Text, Tool

PROMPT = Prompt((Segment("one two three"),))


def asking(*messages: Message, **more: Any) -> Request:
    return Request(messages=messages, **more)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def result(text: str) -> Message:
    return Message("tool", (Result("c1", (Text(text),)),))


def script(*turns: dict[str, Any], **top: Any) -> Script:
    return Script({**top, "turn": turns})


async def play(engine: Script, request: Request | None = None, **options: Any) -> list[Any]:
    return [item async for batch in engine.stream(PROMPT, Options(**options), request) for item in batch]


def texts(items: list[Any]) -> list[str]:
    return [item.text for item in items if isinstance(item, Piece)]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ("characters", ["H", "i", " ", "y", "o", "u", "!"]),
        ("words", ["Hi", " you", "!"]),
        ("whole", ["Hi you!"]),
        ([3, 1], ["Hi ", "y", "o", "u", "!"]),
    ],
)
async def test_pieces_of_any_size(cut: Any, expected: list[str]) -> None:
    items = await play(script({"output": "Hi you!", "cut": cut}))
    assert texts(items) == expected
    assert items[-1] == End("stop", 3, len(expected))


@pytest.mark.parametrize("text", ["", " ", "a_b-c\n\n  d", "ünïcode 🦜 漢字", '{"a": [1, 2]}\t<x>'])
@pytest.mark.parametrize("cut", ["characters", "words", "whole", [2, 5]])
async def test_nothing_is_lost_by_cutting(text: str, cut: Any) -> None:
    assert "".join(texts(await play(script({"output": [text], "cut": cut})))) == text


async def test_marks_are_special_pieces_of_their_own() -> None:
    items = await play(script({"output": "a<|end|>b<|e|>", "cut": "characters"}, specials={"<|e|>": 7, "<|end|>": 8}))
    assert [(p.text, p.special, tuple(p.ids)) for p in items[:-1]] == [
        ("a", False, ()),
        ("<|end|>", True, (8,)),
        ("b", False, ()),
        ("<|e|>", True, (7,)),
    ]


async def test_marks_can_be_spelled_in_letters() -> None:
    items = await play(script({"output": "<|e|>", "special": False}, specials={"<|e|>": 7}))
    assert len(texts(items)) > 1
    assert not any(item.special for item in items[:-1])


async def test_pieces_that_arrive_together() -> None:
    stream = script({"output": "a b c", "batch": 2}).stream(PROMPT, Options())
    assert [len(batch) async for batch in stream] == [2, 1, 1]


async def test_a_limit_counts_pieces() -> None:
    items = await play(script({"output": "a b c"}), limit=2)
    assert texts(items) == ["a", " b"]
    assert items[-1] == End("length", 3, 2)


async def test_a_limit_that_is_just_met_cuts_nothing() -> None:
    assert (await play(script({"output": "a b"}), limit=2))[-1].reason == "stop"


async def test_the_finish_can_be_written() -> None:
    assert (await play(script({"output": "a", "finish": "length"})))[-1].reason == "length"


@pytest.mark.parametrize(
    ("when", "fits", "misses"),
    [
        ({"user": "(?i)paris"}, asking(user("In PARIS?")), asking(user("Paris"), user("Rome"))),
        ({"tool": "f"}, asking(tools=(Tool("g"), Tool("f"))), asking(tools=(Tool("g"),))),
        ({"tool": True}, asking(tools=(Tool("g"),)), asking()),
        ({"tool": False}, asking(), asking(tools=(Tool("g"),))),
        ({"results": True}, asking(user("x"), result("ok")), asking(result("ok"), user("x"))),
        ({"results": False}, asking(user("x")), asking(user("x"), result("ok"))),
        ({"results": "rain"}, asking(result("rain at 3")), asking(result("sun"))),
        ({"choice": "required"}, asking(choice="required"), asking(choice="name:f")),
        ({"choice": "forced"}, asking(choice="name:f"), asking(choice="auto")),
        ({"limit": 5}, asking(limit=5), asking(limit=6)),
        ({"limit": 5, "choice": "none"}, asking(limit=5, choice="none"), asking(choice="none")),
    ],
)
async def test_rules(when: dict[str, Any], fits: Request, misses: Request) -> None:
    engine = script({"when": when, "output": "yes"}, {"output": "no"})
    assert texts(await play(engine, fits)) == ["yes"]
    assert texts(await play(engine, misses)) == ["no"]


async def test_without_a_request_only_a_turn_without_rules_fits() -> None:
    assert texts(await play(script({"when": {"results": False}, "output": "yes"}, {"output": "no"}))) == ["no"]


async def test_several_outputs_take_turns() -> None:
    engine = script({"output": ["a", "b"]})
    assert [texts(await play(engine)) for _ in range(3)] == [["a"], ["b"], ["a"]]


async def test_no_turn_fits() -> None:
    with pytest.raises(Refused, match="no turn for this request"):
        await play(script({"when": {"tool": True}, "output": "x"}), asking())


async def test_an_error_in_the_middle() -> None:
    engine = script({"output": "a b c", "after": 2, "error": "fire"})
    seen: list[Any] = []
    with pytest.raises(Broken, match="fire"):
        async for batch in engine.stream(PROMPT, Options()):
            seen += batch
    assert texts(seen) == ["a", " b"]
    assert engine.running == 0


async def test_an_error_behind_the_limit_never_comes() -> None:
    items = await play(script({"output": "a b c", "after": 2, "error": "fire"}), limit=1)
    assert items[-1].reason == "length"


async def test_a_stall_lasts_until_somebody_leaves() -> None:
    engine = script({"output": "a b", "stall": True})
    task = asyncio.create_task(play(engine))
    for _ in range(50):
        await asyncio.sleep(0)
    assert (task.done(), engine.running) == (False, 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (task.cancelled(), engine.running) == (True, 0)


async def test_it_remembers_what_it_was_asked() -> None:
    engine, request = script({"output": "a"}), asking(user("x"))
    await play(engine, request, limit=9)
    assert engine.asked == [(PROMPT, Options(limit=9), request)]


async def test_logprobs_on_wish() -> None:
    (piece, _) = await play(script({"output": "é"}), logprobs=1)
    (token,) = piece.logprobs
    assert (token.token, token.bytes, len(token.top)) == ("é", (0xC3, 0xA9), 1)


async def test_a_context_can_overflow() -> None:
    with pytest.raises(RequestError, match=r"2 tokens.* 3 tokens") as caught:
        await play(script({"output": "a"}, context=2))
    assert caught.value.code == "context_length_exceeded"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"turns": []}, "unknown key 'turns'"),
        ({"turn": [{"output": "x"}, {"out": "x"}]}, "turn 2: unknown key 'out'"),
        ({"turn": [{"output": "x", "when": {"users": "x"}}]}, "unknown rule 'users'"),
        ({"turn": [{"output": "x", "when": {"user": "("}}]}, "pattern '\\(' is not valid"),
        ({"turn": [{"output": "x", "cut": "halves"}]}, "not 'halves'"),
        ({"turn": [{"output": "x", "cut": [0]}]}, "sizes of 1 or more"),
        ({"turn": [{"output": "x", "after": 1}]}, "needs an `error`"),
        ({"turn": [{"output": "x", "finish": "tool_calls"}]}, "not 'tool_calls'"),
        ({"turn": [{"output": []}]}, "needs an output"),
    ],
)
def test_mistakes_are_told(data: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Script(data)


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('model = "m"\n[[turn]]\noutput = "x"')
    (tmp_path / "a.json").write_text(json.dumps({"turn": [{"output": "x"}]}))
    assert Script.read(tmp_path / "a.toml").info.name == "m"
    assert Script.read(tmp_path / "a.json", name="n").info.name == "n"


def test_bad_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("= 1")
    with pytest.raises(UsageError, match=r"bad\.toml' is not valid"):
        Script.read(tmp_path / "bad.toml")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        Script.read(tmp_path / "missing.toml")


def test_the_example_is_understood() -> None:
    assert len(Script.read(Path(__file__).parents[2] / "examples" / "script.toml").scenes) == 6
