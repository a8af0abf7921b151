"""Chunks that are alike give what reading them in full gives, however the bytes are cut."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from dragoman.events import Event
from dragoman.protocols import chat, wire
from dragoman.protocols.quick import Quick

HARMLESS = ["a", " word", "Ünï", "🦜", "汉字", "", "{}", "]}", "data: ", " ", "'"]
ODD = ['"', "\\", "\n", "\n\n", "\u00a0", "\u200d", "\t", "\x7f", 'a"b', "<think>", "\ud800", '"}}]}']


def chunk(content: Any, **more: Any) -> dict[str, Any]:
    delta = {"content": content, **more.pop("delta", {})}
    choice = {"index": 0, "delta": delta, "finish_reason": None, **more.pop("choice", {})}
    return {"id": "x", "model": "m", "choices": [choice], **more}


def framed(data: Any, ascii_: bool = False) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=ascii_).encode("utf-8", "surrogatepass") + b"\n\n"


def read(data: bytes, cuts: list[int]) -> list[Event]:
    """All events, with texts that follow each other joined."""
    reader, events = chat.Reader(), list[Event]()
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        events += reader.feed(data[begin:end])
    events += reader.close()
    return events


def in_full(data: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    with monkeypatch.context() as patch:
        patch.setattr(Quick, "texts", lambda *_: None)
        return read(data, [])


@pytest.mark.parametrize("seed", range(60))
def test_it_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    extras: list[dict[str, Any]] = [
        {}, {}, {}, {}, {}, {}, {"timings": {"n": 1}}, {"usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        {"delta": {"role": "assistant"}}, {"delta": {"reasoning_content": "hm"}}, {"choice": {"index": 1}},
        {"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]}},
        {"choice": {"logprobs": {"content": [{"token": "a", "logprob": -1.0}]}}}, {"id": "y"},
    ]  # fmt: skip
    frames = []
    for _ in range(60):
        text = chance.choice(HARMLESS if chance.random() < 0.8 else ODD)
        frames.append(framed(chunk(text, **chance.choice(extras)), ascii_=chance.random() < 0.1))
        if chance.random() < 0.05:
            frames.append(chance.choice([b": ping\n\n", b"\n", b"event: x\n", b"data: {}\r\n\r\n"]))
    frames += [
        framed({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        b"data: [DONE]\n\n",
    ]
    data = b"".join(frames)
    whole = in_full(data, monkeypatch)
    assert read(data, []) == whole
    for count in (1, 5, 200):
        assert read(data, sorted(chance.sample(range(1, len(data)), min(count, len(data) - 1)))) == whole
    assert read(data, list(range(1, len(data)))) == whole


def test_a_cut_costs_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, parsed, load = chat.Reader(), 0, wire.load

    def counting(text: Any) -> Any:
        nonlocal parsed
        parsed += 1
        return load(text)

    reader.feed(framed(chunk("a")))
    monkeypatch.setattr(wire, "load", counting)
    data = framed(chunk("b")) * 1000
    for begin in range(0, len(data), 5000):
        reader.feed(data[begin : begin + 5000])
    assert parsed < 3 * len(data) / 5000
