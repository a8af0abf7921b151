"""Text that UTF-8 cannot carry, and facts of an engine that nobody knows, in every protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.checks.frames import check_frames, frames
from dragoman.errors import EngineError, RequestError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Reasoning, Usage
from dragoman.messages import Raw, Request
from dragoman.protocols import chat, completions, messages_api, ollama, ollama_generate, responses, wire
from dragoman.syntax.fold import fold

HALF = "\ud83e"
PROTOCOLS: dict[str, Any] = {
    "chat": chat,
    "responses": responses,
    "messages": messages_api,
    "ollama": ollama,
    "generate": ollama_generate,
    "completions": completions,
}
TURN: list[Event] = [
    Usage(3),
    Reasoning(f"a{HALF}"),
    Reasoning(HALF),
    Content(f"b{HALF}", part=1),
    Content(f"{HALF}c", part=1),
    CallStart(0, f"id{HALF}", f"f{HALF}", 2),
    CallArgs(0, f'{{"a{HALF}": "'),
    CallArgs(0, f'{HALF}"}}'),
    CallEnd(0, complete=True, valid=True),
    Content(HALF, part=3),
    Usage(3, 4),
    Finish("stop", stop=f"x{HALF}"),
]
EXTRA = {"timings": {"predicted_ms": 1.5, HALF: HALF}, "annotations": [{"a": 1}], "id": "hidden"}
each = pytest.mark.parametrize("name", PROTOCOLS)


def writer(name: str, **settings: Any) -> tuple[Any, Any, Request]:
    protocol = PROTOCOLS[name]
    request = Request(f"m{HALF}", prompts=(Raw(f"x{HALF}"),) if name == "completions" else ())
    how = protocol.Settings(**settings)
    return protocol.Writer(request, how, answer_id="resp_1", created=7, ids=lambda: "call_1"), how, request


def values(name: str, body: bytes) -> list[Any]:
    """Every frame's value; the bytes are valid UTF-8, without halves."""
    if name in ("ollama", "generate"):
        return [json.loads(line) for line in body.decode("utf-8").splitlines()]
    found = frames(body)
    assert not list(check_frames(found))
    return [frame.json for frame in found if not frame.is_done]


def whole(value: Any) -> None:
    """No string in it is half a character."""
    json.dumps(value, ensure_ascii=False).encode("utf-8")


@pytest.mark.must("S2")
@each
def test_half_a_character_breaks_no_frame(name: str) -> None:
    stream, how, request = writer(name)
    body = b"".join(stream.write([event]) for event in TURN) + stream.close(EXTRA)
    for value in values(name, body):
        whole(value)
    facts: dict[str, Any] = {"answer_id": "resp_1", "created": 7, "ids": lambda: "call_1", "extra": EXTRA}
    whole(json.loads(wire.dump(PROTOCOLS[name].answer([fold(TURN)], request, how, **facts))))


@pytest.mark.must("S2")
@each
@pytest.mark.parametrize(
    "error", [EngineError(f"no{HALF}"), RequestError(f"no{HALF}", param=f"p{HALF}"), OSError(HALF)]
)
def test_half_a_character_breaks_no_error(name: str, error: Exception) -> None:
    stream, _, _ = writer(name)
    for value in values(name, stream.write(TURN[:3]) + stream.error(error)):
        whole(value)
    _, body = PROTOCOLS[name].error(error)
    whole(json.loads(wire.dump(body)))


@pytest.mark.must("L8")
@each
def test_facts_that_nobody_knows_travel_along_and_hide_nothing(name: str) -> None:
    stream, how, request = writer(name)
    extra = {"timings": {"predicted_ms": 1.5}, "annotations": [{"a": 1}], "model": "hidden"}
    last = values(name, stream.write(TURN) + stream.close(extra))
    told = [value["response"] if isinstance(value.get("response"), dict) else value for value in last]
    assert any(value.get("annotations") == [{"a": 1}] for value in told)
    assert all(value.get("model") != "hidden" for value in told)
    facts: dict[str, Any] = {"answer_id": "resp_1", "created": 7, "ids": lambda: "call_1", "extra": extra}
    answer = PROTOCOLS[name].answer([fold(TURN)], request, how, **facts)
    assert answer["annotations"] == [{"a": 1}]
    assert answer["model"] != "hidden"
