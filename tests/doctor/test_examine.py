from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from dragoman.doctor.examine import Examination, examine
from dragoman.doctor.results import Verdict, faults, worst
from dragoman.doctor.scenario import SCENARIOS
from dragoman.errors import Refused, Unreachable, UsageError

from .conftest import Running, serve

CHUNK = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}


async def test_our_own_server_has_no_faults(good: Running) -> None:
    results = await examine(good.url)
    assert not faults(results), [(fault.protocol, fault.rule.id, fault.message) for fault in faults(results)]
    assert {result.protocol for result in results} == {"chat", "responses", "messages", "ollama", "completions"}
    assert Counter(result.verdict for result in results)[Verdict.PASSED] > 120
    assert [result for result in results if result.skipped] == []


def test_there_are_about_thirty_scenarios() -> None:
    names = [scenario.name for scenario in SCENARIOS]
    assert len(names) == len(set(names)) >= 30


async def test_with_a_key(good: Running) -> None:
    with serve(api_key="sesame") as server:
        assert not faults(await examine(server.url, key="sesame", only=["plain", "streamed", "count"]))
        for key in ("", "wrong"):
            with pytest.raises(Refused, match="does not let us in"):
                await examine(server.url, key=key)


async def test_no_server() -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9 cannot be reached"):
        await examine("http://127.0.0.1:9")


async def test_no_such_model() -> None:
    with (
        serve(strict_model=True) as server,
        pytest.raises(UsageError, match="does not know the model 'gpt-9'; it lists demo"),
    ):
        await examine(server.url, model="gpt-9")


async def test_no_such_scenario(good: Running) -> None:
    with pytest.raises(UsageError, match="no scenario 'dance'; there are plain,"):
        await examine(good.url, only=["dance"])


# --- servers with faults


@asynccontextmanager
async def broken(answer: Callable[[dict[str, Any]], bytes], kind: str = "text/event-stream") -> Any:
    """A server with one model whose chat answers are what a function makes of the request."""

    tasks: set[Any] = set()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        head = await reader.readuntil(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head.lower():
            await reader.readuntil(b"0\r\n\r\n")
        size = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line), 0)
        body = await reader.readexactly(size) or b"{"
        status, told, media = 404, b'{"error": "nothing"}', "application/json"
        if b"/v1/models" in head.split(b"\r\n")[0]:
            status, told = 200, b'{"data": [{"id": "m"}]}'
        elif b"POST /v1/chat/completions" in head:
            status, told = 400, b'{"error": {"message": "no", "type": "t", "param": null, "code": null}}'
            if body != b"{":
                status, told, media = 200, answer(json.loads(body)), kind
                if told.startswith(b"no"):
                    status = 500
        if not told:
            await reader.read()  # until the client leaves
        writer.write(
            b"HTTP/1.1 %d X\r\ncontent-type: %b\r\nconnection: close\r\n\r\n" % (status, media.encode()) + told
        )
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.gather(*tasks)


def stream(*deltas: dict[str, Any], finish: str | None = "stop", done: bool = True) -> bytes:
    chunks = [{**CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        chunks.append({**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n" * done


def whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 7, "total_tokens": 8}
    return json.dumps({**CHUNK, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


ROLE = {"role": "assistant", "content": ""}
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("rule", "scenario", "body"),
    [
        ("C2", "streamed", stream({"content": "Hi"})),
        ("C11", "streamed", stream(ROLE, {"content": "Hi"}, finish=None)),
        ("C15", "streamed", stream(ROLE, {"content": "Hi"}, done=False)),
        ("C5", "streamed", stream(ROLE, {"content": "<think>Hm.</think>Hi"})),
        ("S2", "unicode", stream(ROLE, {"content": "Gr\ufffd\ufffdße"})),
        ("C13", "usage", stream(ROLE, {"content": "Hi"})),
        ("C27", "limit", stream(ROLE, {"content": "one, two, three"})),
        ("C12", "parallel", stream(ROLE, {"tool_calls": [CALL]}, finish="stop")),
        ("C25", "unwanted", stream(ROLE, {"tool_calls": [CALL]}, finish="tool_calls")),
        ("C25", "named", stream(ROLE, {"tool_calls": [CALL]}, finish="tool_calls")),
        ("C28", "no-reasoning", stream(ROLE, {"reasoning_content": "Hm."}, {"content": "Hi"})),
        ("S1", "bad-stream", stream(ROLE)),
        ("S2", "streamed", stream(ROLE) + b"data: {\n\n"),
    ],
)
async def test_a_fault_is_found(rule: str, scenario: str, body: bytes) -> None:
    async with broken(lambda asked: body if asked["stream"] else whole("Hi")) as url:
        results = await examine(url, only=[scenario], protocols=["chat"])
    assert rule in {finding.rule for result in results for finding in result.findings}


@pytest.mark.parametrize(
    ("rule", "scenario", "asked"),
    [
        ("S9", "unknown-fields", "x_unknown"),
        ("C24", "history", '"developer"'),
        ("C30", "swapped", '"tool"'),
        ("S1", "plain", ""),
        ("S1", "forced", '"tools"'),
    ],
)
async def test_a_server_that_breaks_on_a_right_request(rule: str, scenario: str, asked: str) -> None:
    async with broken(lambda body: b"no" if asked in json.dumps(body) else whole("Hi"), "application/json") as url:
        (result,) = await examine(url, only=[scenario], protocols=["chat"])
    assert rule in {finding.rule for finding in result.findings}


@pytest.mark.parametrize(
    ("rule", "scenario", "text"),
    [
        ("C19", "stop", "Hello there, you all"),
        ("C20", "schema", "Red."),
        ("C25", "forced", "No."),
        ("S12", "health", ""),
    ],
)
async def test_a_server_that_does_not_do_what_it_is_asked(rule: str, scenario: str, text: str) -> None:
    async with broken(lambda _: whole(text), "application/json") as url:
        results = await examine(url, only=[scenario], protocols=["chat"])
    assert rule in {finding.rule for result in results for finding in result.findings}


@pytest.mark.parametrize(("rule", "scenario"), [("S11", "chunked"), ("S10", "paths"), ("L2", "models")])
async def test_a_server_that_knows_one_path_and_one_kind_of_body(rule: str, scenario: str) -> None:
    async with broken(lambda _: whole("Hi"), "application/json") as url:
        results = await examine(url, only=[scenario], protocols=["chat"])
    assert rule in {finding.rule for result in results for finding in result.findings}


async def test_a_server_that_works_on_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.doctor.connections._SLACK", 0.1)
    asked = []

    def slower(body: dict[str, Any]) -> bytes:
        asked.append(body)
        if len(asked) == 6:
            time.sleep(0.5)  # the one behind those that were left
        return stream(ROLE, {"content": "Hi"}) if body["stream"] else whole("Hi")

    async with broken(slower) as url:
        (result,) = await examine(url, only=["leave"], protocols=["chat"])
    assert "S7" in {finding.rule for finding in result.findings}


async def test_a_server_that_says_nothing_is_left_after_a_while() -> None:
    async with broken(lambda _: b"") as url:
        (result,) = await examine(url, only=["plain"], protocols=["chat"], timeout=0.2)
    assert result.findings[0].message.startswith("no answer within 0.2 s")


async def test_a_protocol_that_was_asked_for_must_be_there() -> None:
    async with broken(lambda _: stream(ROLE)) as url:
        results = await examine(url, only=["plain"], protocols=["chat", "messages"])
    assert results[-1].findings[0].message == "there is nothing at /v1/messages"


async def test_a_protocol_that_is_not_there_is_passed_over() -> None:
    async with broken(lambda _: b'{"choices": []}', "application/json") as url:
        results = await examine(url, only=["plain"])
    assert [result.protocol for result in results] == ["chat"]
    assert worst(results) is Verdict.FAILED


async def test_what_is_played_is_told(good: Running) -> None:
    told: list[tuple[str, str]] = []
    wanted = Examination(good.url, protocols=["chat"], only=["plain", "streamed"])
    results = [result async for result in wanted.run(lambda protocol, scenario: told.append((protocol, scenario.name)))]
    assert told == [("chat", "plain"), ("chat", "streamed")]
    assert [result.scenario for result in results] == ["plain", "streamed"]
    assert wanted.model == "demo"
