"""Streams: equal to whole answers, ended whatever happens, and gone with their client."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from dragoman.checks import compare
from dragoman.engines.base import End, Piece, Progress
from dragoman.engines.script import Script
from dragoman.errors import Broken
from dragoman.events import Finish
from dragoman.server.observe import Observer

from .conftest import PATH, USER, WEATHER, Answer, Running, ask, joined, running

Serving = Callable[..., Running]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>'
LONG = "word " * 5000
MODES = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


async def chat(server: Running, stream: bool = False, **fields: Any) -> Answer:
    usage = {"stream_options": {"include_usage": True}} if stream else {}
    return await ask(server, {"messages": USER, "stream": stream, **usage, **fields})


def failure(answer: Answer) -> dict[str, Any]:
    """The error that a stream ended with: nothing follows it, and nothing before looks like an end."""
    assert "[DONE]" not in answer.data
    chunks = answer.chunks
    assert all(choice["finish_reason"] is None for chunk in chunks[:-1] for choice in chunk["choices"])
    return dict(chunks[-1]["error"])


# --- a stream and a whole answer are the same


@pytest.mark.parametrize(
    ("output", "fields"),
    [
        ("Hello there.", {}),
        ("", {}),
        ("<think>Let me see.</think>It is 4.", {}),
        (CALL % "Paris", {"tools": [WEATHER]}),
        ("<think>hm</think>Sure.\n" + CALL % "Paris" + "\n" + CALL % "Rome" + "<|im_end|>", {"tools": [WEATHER]}),
        (CALL % "Paris", {}),
        (CALL % "Paris", {"tools": [WEATHER], "tool_choice": "none"}),
        (CALL % "Paris" + CALL % "Rome", {"tools": [WEATHER], "parallel_tool_calls": False}),
        ("one two STOP three", {"stop": "STOP"}),
        ("one two three four", {"max_tokens": 2}),
        ("Zoë 🦜 \ud83d\\", {}),
    ],
)
@pytest.mark.parametrize("cut", ["characters", "words", "whole"])
async def test_the_stream_adds_up_to_the_whole(serving: Serving, output: str, fields: dict[str, Any], cut: str) -> None:
    server = serving({"output": output, "cut": cut})
    whole, stream = await chat(server, **fields), await chat(server, stream=True, **fields)
    assert (whole.status, stream.status, stream.data[-1]) == (200, 200, "[DONE]")
    assert not compare(stream.body, whole.json)
    (choice,) = whole.json["choices"]
    message, added = choice["message"], joined(stream.chunks)
    calls = [call["function"] for call in message.get("tool_calls", ())]
    assert added["content"] == (message["content"] or "")
    assert added["reasoning_content"] == message.get("reasoning_content", "")
    assert [*added["calls"].values()] == calls
    assert added["finish"] == choice["finish_reason"]
    assert stream.chunks[-1]["usage"] == whole.json["usage"]


async def test_pieces_read_together_leave_together(serving: Serving) -> None:
    server = serving({"output": "one two three four", "batch": 4})
    writes: list[bytes] = []

    class Count(Observer):
        def started(self, exchange: Any) -> None: ...
        def finished(self, exchange: Any) -> None: ...
        def events(self, exchange: Any, index: int, events: Any, frames: bytes) -> None:
            writes.append(frames)

    server.service.observers.add(Count())
    await chat(server, stream=True)
    assert writes[0].count(b'"content":"') == 5  # the role's, and four words


async def test_two_choices(serving: Serving) -> None:
    server = serving({"output": ["one two", "three four"], "pause": 0.001})
    for stream in (False, True):
        answer = await chat(server, stream=stream, n=2)
        if stream:
            first = [choice["index"] for chunk in answer.chunks for choice in chunk["choices"]]
            assert first[:2] == [0, 1]
            texts = {joined(answer.chunks, index)["content"] for index in (0, 1)}
            assert sum(bool(chunk.get("usage")) for chunk in answer.chunks) == 1
        else:
            texts = {choice["message"]["content"] for choice in answer.json["choices"]}
            assert answer.json["usage"]["completion_tokens"] == 4
        assert texts == {"one two", "three four"}


async def test_a_seed_makes_choices_differ(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    await chat(server, n=3, seed=7)
    assert sorted(options.sampling["seed"] for _, options, _ in server.engine.asked) == [7, 8, 9]


@MODES
async def test_stop_strings_are_ours(serving: Serving, stream: bool) -> None:
    server = serving({"output": "one Observation: two " + LONG, "pause": 0.0})
    answer = await chat(server, stream=stream, stop=["Observation:"])
    await server.idle()  # the engine was stopped
    (_, options, _) = server.engine.asked[-1]
    assert "stop" not in options.sampling
    text = joined(answer.chunks)["content"] if stream else answer.json["choices"][0]["message"]["content"]
    assert text == "one "


@MODES
async def test_the_models_end_stops_an_engine_that_goes_on(serving: Serving, stream: bool) -> None:
    server = serving({"output": "Hi<|im_end|>" + LONG})
    answer = await chat(server, stream=stream)
    text = joined(answer.chunks)["content"] if stream else answer.json["choices"][0]["message"]["content"]
    assert text == "Hi"
    await server.idle()


async def test_forced_calls_are_constrained(serving: Serving) -> None:
    server = serving({"output": CALL % "Paris"})
    await chat(server, tools=[WEATHER], tool_choice="required")
    (_, options, _) = server.engine.asked[-1]
    assert options.grammar
    assert options.form == "gbnf"
    await chat(server, tools=[WEATHER])
    assert server.engine.asked[-1][1].grammar == ""


async def test_an_answer_by_a_schema_is_constrained(serving: Serving) -> None:
    server = serving({"output": '{"a": 1}'})
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    answer = await chat(server, response_format=form)
    assert answer.json["choices"][0]["message"]["content"] == '{"a": 1}'
    assert server.engine.asked[-1][1].grammar


async def test_the_dialects_marks_are_asked_for(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    await chat(server)
    assert {"<|im_end|>", "<tool_call>"} <= {*server.engine.asked[-1][1].marks, "<tool_call>"}


async def test_logprobs_are_those_of_what_is_shown(serving: Serving) -> None:
    server = serving({"output": "<think>so it is</think>Four words are here"})
    whole = await chat(server, logprobs=True, top_logprobs=1)
    tokens = whole.json["choices"][0]["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == "Four words are here"
    stream = await chat(server, stream=True, logprobs=True, top_logprobs=1)
    pieces = [choice["logprobs"] for chunk in stream.chunks for choice in chunk["choices"] if choice["logprobs"]]
    assert [token for piece in pieces for token in piece["content"]] == tokens


# --- failures


@MODES
async def test_a_refusal_before_the_first_piece_has_a_status(serving: Serving, stream: bool) -> None:
    server = serving({"output": "x", "after": 0, "error": "it is broken"})
    answer = await chat(server, stream=stream)
    assert answer.status == 502
    assert "it is broken" in answer.json["error"]["message"]


@MODES
async def test_context_overflow_is_a_400_with_the_numbers(serving: Serving, stream: bool) -> None:
    server = serving({"output": "x"}, script={"context": 3})
    answer = await chat(server, stream=stream, messages=[{"role": "user", "content": "one two three four five"}])
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (400, "context_length_exceeded")
    assert "3" in error["message"]


async def test_a_failure_in_mid_stream_ends_it_with_an_error(serving: Serving) -> None:
    server = serving({"output": "one two three", "after": 2, "error": "it caught fire"})
    answer = await chat(server, stream=True)
    assert answer.status == 200
    assert joined(answer.chunks[:-1])["content"] == "one two"
    assert "it caught fire" in failure(answer)["message"]


async def test_a_failure_in_the_middle_of_a_call(serving: Serving) -> None:
    server = serving({"output": CALL % "Paris", "cut": "characters", "after": 66, "error": "it caught fire"})
    answer = await chat(server, stream=True, tools=[WEATHER])
    assert "it caught fire" in failure(answer)["message"]
    assert joined(answer.chunks[:-1])["calls"][0]["arguments"].startswith('{"city": "P')
    whole = await chat(server, tools=[WEATHER])
    assert whole.status == 502


async def test_one_choice_that_fails_ends_them_all(serving: Serving) -> None:
    server = serving(
        {"output": ["one two three", LONG], "after": 2, "error": "it caught fire"},
    )
    answer = await chat(server, stream=True, n=2)
    assert "it caught fire" in failure(answer)["message"]
    await server.idle()


class Odd(Script):
    """An engine with a fault of its own."""

    def __init__(self, *batches: Any) -> None:
        super().__init__({"model": "odd", "dialect": "hermes-json"})
        self.batches = batches

    async def stream(self, prompt: Any, options: Any, request: Any = None) -> Any:
        for batch in self.batches:
            if isinstance(batch, Exception):
                raise batch
            yield batch


async def test_an_engine_that_ends_without_an_end() -> None:
    with running(Odd([Piece("one")])) as server:
        assert failure(await chat(server, stream=True))["code"] == "engine_broken"


async def test_an_engine_that_fails_after_the_models_end_has_answered() -> None:
    with running(Odd([Piece("one")], [Piece("<|im_end|>", special=True)], Broken("too late"))) as server:
        stream, whole = await chat(server, stream=True), await chat(server)
        assert stream.data[-1] == "[DONE]"
        assert joined(stream.chunks)["finish"] == whole.json["choices"][0]["finish_reason"] == "stop"


async def test_a_fault_of_ours_tells_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    with running(Odd(ZeroDivisionError("secret"))) as server:
        answer = await chat(server)
        assert (answer.status, answer.json["error"]["code"]) == (500, "internal_error")
        assert "secret" not in answer.body.decode()
    assert "secret" in caplog.text


async def test_the_prompts_size_is_known_before_the_end() -> None:
    pieces = [Piece("one ", (1,)), Piece("STOP", (2,))]
    with running(Odd([Progress(7, 7, 3)], pieces, [Piece("never")])) as server:
        usage = (await chat(server, stop="STOP")).json["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (7, 2)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 3


async def test_the_engines_facts_travel_along_if_asked_for() -> None:
    with running(Odd([Piece("one", (1,)), End("stop", 1, 1, extra={"timings": {"predicted_ms": 2}})])) as server:
        assert (await chat(server, stats=True)).json["timings"] == {"predicted_ms": 2}
        assert "timings" not in (await chat(server)).json
        assert (await chat(server, stream=True, stats=True)).chunks[-1]["timings"] == {"predicted_ms": 2}


@MODES
async def test_a_schema_that_nothing_fits_is_refused(serving: Serving, stream: bool) -> None:
    server = serving({"output": "x"})
    never = {"type": "object", "properties": {"a": False}, "required": ["a"]}
    tool = {"type": "function", "function": {"name": "never", "parameters": never}}
    answer = await chat(server, stream=stream, tools=[tool], tool_choice="required")
    assert (answer.status, answer.json["error"]["param"]) == (400, "tools")


# --- deadlines and keep-alives


@MODES
async def test_no_first_token(serving: Serving, stream: bool) -> None:
    server = serving({"output": "x", "after": 0, "stall": True}, first_token=0.05)
    answer = await chat(server, stream=stream)
    assert (answer.status, answer.json["error"]["code"]) == (504, "engine_timeout")
    assert "--first-token" in answer.json["error"]["message"]
    await server.idle()


async def test_a_stall(serving: Serving) -> None:
    server = serving({"output": "one two three", "after": 2, "stall": True}, stall=0.5)
    answer = await chat(server, stream=True)
    assert joined(answer.chunks[:-1])["content"] == "one two"
    assert "stopped writing" in failure(answer)["message"]
    assert (await chat(server)).status == 504
    await server.idle()


async def test_the_total(serving: Serving) -> None:
    server = serving({"output": LONG, "pause": 0.01}, total=1.0)
    answer = await chat(server, stream=True)
    assert "not complete within 1 s" in failure(answer)["message"]
    await server.idle()


async def test_keep_alives_before_the_first_piece(serving: Serving) -> None:
    server = serving({"output": "x", "after": 0, "stall": True}, keep_alive=0.05, first_token=0.5)
    answer = await chat(server, stream=True)
    assert answer.status == 200  # the comment could not wait for the engine
    assert answer.body.count(b"\n: ") + answer.body.startswith(b": ") >= 2
    assert failure(answer)["code"] == "engine_timeout"


async def test_keep_alives_in_a_stall(serving: Serving) -> None:
    server = serving({"output": "one two", "after": 1, "stall": True}, keep_alive=0.05, stall=0.5)
    answer = await chat(server, stream=True)
    _, _, after = answer.body.partition(b'"one"')
    assert after.count(b"\n: ") >= 2


async def test_no_keep_alive_is_needed_while_it_flows(serving: Serving) -> None:
    server = serving({"output": "one two three four five six", "pause": 0.02}, keep_alive=5.0)
    assert b"\n: " not in (await chat(server, stream=True)).body


# --- clients that leave


def posted(body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


async def opened(server: Running, body: dict[str, Any]) -> socket.socket:
    """A raw connection with a request on it, which the engine has begun to answer."""
    sock = socket.create_connection((server.host, server.port))
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_sendall(sock, posted(body))
    await server.busy(body.get("n", 1))
    return sock


def fin(sock: socket.socket) -> None:
    sock.close()


def rst(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def half(sock: socket.socket) -> None:
    sock.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("leave", [fin, rst, half])
@MODES
@pytest.mark.parametrize("turn", [{"output": "x", "after": 0, "stall": True}, {"output": LONG, "pause": 0.001}])
@pytest.mark.parametrize("n", [1, 2])
async def test_a_client_that_leaves_frees_the_engine(
    serving: Serving, leave: Callable[[socket.socket], None], stream: bool, turn: dict[str, Any], n: int
) -> None:
    seen: list[Any] = []

    class Watch(Observer):
        def started(self, exchange: Any) -> None: ...
        def events(self, exchange: Any, index: int, events: Any, frames: bytes) -> None:
            seen.extend(event.reason for event in events if isinstance(event, Finish))

        def finished(self, exchange: Any) -> None:
            seen.append(exchange.outcome)

    server = serving(turn, observers=[Watch()])
    sock = await opened(server, {"messages": USER, "stream": stream, "n": n})
    if stream and "pause" in turn:
        await asyncio.get_running_loop().sock_recv(sock, 100)
    leave(sock)
    await server.idle()
    assert seen == ["cancelled"] * (n + 1)
    sock.close()


async def test_a_client_that_leaves_in_a_stall(serving: Serving) -> None:
    server = serving({"output": "one two three", "after": 2, "stall": True})
    sock = await opened(server, {"messages": USER, "stream": True})
    received = b""
    while b"two" not in received:
        received += await asyncio.get_running_loop().sock_recv(sock, 65536)
    fin(sock)
    await server.idle()


async def test_a_client_that_leaves_before_its_request_is_whole(serving: Serving) -> None:
    server = serving({"output": "Hi"})
    sock = socket.create_connection((server.host, server.port))
    sock.sendall(posted({"messages": USER})[:-5])
    sock.close()
    assert (await chat(server)).status == 200
    assert len(server.engine.asked) == 1


async def test_a_cancelled_client_task(serving: Serving) -> None:
    server = serving({"output": LONG, "pause": 0.001})

    async def use() -> None:
        body = {"messages": USER, "stream": True}
        async with aiohttp.ClientSession() as session, session.post(server.url + PATH, json=body) as response:
            async for _ in response.content:
                pass

    task = asyncio.create_task(use())
    await server.busy()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await server.idle()


async def test_a_client_that_does_not_read_slows_the_engine() -> None:
    given = 0

    class Flood(Script):
        async def stream(self, prompt: Any, options: Any, request: Any = None) -> Any:
            nonlocal given
            self.running += 1
            try:
                while given < 10_000:
                    given += 1
                    await asyncio.sleep(0)
                    yield [Piece("x" * 10_000)]
                yield [End()]
            finally:
                self.running -= 1

    with running(Flood({"model": "flood", "dialect": "hermes-json"})) as server:
        sock = await opened(server, {"messages": USER, "stream": True})
        before = -1
        while before != given:  # it is still as long as nobody reads
            before = given
            await asyncio.sleep(0.3)
        assert given < 10_000
        sock.close()
        await server.idle()


async def test_an_answer_can_be_ended_from_outside(serving: Serving) -> None:
    class Warden(Observer):
        def started(self, exchange: Any) -> None: ...
        def finished(self, exchange: Any) -> None: ...
        def events(self, exchange: Any, index: int, events: Any, frames: bytes) -> None:
            exchange.fail(Broken("ended by the warden"))

    server = serving({"output": LONG, "pause": 0.001}, observers=[Warden()])
    answer = await chat(server, stream=True)
    assert "ended by the warden" in failure(answer)["message"]
    await server.idle()
