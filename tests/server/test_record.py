"""Every turn of a server is in its log, as a case that means what the client was told."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
import urllib.request
import zlib
from contextlib import closing

import pytest

from dragoman import api
from dragoman.cases.expect import problems
from dragoman.cases.read import load, read
from dragoman.cases.write import write
from dragoman.explanation import explain

from .conftest import USER, WEATHER, ask, call, joined

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
THOUGHT = "<think>Let me see.</think>" + CALL


async def logged(server):
    await server.idle()
    return [record.case() for record in server.service.log]


async def test_a_streamed_call_is_a_case_that_decodes_to_what_was_sent(serving):
    server = serving({"output": THOUGHT, "cut": [3]})
    answer = await ask(server, {"messages": USER, "tools": [WEATHER], "stream": True})
    told = joined(answer.chunks)
    (case,) = await logged(server)
    assert case.raw == THOUGHT
    assert len(case.pieces) > 5
    found = explain(case, api.get(case.dialect))
    assert not problems(case, found.turn)
    assert found.turn.calls[0].arguments == told["calls"][0]["arguments"]
    assert "".join(text for _, text in case.frames) == answer.body.decode()
    assert json.loads(case.request)["messages"] == USER
    assert case.path == "/v1/chat/completions"


async def test_it_reads_back_from_its_text(serving):
    server = serving({"output": THOUGHT, "cut": [3]})
    await ask(server, {"messages": USER, "tools": [WEATHER], "stream": True})
    (case,) = await logged(server)
    (back,) = read(write(case))
    assert (back.pieces, back.frames, back.expect) == (
        case.pieces,
        tuple((round(seconds, 3), text) for seconds, text in case.frames),
        case.expect,
    )


async def test_stop_strings_and_choices_are_kept(serving):
    server = serving({"output": "one two three", "cut": [4]}, {"output": "four", "cut": [1]})
    await ask(server, {"messages": USER, "stop": ["two"], "n": 2})
    second, first = await logged(server)
    assert (first.title + "-1") == second.title
    assert first.stop == ("two",)
    assert explain(first, api.get(first.dialect)).turn.content == "one "


async def test_secrets_are_masked_and_offsets_stay(serving):
    secret = "sk-abcdefghijklmnopqrstuvwx"
    server = serving({"output": f"Your key is {secret}.", "cut": [2]})
    body = {"messages": [{"role": "user", "content": f"my key: {secret}"}], "stream": True}
    await ask(server, body)
    (case,) = await logged(server)
    assert secret not in write(case)
    assert len(case.raw) == len(f"Your key is {secret}.")


async def test_only_turns_with_notices_are_kept_if_so_wanted(serving):
    server = serving({"output": CALL[:-16], "when": {"user": "cut"}}, {"output": "fine"}, turn_log="notices")
    for text in ("whole", "cut"):
        await ask(server, {"messages": [{"role": "user", "content": text}], "tools": [WEATHER]})
    (case,) = await logged(server)
    assert case.raw == CALL[:-16]


async def test_nothing_is_kept_if_it_is_off(serving):
    server = serving({"output": "fine"}, turn_log="off")
    await ask(server)
    assert server.service.log is None


async def test_a_failure_is_kept_with_its_error(serving):
    server = serving({"output": "half of", "error": "the engine died"})
    await ask(server, {"messages": USER, "stream": True})
    await server.idle()
    (record,) = server.service.log
    assert record.outcome == "error"
    assert "died" in record.error
    assert any("died" in fact for fact in record.case().facts)


@pytest.mark.parametrize("name", ["turns", "turns.sqlite"])
async def test_turns_are_kept_where_the_user_wants_them(serving, tmp_path, name):
    server = serving({"output": CALL}, turn_log_to=str(tmp_path / name))
    answer = await ask(server, {"messages": USER, "tools": [WEATHER]})
    server.stop()
    server.thread.join()
    from dragoman.state.keep import kept

    case = kept(tmp_path / name, answer.json["id"])
    assert case is not None
    assert case.raw == CALL
    if name == "turns":
        (path,) = (tmp_path / name).glob("*.txt")
        assert load(path)[0].title == answer.json["id"]


async def test_a_recorded_turn_is_sent_again(serving, tmp_path, capsys):
    from dragoman.cli import main

    server = serving({"output": CALL}, turn_log_to=str(tmp_path))
    await ask(server, {"messages": USER, "tools": [WEATHER], "stream": True})
    server.service.log.close()
    (path,) = tmp_path.glob("*.txt")
    assert await asyncio.to_thread(main, ["replay", str(path), "--url", server.url]) == 0
    said = capsys.readouterr().out
    assert "get_weather" in said
    assert "[DONE]" in said
    assert main(["replay", str(path)]) == 0


@pytest.mark.parametrize("name", ["turns", "turns.sqlite"])
def test_a_killed_server_leaves_no_half_a_turn(tmp_path, name):
    """The server is killed while it writes one turn after another; what is there then reads back whole."""
    script, place = tmp_path / "script.toml", tmp_path / name
    script.write_text('model = "m"\ndialect = "hermes-json"\n[[turn]]\noutput = "' + "word " * 3000 + '"\n', "utf-8")
    words = ["serve", "--engine", "script", "--script", script, "--port", "0", "--state", "off", "--turn-log-to", place]
    process = subprocess.Popen(
        [sys.executable, "-m", "dragoman", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    url = next(match[0] for line in process.stdout if (match := re.search(r"http://[\d.:]+", line.decode())))
    body = json.dumps({"messages": USER}).encode()
    asked = urllib.request.Request(f"{url}/v1/chat/completions", body, {"content-type": "application/json"})
    for _ in range(12):
        with urllib.request.urlopen(asked) as answer:
            answer.read()
    process.kill()
    process.wait()
    process.stdout.close()
    cases = _whole(place)
    assert cases
    assert all(case.raw == "word " * 3000 and case.expect[-1] == "notices none" for case in cases)


def _whole(place):
    if place.is_dir():
        return [case for path in place.glob("*.txt") for case in load(path)]
    with closing(sqlite3.connect(place)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        rows = database.execute("select text from turns").fetchall()
    return [read(zlib.decompress(text).decode())[0] for (text,) in rows]


@pytest.mark.parametrize("output", ["", "One, two, "])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_turn_that_was_cancelled_is_cancelled_and_no_error(serving, output, stream):
    """Before its first piece, and after it; by the client's own id."""
    server = serving({"output": output, "stall": True})
    asked = asyncio.create_task(ask(server, {"messages": USER, "stream": stream}, headers={"x-request-id": "mine"}))
    await server.busy()
    assert (await call(server, "POST", "/v1/cancel/mine")).status == 200
    await asked
    (case,) = await logged(server)
    (record,) = server.service.log
    assert (record.outcome, record.error, case.finish) == ("cancelled", "", "cancelled")
    assert "finish cancelled" in case.expect
    assert not problems(case, explain(case, api.get(case.dialect)).turn)


async def test_a_response_in_the_background_that_was_cancelled_before_its_first_piece(serving):
    server = serving({"output": "", "stall": True})
    made = (await call(server, "POST", "/v1/responses", json={"input": "Hi", "background": True})).json["id"]
    await server.busy()
    cancelled = (await call(server, "POST", f"/v1/responses/{made}/cancel")).json
    assert cancelled["status"] == "cancelled"
    (case,) = await logged(server)
    assert (case.finish, case.expect[-2:]) == ("cancelled", ("finish cancelled", "notices none"))


async def test_a_kept_turn_holds_no_stack(serving):
    """The frames of a traceback hold what was read until then, such as a line of megabytes."""
    server = serving({"output": "One", "error": "it caught fire"})
    await ask(server, {"messages": USER, "stream": True})
    await server.idle()
    (record,) = server.service.log
    problem = record.told[-1].error
    assert "caught fire" in str(problem)
    assert problem.__traceback__ is problem.__cause__ is problem.__context__ is None
