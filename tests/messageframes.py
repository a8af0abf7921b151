"""Messages streams put together by hand, good ones and their parts."""

from __future__ import annotations

import json

from dragoman.protocols import sse

USAGE = {"input_tokens": 3, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
START = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": USAGE,
    },
}  # fmt: skip
TEXT, THINKING = {"type": "text", "text": ""}, {"type": "thinking", "thinking": "", "signature": ""}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
STOP = {"type": "message_stop"}


def start(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, key, value):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: value}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def end(reason="end_turn", sequence=None, **usage):
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": sequence},
        "usage": {"output_tokens": 4, **usage},
    }


def text(index=0, value="hi"):
    return [start(index, TEXT), delta(index, "text_delta", "text", value), stop(index)]


def thinking(index=0):
    pieces = delta(index, "thinking_delta", "thinking", "hm"), delta(index, "signature_delta", "signature", "s")
    return [start(index, THINKING), *pieces, stop(index)]


def call(index=0, arguments='{"a": 1}', **more):
    return [
        start(index, {**CALL, **more}),
        delta(index, "input_json_delta", "partial_json", arguments),
        stop(index),
    ]


GOOD = [START, *thinking(0), *text(1), *call(2), end("tool_use"), STOP]


def body(events):
    return b"".join(sse.frame(json.dumps(event).encode(), event["type"]) for event in events)


def changed(event, **fields):
    return {**event, **fields}
