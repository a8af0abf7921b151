"""What one of our servers writes, another one reads: every protocol's stream, for every case of the corpus."""

from __future__ import annotations

import itertools
import json
from typing import Any

import corpus
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from streams import Setting, play

from dragoman import api
from dragoman.errors import Broken, Refused
from dragoman.events import Event, Finish, Usage
from dragoman.messages import Call, Raw, Reasoning, Request, Text, Turn
from dragoman.protocols import chat, completions, messages_api, ollama, ollama_generate, responses, wire
from dragoman.protocols.ollama_upstream import Lines
from dragoman.syntax.decode import Policy
from dragoman.syntax.fold import fold

CASES = [case for case in corpus.everything() if not case.stop]
PROTOCOLS: dict[str, Any] = {
    "chat": chat,
    "responses": responses,
    "messages": messages_api,
    "ollama": ollama,
    "generate": ollama_generate,
    "completions": completions,
}
READERS: dict[str, Any] = {name: getattr(module, "Reader", ollama.Reader) for name, module in PROTOCOLS.items()}
each = pytest.mark.parametrize("name", PROTOCOLS)


def settings(name: str, turn: Turn) -> Any:
    if name == "messages":
        return messages_api.Settings(stream=True, eager=frozenset(call.name for call in turn.calls))
    if name in ("chat", "completions"):
        return PROTOCOLS[name].Settings(stream=True, include_usage=True)
    return PROTOCOLS[name].Settings(stream=True)


def written(name: str, events: list[Event]) -> bytes:
    numbers = itertools.count()
    request = Request(model="m", limit=4, prompts=(Raw(),) if name == "completions" else ())
    writer = PROTOCOLS[name].Writer(
        request, settings(name, fold(events)), answer_id="resp_1", created=7, ids=lambda: f"c{next(numbers)}"
    )
    return writer.write(events) + writer.close()


def read(name: str, body: bytes, size: int = 1 << 30) -> list[Event]:
    reader = READERS[name](engine="test")
    events = [event for at in range(0, len(body), size) for event in reader.feed(body[at : at + size])]
    return [*events, *reader.close()]


def shown(name: str, turn: Turn) -> Any:
    """What of a turn the protocol can carry."""
    calls = [call for call in turn.calls if call.complete or name in ("chat", "responses", "messages")]
    if name in ("generate", "completions"):
        calls = []
    told = [(call.name, value(call.arguments), call.complete) for call in calls]
    if name == "completions":
        return wire.clean("".join(part.text for part in turn.parts if isinstance(part, Text)))
    if name in ("chat", "ollama", "generate"):
        return wire.clean(turn.reasoning), wire.clean(turn.content), told
    return [*map(part_of, turn.parts)]


def part_of(part: Any) -> Any:
    if isinstance(part, Call):
        return part.name, value(part.arguments), part.complete
    return type(part).__name__, wire.clean(part.text)


def value(arguments: str) -> Any:
    try:
        return json.loads(wire.clean(arguments) or "{}")
    except ValueError:
        return wire.clean(arguments)


def meant(name: str, turn: Turn) -> Turn:
    """Empty parts are never written, and a call that was cut before its arguments began has none."""
    parts = [part for part in turn.parts if not isinstance(part, Text | Reasoning) or part.text]
    if name == "messages":
        parts = [part for part in parts if not isinstance(part, Text) or part.phase != "refusal" or part.text]
    return Turn(tuple(parts), turn.finish)


@pytest.mark.parametrize("dialect", sorted({case.dialect for case in CASES}))
@each
def test_what_is_written_reads_back(name: str, dialect: str) -> None:
    for case in CASES:
        if case.dialect != dialect:
            continue
        made = Setting(api.get(dialect), case.tools, case.prompt, None, Policy(**case.policy))
        events: list[Event] = [*play(made, case.pieces, case.finish)[:-1], Usage(3, 4), Finish(case.finish)]
        turn = fold(events)
        back = fold(read(name, written(name, events)))
        assert shown(name, meant(name, back)) == shown(name, meant(name, turn)), case.title
        assert back.error is None, case.title
        assert back.usage is not None, case.title
        assert (back.usage.prompt, back.usage.completion) == (3, 4)
        cut = any(not call.complete for call in turn.calls)
        if not cut:
            assert (back.finish == "length") == (case.finish == "length"), case.title


@each
def test_every_cut_reads_the_same(name: str) -> None:
    turn = api.decode(
        "hermes-json", '<think>é\n</think>\n😀 see\n<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>'
    )
    assert turn.calls
    made = Setting(api.get("hermes-json"), None, "", None, Policy())
    text = '<think>é\n</think>\n😀 see\n<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>'
    events: list[Event] = [*play(made, [(text, False)], "stop")[:-1], Usage(3, 4), Finish("stop")]
    body = written(name, events)
    whole = fold(read(name, body)).parts
    for size in (1, 2, 3, 7, 64):
        assert fold(read(name, body, size)).parts == whole


@each
@pytest.mark.parametrize("ending", [b"\r\n", b"\r"])
def test_other_ends_of_lines(name: str, ending: bytes) -> None:
    if ending == b"\r" and name in ("ollama", "generate"):
        pytest.skip("lines end with a newline there")
    body = written(name, [*fold_events("Hello"), Usage(3, 4), Finish("stop")])
    assert fold(read(name, body.replace(b"\n", ending))).content == "Hello"


def fold_events(text: str) -> list[Event]:
    made = Setting(api.get("hermes-json"), None, "", None, Policy())
    return play(made, [(text, False)], "stop")[:-1]


@each
def test_what_breaks_off_never_ends_well(name: str) -> None:
    body = written(name, [*fold_events("Hello there"), Usage(3, 4), Finish("stop")])
    whole = read(name, body)
    assert whole[-1].reason == "stop"  # type: ignore[union-attr]
    for cut in range(len(body)):
        finish = read(name, body[:cut])[-1]
        assert isinstance(finish, Finish)
        if finish.reason == "stop":
            assert cut > body.rfind(b"Hello"), body[:cut]  # the end was told already
        else:
            assert isinstance(finish.error, Broken)


@each
def test_an_error_stays_one(name: str) -> None:
    request = Request(model="m", prompts=(Raw(),) if name == "completions" else ())
    writer = PROTOCOLS[name].Writer(request, settings(name, Turn()), answer_id="resp_1", created=7, ids=lambda: "c")
    body = writer.write(fold_events("Hello")) + writer.error(Refused("the machine caught fire"))
    *events, finish = read(name, body)
    assert fold([*events, finish]).content == "Hello"
    assert isinstance(finish, Finish)
    assert "caught fire" in str(finish.error)


@pytest.mark.parametrize("name", ["chat", "responses", "messages", "ollama"])
def test_a_whole_answer_reads_like_its_stream(name: str) -> None:
    text = '<think>hm\n</think>\nsee\n<tool_call>\n{"name": "f", "arguments": {"a": "é"}}\n</tool_call>'
    made = Setting(api.get("hermes-json"), None, "", None, Policy())
    events: list[Event] = [*play(made, [(text, False)], "stop")[:-1], Usage(3, 4), Finish("stop")]
    turn = fold(events)
    module = PROTOCOLS[name]
    facts = {"answer_id": "resp_1", "created": 7, "ids": lambda: "c"}
    whole = json.loads(wire.dump(module.answer([turn], Request(model="m"), settings(name, turn), **facts)))
    reader = READERS[name]()
    back = fold([*reader.read(whole), *reader.close()])
    assert shown(name, back) == shown(name, turn)
    assert back.usage is not None
    assert back.usage.completion == 4


LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.sampled_from(["", "x", "{", "message", "stop"])
)
KEYS = st.sampled_from(
    [
        "type",
        "id",
        "index",
        "item",
        "item_id",
        "output_index",
        "content_index",
        "delta",
        "text",
        "content",
        "content_block",
        "message",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "input",
        "partial_json",
        "thinking",
        "response",
        "status",
        "output",
        "usage",
        "input_tokens",
        "choices",
        "finish_reason",
        "stop_reason",
        "done",
        "done_reason",
        "logprobs",
        "tokens",
        "token_logprobs",
        "top_logprobs",
        "bytes",
        "error",
        "summary",
        "call_id",
        "object",
        "token_ids",
        "prompt_eval_count",
        "incomplete_details",
        "reason",
    ]
)
WORDS = st.sampled_from(
    [
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_text.delta",
        "response.function_call_arguments.delta",
        "response.custom_tool_call_input.done",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
        "message_start",
        "content_block_start",
        "message",
        "function_call",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "tool_use",
        "text",
        "thinking",
        "custom_tool_call",
    ]
)
VALUES = st.recursive(
    LEAVES | WORDS, lambda deep: st.lists(deep, max_size=3) | st.dictionaries(KEYS, deep, max_size=5), max_leaves=12
)
CHUNKS = st.lists(
    st.fixed_dictionaries({}, optional={"type": WORDS}) | st.dictionaries(KEYS, VALUES, max_size=6), max_size=5
)


@examples(4)
@given(CHUNKS)
def test_whatever_comes_ends_once(chunks: list[Any]) -> None:
    for reader in map(READERS.__getitem__, PROTOCOLS):
        made = reader()
        events = [event for chunk in chunks for event in made.read(chunk)]
        events += made.close()
        assert [type(event) for event in events].count(Finish) == 1
        assert isinstance(events[-1], Finish)
        fold(events)


@examples(10)
@given(st.binary(max_size=80))
def test_any_bytes_end_once(body: bytes) -> None:
    for name in PROTOCOLS:
        events = read(name, body, 7)
        assert isinstance(events[-1], Finish)
        assert events[-1].reason == "error"


def test_an_endless_line_breaks_the_stream() -> None:
    lines = Lines(limit=10)
    lines.feed(b"123456\n12345")
    with pytest.raises(Broken, match="longer than 10"):
        lines.feed(b"1234567")
