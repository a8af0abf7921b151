"""What is fuzzed: each target takes random bytes or values and says by an exception that something undocumented happened."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from dragoman import Parser, api
from dragoman.engines.jinja import render
from dragoman.engines.wire import Chunks
from dragoman.errors import EngineError, RequestError
from dragoman.events import Finish
from dragoman.generation import Generation
from dragoman.messages import Message, Request, Text, Tool
from dragoman.pieces import Piece
from dragoman.protocols import chat, completions, messages_api, ollama, responses, sse
from dragoman.server.limits import check_depth
from dragoman.server.prepare import grammar

__all__ = ["TARGETS"]

Target = Callable[[random.Random], None]

_WORDS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<function=f>", "<parameter=x>", "</parameter>", "{", "}",
    '"', "\\", "[", "]", ":", ",", "null", "true", "1e9", '{"name": "f", "arguments": {"x": 1}}', "f", "x", " ", "\n", "é", "🦜",
    "\ud800", "\x00", "<|channel|>", "analysis", "<|message|>", "<|call|>", "```json", "<|tool_call>", "call:f{", '<|"|>', "<", "|>",
)  # fmt: skip
_TOOLS = (Tool("f", parameters={"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}}),)
_NAMES = tuple(api.names())


def _text(chance: random.Random, most: int = 40) -> str:
    return "".join(chance.choice(_WORDS) for _ in range(chance.randrange(most)))


def _check(good: bool, told: str) -> None:
    if not good:
        raise AssertionError(told)


def output(chance: random.Random) -> None:
    """Any text as what a model wrote, in any pieces: one end, and nothing raised."""
    name, text = chance.choice(_NAMES), _text(chance)
    marks = api.get(name).special
    text += "".join(chance.choice((*marks, *_WORDS)) for _ in range(chance.randrange(20)))
    parser = Parser(api.get(name), _TOOLS)
    events = []
    while text:
        size = chance.randrange(1, 12)
        events += parser.feed(text[:size])
        text = text[size:]
    events += parser.close(chance.choice(("stop", "length", "error", "cancelled")))
    _check(sum(type(event) is Finish for event in events) == 1, "not one end")
    _check(type(events[-1]) is Finish, "something behind the end")


def generation(chance: random.Random) -> None:
    """The same with what a request asked for, and through every protocol's writer."""
    dialect = api.get(chance.choice(_NAMES))
    messages = (Message("user", (Text(_text(chance, 5)),)),)
    stop = tuple(_text(chance, 3) for _ in range(chance.randrange(3)))
    request = Request(messages=messages, tools=_TOOLS, stop=stop, parallel=chance.random() < 0.5)
    made = Generation(dialect, request, ids=_ids(chance))
    events = [event for _ in range(10) for event in made.feed(Piece(_text(chance, 8)))]
    events += made.close()
    for protocol in (chat, messages_api, ollama, responses):
        _written(protocol, request, events)


def _ids(chance: random.Random) -> Callable[[], str]:
    """Ids that sometimes repeat, as a careless caller's do."""
    return lambda: f"id{chance.randrange(30)}"


def _written(protocol: Any, request: Request, events: Sequence[Any]) -> None:
    facts: dict[str, Any] = {"answer_id": "a", "created": 1, "model": "m", "ids": lambda: "id"}
    writer = protocol.Writer(request, protocol.Settings(stream=True), **facts)
    (writer.write(list(events), 0, ()) + writer.close({})).decode("utf-8")


def upstream(chance: random.Random) -> None:
    """Any bytes as an upstream's stream: it ends once, and says so."""
    frames = [
        b"data: ",
        b"\n\n",
        b"\r\n",
        b"event: error\n",
        b": x\n",
        b"[DONE]",
        b"\xff\xfe",
        json.dumps(_json(chance)).encode(),
    ]
    frames += [b'{"choices":[{"index":0,"delta":{"content":"a"}}]}', b'{"content":"a","tokens":[1],"stop":false}']
    data = b"".join(chance.choice(frames) for _ in range(chance.randrange(40)))
    for reader in (chat.Reader(), _Raw()):
        rest = data
        events: list[Any] = []
        while rest:
            size = chance.randrange(1, 60)
            events += reader.feed(rest[:size])
            rest = rest[size:]
        events += reader.close()
        _check(sum(type(event) is Finish for event in events) == 1, "not one end")


class _Raw:
    """Llama.cpp's raw stream; its errors are raised."""

    def __init__(self) -> None:
        self._chunks: Chunks | None = Chunks({"<x>": 1}, 1, "x")

    def feed(self, data: bytes) -> list[Any]:
        try:
            return [] if self._chunks is None else [*self._chunks.feed(data)] and []
        except (EngineError, RequestError):
            self._chunks = None
            return []

    def close(self) -> list[Any]:
        return [Finish("stop")]


def events(chance: random.Random) -> None:
    """Any bytes as server-sent events: the same messages however they are cut."""
    parts = [
        b"data:",
        b" x",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"event: e",
        b":",
        b"\xef\xbb\xbf",
        b"\xf0\x9f",
        b"\xa6\x9c",
        b"id: 1",
    ]
    data = b"".join(chance.choice(parts) for _ in range(chance.randrange(60)))
    whole, pieces = sse.Reader(), sse.Reader()
    wanted = [*whole.feed(data), *whole.close()]
    found = [message for byte in data for message in pieces.feed(bytes([byte]))]
    _check([*found, *pieces.close()] == wanted, "the cut decided")


_KEYS = (
    "messages", "role", "content", "tools", "type", "function", "name", "parameters", "stream", "n", "stop", "max_tokens", "model",
    "tool_choice", "response_format", "json_schema", "schema", "input", "prompt", "system", "tool_calls", "arguments", "id",
    "image_url", "url", "format", "options", "thinking", "temperature", "logprobs", "tool_call_id", "text", "required", "$ref",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    "user", "assistant", "tool", "system", "function", "object", "text", "auto", "required", "#", "", "data:image/png;base64,AA",
    "{}", "image_url", "tool_result", "tool_use", "message", "function_call", "json_schema", "a\ud800", None, True, False, 0, -1, 7,
    1.5, 10**30, [], {},
)  # fmt: skip


def _json(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth > 5 or kind < 0.45:
        return chance.choice(_VALUES)
    if kind < 0.65:
        return [_json(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(_KEYS): _json(chance, depth + 1) for _ in range(chance.randrange(6))}


_BASES: tuple[dict[str, Any], ...] = (
    {"messages": [{"role": "user", "content": "Hi"}], "model": "m", "max_tokens": 5},
    {"input": "Hi", "model": "m"},
    {"prompt": "Hi", "model": "m"},
)


def request(chance: random.Random) -> None:
    """Any JSON as a request: it is read, or refused with a status from 400 to 501."""
    data = {**chance.choice(_BASES), **{chance.choice(_KEYS): _json(chance) for _ in range(chance.randrange(5))}}
    for protocol in (chat, messages_api, ollama, responses, completions):
        try:
            check_depth(data)
            protocol.read_request(data, protocol.Settings())
        except RequestError as error:
            _check(400 <= error.status <= 501, f"the status {error.status}")


def schema(chance: random.Random) -> None:
    """Any JSON as a tool's schema: a grammar, or a refusal."""
    tool = Tool("f", parameters={"type": "object", "properties": {"x": _schema(chance)}, "required": ["x"]})
    asked = Request(tools=(tool,), choice="required")
    with suppress(RequestError):
        grammar(asked, api.get(chance.choice(_NAMES)), {}, "")


def _schema(chance: random.Random, depth: int = 0) -> Any:
    made: dict[str, Any] = {}
    for _ in range(chance.randrange(4)):
        key = chance.choice(
            (
                "type",
                "enum",
                "const",
                "pattern",
                "minLength",
                "maxLength",
                "items",
                "properties",
                "anyOf",
                "allOf",
                "$ref",
            )
        )
        inner = _schema(chance, depth + 1) if depth < 4 else True
        made[key] = {
            "type": chance.choice(("string", "integer", "object", "array", "null", ["string", "null"], 7)),
            "items": inner, "properties": {"a": inner}, "anyOf": [inner], "allOf": [inner, inner],
            "pattern": "".join(chance.choice("ab().*+?{2,}[]|^$\\d") for _ in range(8)),
            "$ref": chance.choice(("#", "#/properties/x", "#/nowhere", "http://x")),
        }.get(key, _json(chance, 4))  # fmt: skip
    return made


_BITS = (
    "{% for m in messages %}", "{% endfor %}", "{{ m.content }}", "{% if tools %}", "{% endif %}", "{{ 'a' * 9 }}", "{{ 9 ** 9 }}",
    "{{ m | tojson }}", "{{ messages[0]['role'] ~ 'x' }}", "{% set x = 1 %}", "{{ x }}", "{{ ''.__class__ }}", "{% macro f(a) %}",
    "{% endmacro %}", "{{ f(1) }}", "{{ raise_exception('no') }}", "{{ '%s' % x }}", "{{ x | join(',') }}", "text", "{%", "}}", "{#",
    "{{ 'a'.format(1) }}", "{{ [1] * 9 }}", "{{ range(9) | list }}", "{{ undefined.x }}", "{% generation %}", "{% endgeneration %}",
)  # fmt: skip


def template(chance: random.Random) -> None:
    """Any template: a text, or an error of ours."""
    text = "".join(chance.choice(_BITS) for _ in range(chance.randrange(12)))
    with suppress(EngineError, RequestError):
        render(text, {"messages": [{"role": "user", "content": "Hi"}], "tools": None})


TARGETS: dict[str, Target] = {
    made.__name__: made for made in (output, generation, upstream, events, request, schema, template)
}
