"""A Responses stream in readable lines, each event held against the official client's types on the way."""

from __future__ import annotations

import json
from typing import Any, get_args

from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.responses import Response, ResponseStreamEvent

from dragoman.protocols import sse

KINDS = {get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(get_args(ResponseStreamEvent)[0])}


def events(body: bytes) -> list[dict[str, Any]]:
    """The JSON of all data lines but the last mark."""
    reader = sse.Reader()
    messages = [*reader.feed(body), *reader.close()]
    return [json.loads(message.data) for message in messages if message.data != "[DONE]"]


def lines(body: bytes) -> list[str]:
    """One line for each frame: its type without the common beginning, its index, and what it says.

    created in_progress | output_item.added 0 message | output_text.delta 0 'text' | completed | done
    """
    reader = sse.Reader()
    return [_line(message) for message in [*reader.feed(body), *reader.close()]]


def brief(body: bytes) -> list[str]:
    """The same, only what opens an item, its deltas, its end, and the terminal event."""
    kept = ("output_item", ".delta", "completed", "incomplete", "failed", "error", "done")
    return [line for line in lines(body) if any(word in line.split()[0] for word in kept) and not _repeats(line)]


def final(body: bytes) -> dict[str, Any]:
    """The response of the terminal event."""
    return events(body)[-1]["response"]


def snapshot(body: bytes) -> Any:
    """What the official client's own helper makes of a stream that is completed."""
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    for event in events(body):
        state.handle_event(_checked(event))
    return state._completed_response


def validated(response: dict[str, Any]) -> Response:
    """A response, by the official client's types."""
    return Response.model_validate(response, strict=True)


def _checked(data: dict[str, Any]) -> Any:
    return KINDS[data["type"]].model_validate(data, strict=True)


def _repeats(line: str) -> bool:
    name = line.split(maxsplit=1)[0]
    return name.endswith(".done") and name != "output_item.done"


def _line(message: sse.Message) -> str:
    if message.data == "[DONE]":
        return "done"
    data = json.loads(message.data)
    assert message.event == data["type"]
    if not data["type"].startswith("response.reasoning."):  # of the other spelling
        _checked(data)
    name = data["type"].removeprefix("response.")
    return " ".join(word for word in (name, *_words(data)) if word)


def _words(data: dict[str, Any]) -> list[str]:
    if "response" in data:
        return [data["response"]["status"]]
    if data["type"] == "error":
        return [data["code"], data["message"]]
    words = [str(data["output_index"])]
    if "item" in data:
        item = data["item"]
        return [*words, item["type"], item["status"] if data["type"].endswith("done") else "", item.get("name", "")]
    return [*words, *(repr(data[key]) for key in ("delta", "text", "arguments", "input", "refusal") if key in data)]
