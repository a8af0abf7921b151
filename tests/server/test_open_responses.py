"""What the public compliance suite of Open Responses asks, and the life of items as its strictest readers see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from dragoman.checks import check_response, check_responses_stream

from .conftest import Answer, Running, call

Serving = Callable[..., Running]

PATH = "/v1/responses"
TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
TURNS: list[dict[str, Any]] = [
    {"when": {"user": "everything"}, "output": f"<think>Hm.</think>I look.\n{CALL}\n{CALL}"},
    {"when": {"choice": "forced"}, "output": CALL},
    {"when": {"user": "weather", "tool": True, "results": False}, "output": CALL},
    {"output": "Hello there.<|im_end|>"},
]
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@pytest.fixture
def server(serving: Serving) -> Running:
    return serving(*TURNS)


def events(answer: Answer) -> list[dict[str, Any]]:
    assert not check_responses_stream(answer.body)
    found = [json.loads(line[6:]) for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
    for event in found:
        EVENT.validate_python(event)
    return found


async def everything(server: Running) -> list[dict[str, Any]]:
    body = {"input": "everything", "tools": [TOOL], "stream": True, "reasoning": {"summary": "auto"}}
    return events(await call(server, "POST", PATH, json=body))


async def test_r04_output_index_is_the_place_in_the_output(server: Running) -> None:
    found = await everything(server)
    added = [event for event in found if event["type"] == "response.output_item.added"]
    assert [event["output_index"] for event in added] == [0, 1, 2, 3]
    assert [event["item"]["type"] for event in added] == ["reasoning", "message", "function_call", "function_call"]
    output = found[-1]["response"]["output"]
    assert [item["id"] for item in output] == [event["item"]["id"] for event in added]


async def test_r05_items_keep_their_names(server: Running) -> None:
    found = await everything(server)
    for index, item in enumerate(found[-1]["response"]["output"]):
        own = [event for event in found if event.get("output_index") == index]
        ids = {event.get("item_id") or event["item"]["id"] for event in own}
        assert ids == {item["id"]}
        shown = [event["item"] for event in own if "item" in event]
        assert len({(one["type"], one.get("call_id")) for one in shown}) == 1
        prefix = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}[item["type"]]
        assert item["id"].startswith(prefix)
        assert item.get("call_id") != item["id"]


async def test_r06_parts_are_added_before_their_deltas(server: Running) -> None:
    opened: set[tuple[Any, ...]] = set()
    for event in await everything(server):
        for key, added in (("content_index", "content_part"), ("summary_index", "reasoning_summary_part")):
            if key in event:
                place = (event["item_id"], key, event[key])
                assert event[key] == 0
                if event["type"] == f"response.{added}.added":
                    opened.add(place)
                assert place in opened, event
    assert len(opened) == 3


def message(role: str, content: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content}


CASES: dict[str, dict[str, Any]] = {
    "basic text": {"input": [message("user", "Say hello in exactly 3 words.")]},
    "streamed": {"input": [message("user", "Count from 1 to 5.")], "stream": True},
    "system role": {"input": [message("system", "You are a pirate."), message("user", "Say hello.")]},
    "tool call": {"input": [message("user", "What is the weather in Paris?")], "tools": [TOOL]},
    "tool call, streamed": {"input": [message("user", "The weather?")], "tools": [TOOL], "stream": True},
    "several turns": {
        "input": [message("user", "My name is Ada."), message("assistant", "Hello Ada!"), message("user", "My name?")]
    },
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("names", ["openai", "open-responses"])
async def test_r31_the_compliance_suite(server: Running, case: str, names: str) -> None:
    body = {**CASES[case], "responses_names": names}
    answer = await call(server, "POST", PATH, json=body)
    response = events(answer)[-1]["response"] if body.get("stream") else answer.json
    assert not check_response(response, request=body)
    assert Response.model_validate(response).status == "completed"
    kinds = {item["type"] for item in response["output"]}
    assert kinds == ({"function_call"} if "tool" in case else {"message"})


async def test_r31_an_image(server: Running) -> None:
    """Its shape is read; a model that has no eyes says so."""
    parts = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PIXEL}]
    answer = await call(server, "POST", PATH, json={"input": [message("user", parts)]})
    assert answer.status in (200, 400)
    if answer.status == 400:
        assert "image" in answer.json["error"]["message"]
