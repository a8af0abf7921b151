"""A Messages stream in readable lines, each event held against the official client's types on the way."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
from anthropic.types import ParsedMessage, RawMessageStreamEvent
from pydantic import TypeAdapter

from dragoman.protocols import sse

_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def events(body: bytes) -> list[dict[str, Any]]:
    """The JSON of all data lines; every event line names its data's type."""
    reader = sse.Reader()
    messages = [*reader.feed(body), *reader.close()]
    found = [json.loads(message.data) for message in messages]
    assert [message.event for message in messages] == [event["type"] for event in found]
    return found


def lines(body: bytes) -> list[str]:
    """One line for each event:

    start 3 | 0 text | 0 + 'text' | 0 sign | 0 call id name | 0 args 'json' | 0 stop | end reason 4 | done | ping | error type text
    """
    return [_line(event) for event in events(body)]


def message(body: bytes) -> ParsedMessage[Any]:
    """What the official client's own helper makes of a stream."""

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    with anthropic.Anthropic(
        api_key="x", max_retries=0, http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
    ) as client:
        asked: Any = [{"role": "user", "content": "Hi"}]
        with client.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
            for _ in stream:
                pass
            return stream.get_final_message()


def _line(event: dict[str, Any]) -> str:
    kind = event["type"]
    if kind == "ping":
        return kind
    if kind == "error":
        return f"error {event['error']['type']} {event['error']['message']}"
    _EVENT.validate_python(event, strict=True)
    if kind == "message_start":
        return f"start {event['message']['usage']['input_tokens']}"
    if kind == "message_delta":
        stop = f" {event['delta']['stop_sequence']!r}" if event["delta"]["stop_sequence"] is not None else ""
        return f"end {event['delta']['stop_reason']}{stop} {event['usage']['output_tokens']}"
    if kind == "message_stop":
        return "done"
    return f"{event['index']} {_block(event)}"


def _block(event: dict[str, Any]) -> str:
    if event["type"] == "content_block_stop":
        return "stop"
    if event["type"] == "content_block_start":
        block = event["content_block"]
        return f"call {block['id']} {block['name']}" if block["type"] == "tool_use" else str(block["type"])
    delta = event["delta"]
    if delta["type"] == "signature_delta":
        return "sign"
    if delta["type"] == "input_json_delta":
        return f"args {delta['partial_json']!r}"
    return f"+ {delta.get('text', delta.get('thinking'))!r}"
