"""Responses over HTTP: answers, what is kept of them, and what runs in the background."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import closing
from typing import Any

import aiohttp
import openai
import pytest
from responselines import brief, events, final, lines, validated

from dragoman.checks import check_error, check_response, check_responses_stream, compare_responses
from dragoman.engines.script import Script
from dragoman.server.keys import digest
from dragoman.state.store import SQLite

from .conftest import Answer, Running, call, running

PATH = "/v1/responses"
PING = {"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
CALL = {"output": 'I look.\n<tool_call>\n{"name": "ping", "arguments": {"n": 1}}\n</tool_call>'}
HELLO = {"output": "Hello there"}


async def post(server: Running, path: str = PATH, **body: Any) -> Answer:
    """Ask, and hold the answer against the rulebook."""
    body = {"input": "Hi", **body}
    data, headers = json.dumps(body).encode(), {"content-type": "application/json"}
    answer = await call(server, "POST", path, data=data, headers=headers)
    if answer.status != 200:
        found = [*check_error(answer.json)]
    elif answer.headers["content-type"].startswith("text/event-stream"):
        found = check_responses_stream(answer.body, request=body)
    elif answer.json["object"] == "response":
        validated(answer.json)
        found = check_response(answer.json, request=body)
    else:
        found = []
    assert not found, found
    return answer


async def get(server: Running, path: str, method: str = "GET") -> Answer:
    return await call(server, method, PATH + path)


def asked(server: Running) -> list[tuple[str, str]]:
    """The conversation that the engine was last given: roles and texts."""
    request = server.engine.asked[-1][2]
    return [
        (message.role, "".join(getattr(part, "text", "") for part in message.parts)) for message in request.messages
    ]


@pytest.fixture
def client(serving):
    """The official client of a server that plays these turns."""
    made = []

    def make(*turns, **settings):
        server = serving(*turns, **settings)
        made.append(openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0))
        return made[-1]

    yield make
    for one in made:
        one.close()


# --- answers


@pytest.mark.parametrize("path", [PATH, "/responses"])
async def test_r14_an_answer(serving, path):
    server = serving(HELLO)
    answer = await post(server, path)
    said = answer.json
    assert (said["status"], said["model"], said["output"][0]["content"][0]["text"]) == (
        "completed",
        "demo",
        "Hello there",
    )
    assert said["id"] == answer.headers["x-request-id"]
    assert said["completed_at"] >= said["created_at"]


async def test_s8_a_stream_says_the_same(serving):
    server = serving(CALL)
    whole = await post(server, tools=[PING])
    stream = await post(server, tools=[PING], stream=True)
    assert not compare_responses(stream.body, whole.json)
    assert [line for line in brief(stream.body) if "added" in line] == [
        "output_item.added 0 message",
        "output_item.added 1 function_call ping",
    ]
    assert stream.body.endswith(b"data: [DONE]\n\n")


async def test_s9_what_was_ignored_is_told(serving):
    answer = await post(serving(HELLO), tools=[{"type": "web_search"}])
    assert answer.headers["x-dragoman-ignored"] == "tools[0]"


async def test_r12_a_limit(serving):
    answer = await post(serving({"output": "one two three four", "cut": "words"}), max_output_tokens=2)
    assert answer.json["incomplete_details"] == {"reason": "max_output_tokens"}


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({"input": []}, 400, "input"),
        ({"previous_response_id": "resp_gone"}, 404, "previous_response_id"),
        ({"input": [{"type": "item_reference", "id": "msg_gone0000"}]}, 404, "input[0].id"),
        ({"background": True, "store": False}, 400, "background"),
    ],
)
async def test_r30_errors(serving, body, status, param):
    answer = await post(serving(HELLO), **body)
    assert (answer.status, answer.json["error"]["param"]) == (status, param)


async def test_r13_a_stream_that_fails(serving):
    server = serving(
        {"output": "one two three four", "cut": "words", "after": 2, "error": "it fell over"}, keep_alive=9.0
    )
    answer = await post(server, stream=True)
    assert brief(answer.body)[-3:] == ["error server_error it fell over", "failed failed", "done"]
    kept = await get(server, "/" + final(answer.body)["id"])
    assert kept.json == final(answer.body)
    whole = await post(server)
    assert whole.status == 502


async def test_r27_a_context_that_is_too_small(serving):
    server = serving(HELLO, script={"context": 40})
    turns = [{"role": role, "content": "word " * 10} for role in ("user", "assistant") * 3]
    items = [{"role": "system", "content": "Be kind."}, *turns, {"role": "user", "content": "Well?"}]
    answer = await post(server, input=items)
    told = answer.json["error"]
    assert (answer.status, told["code"], told["param"]) == (400, "context_length_exceeded", "input")
    answer = await post(server, input=items, truncation="auto", max_output_tokens=5)
    assert answer.json["truncation"] == "auto"
    assert asked(server)[0] == ("system", "Be kind.")
    assert asked(server)[-1] == ("user", "Well?")
    assert len(asked(server)) < len(items)


async def test_r26_input_tokens(serving):
    server = serving(HELLO)
    short = await post(server, PATH + "/input_tokens")
    long = await post(server, PATH + "/input_tokens", instructions="Be very kind.")
    assert short.json["object"] == "response.input_tokens"
    assert 0 < short.json["input_tokens"] < long.json["input_tokens"]
    first = (await post(server)).json["id"]
    assert (await post(server, PATH + "/input_tokens", previous_response_id=first)).json["input_tokens"] > short.json[
        "input_tokens"
    ]


async def test_r26_compaction_is_not_offered(serving):
    assert (await call(serving(HELLO), "POST", PATH + "/compact", data=b"{}")).status == 501


# --- the official client


def test_the_official_clients_stream_helper(client):
    with client(CALL).responses.stream(model="m", input="Hi", tools=[PING]) as stream:
        kinds = [event.type for event in stream]
        done = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert done.output_text == "I look."
    assert (done.output[1].name, json.loads(done.output[1].arguments)) == ("ping", {"n": 1})


def test_the_official_clients_other_calls(client):
    api = client(HELLO).responses
    made = api.create(model="m", input="Hi")
    assert made.output_text == "Hello there"
    assert api.retrieve(made.id).output_text == "Hello there"
    assert [item.content[0].text for item in api.input_items.list(made.id)] == ["Hi"]
    assert api.input_tokens.count(model="m", input="Hi").input_tokens > 0
    with api.retrieve(made.id, stream=True) as replay:
        assert [event.type for event in replay][-1] == "response.completed"
    with api.stream(response_id=made.id) as replay:
        assert replay.get_final_response().output_text == "Hello there"
    api.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        api.retrieve(made.id)


def test_r13_the_official_client_reports_a_failure(client):
    api = client({"output": "one two three", "cut": "words", "after": 1, "error": "it fell over"}).responses
    with pytest.raises(openai.APIError, match="it fell over"):
        list(api.create(model="m", input="Hi", stream=True))


# --- what is kept


async def test_r25_a_response_follows_another(serving):
    server = serving({"output": "Done.", "when": {"results": "pong"}}, CALL)
    first = (await post(server, tools=[PING], instructions="Be kind.")).json
    assert asked(server)[0] == ("system", "Be kind.")
    call_id = first["output"][1]["call_id"]
    result = {"type": "function_call_output", "call_id": call_id, "output": "pong"}
    second = (await post(server, input=[result], previous_response_id=first["id"], tools=[PING])).json
    assert second["previous_response_id"] == first["id"]
    roles = [role for role, _ in asked(server)]
    assert roles == ["user", "assistant", "tool"]  # R20: the instructions are not carried over
    third = await post(server, input="And?", previous_response_id=second["id"])
    assert [role for role, _ in asked(server)][:3] == roles
    assert asked(server)[-1] == ("user", "And?")
    assert third.status == 200


async def test_r25_what_is_not_to_be_kept_is_not(serving):
    server = serving(HELLO)
    made = (await post(server, store=False)).json
    assert made["store"] is False
    assert (await get(server, "/" + made["id"])).status == 404
    answer = await post(server, previous_response_id=made["id"])
    assert (answer.status, answer.json["error"]["code"]) == (404, "previous_response_not_found")


async def test_r25_a_server_that_keeps_nothing(serving):
    server = serving(HELLO, state="off")
    made = (await post(server)).json
    assert (await get(server, "/" + made["id"])).status == 404
    answer = await post(server, background=True)
    assert (answer.status, answer.json["error"]["param"]) == (400, "background")


async def test_r19_an_item_is_referred_to(serving):
    server = serving(HELLO)
    item = (await post(server)).json["output"][0]["id"]
    await post(server, input=[{"type": "item_reference", "id": item}, {"role": "user", "content": "More"}])
    assert asked(server) == [("assistant", "Hello there"), ("user", "More")]


async def test_r30_a_wrong_field_is_named_as_the_client_sent_it(serving):
    server = serving(HELLO)
    first = (await post(server)).json["id"]
    answer = await post(server, previous_response_id=first, input=[{"role": "robot", "content": ""}])
    assert answer.json["error"]["param"] == "input[0].role"


@pytest.mark.parametrize("streamed", [True, False])
async def test_r26_a_stream_is_given_again(serving, streamed):
    server = serving({"output": "one two three", "cut": "words"})
    made = await post(server, stream=streamed)
    response = final(made.body) if streamed else made.json
    replay = await get(server, f"/{response['id']}?stream=true")
    assert not check_responses_stream(replay.body)
    assert final(replay.body) == response
    if streamed:
        assert replay.body == made.body
    later = await get(server, f"/{response['id']}?stream=true&starting_after=3")
    assert [event["sequence_number"] for event in events(later.body)] == list(range(4, len(events(replay.body))))
    beyond = await get(server, f"/{response['id']}?stream=true&starting_after=999")
    assert beyond.body == b"data: [DONE]\n\n"


@pytest.mark.parametrize("query", ["stream=true&starting_after=x", "stream=true&starting_after=-2"])
async def test_r26_a_number_that_is_none(serving, query):
    server = serving(HELLO)
    made = (await post(server)).json["id"]
    answer = await get(server, f"/{made}?{query}")
    assert (answer.status, answer.json["error"]["param"]) == (400, "starting_after")


async def test_r26_delete(serving):
    server = serving(HELLO)
    made = (await post(server)).json["id"]
    assert (await get(server, "/" + made, "DELETE")).json == {"id": made, "object": "response", "deleted": True}
    assert (await get(server, "/" + made, "DELETE")).status == 404
    assert (await get(server, "/" + made)).status == 404


async def test_r26_input_items_are_paged(serving):
    server = serving(HELLO)
    items = [{"role": "user", "content": str(number)} for number in range(5)]
    made = (await post(server, input=items)).json["id"]
    path = f"/{made}/input_items"
    texts = lambda page: [item["content"][0]["text"] for item in page["data"]]  # noqa: E731
    page = (await get(server, path + "?limit=2")).json
    assert (texts(page), page["has_more"]) == (["4", "3"], True)
    page = (await get(server, f"{path}?limit=2&after={page['last_id']}")).json
    assert (texts(page), page["has_more"]) == (["2", "1"], True)
    page = (await get(server, f"{path}?after={page['last_id']}")).json
    assert (texts(page), page["has_more"], page["object"]) == (["0"], False, "list")
    assert texts((await get(server, path + "?order=asc")).json) == list("01234")
    assert (await get(server, path + "?limit=0")).status == 400
    assert (await get(server, path + "?after=msg_gone")).status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/resp_gone", 404),
        ("GET", "/resp_gone/input_items", 404),
        ("POST", "/resp_gone/cancel", 404),
        ("PUT", "/resp_gone", 405),
        ("GET", "/resp_gone/cancel", 405),
    ],
)
async def test_r26_what_is_not_there(serving, method, path, status):
    answer = await get(serving(HELLO), path, method)
    assert answer.status == status
    assert not [*check_error(answer.json)]


async def test_s10_the_key_is_wanted_for_what_is_kept(serving):
    assert (await get(serving(HELLO, api_key="secret"), "/resp_gone")).status == 401


KEYS = """
[[key]]
name = "alice"
hash = "{0}"
[[key]]
name = "bob"
hash = "{1}"
"""


@pytest.fixture
def shared(serving, tmp_path):
    """A server with the keys `alice` and `bob`."""
    file = tmp_path / "keys.toml"
    file.write_text(KEYS.format(digest(b"alice"), digest(b"bob")))
    return lambda *turns, **settings: serving(*turns, keys=str(file), **settings)


async def by(server: Running, key: str, method: str, path: str = "", **body: Any) -> Answer:
    headers = {"authorization": f"Bearer {key}"}
    more = {"json": {"input": "Hi", **body}} if method == "POST" and not path else {}
    return await call(server, method, PATH + path, headers=headers, **more)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("GET", "?stream=true"), ("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")],
)
async def test_s10_another_key_knows_nothing_of_a_kept_response(shared, method, path):
    server = shared(HELLO)
    made = (await by(server, "alice", "POST", background=path == "/cancel")).json["id"]
    refused = await by(server, "bob", method, f"/{made}{path}")
    nowhere = await by(server, "bob", method, f"/resp_{'0' * 24}{path}")
    assert refused.status == nowhere.status == 404
    assert not [*check_error(refused.json)]
    assert refused.body.replace(made.encode(), b"") == nowhere.body.replace(b"resp_" + b"0" * 24, b"")
    assert (await by(server, "alice", method, f"/{made}{path}")).status == 200


async def test_s10_another_key_cannot_go_on_or_refer_to_it(shared):
    server = shared(HELLO)
    first = (await by(server, "alice", "POST")).json
    refused = await by(server, "bob", "POST", previous_response_id=first["id"])
    assert (refused.status, refused.json["error"]["code"]) == (404, "previous_response_not_found")
    item = [{"type": "item_reference", "id": first["output"][0]["id"]}]
    refused = await by(server, "bob", "POST", input=item)
    assert (refused.status, refused.json["error"]["code"]) == (404, "item_not_found")
    assert (await by(server, "alice", "POST", previous_response_id=first["id"])).status == 200
    assert (await by(server, "alice", "POST", input=item)).status == 200


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")]
)
async def test_s10_another_key_cannot_touch_one_that_runs(shared, method, path):
    server = shared({"output": "x", "after": 0, "stall": True})
    made = (await by(server, "alice", "POST", background=True)).json["id"]
    assert (await by(server, "bob", method, f"/{made}{path}")).status == 404
    refused = await by(server, "bob", "POST", previous_response_id=made)
    assert (refused.status, refused.json["error"]["code"]) == (404, "previous_response_not_found")
    assert (await by(server, "alice", "GET", f"/{made}")).json["status"] in ("queued", "in_progress")
    assert (await by(server, "alice", "POST", f"/{made}/cancel")).json["status"] == "cancelled"


async def test_r26_a_client_that_leaves_cancels_what_it_asked_for(serving):
    server = serving({"output": "one two three four", "cut": "words", "pause": 0.05})
    body = {"input": "Hi", "stream": True}
    async with aiohttp.ClientSession() as session, session.post(server.url + PATH, json=body) as response:
        line = await response.content.readuntil(b"\n\n")
    await server.idle()
    made = events(line)[0]["response"]["id"]
    assert (await get(server, "/" + made)).json["status"] == "cancelled"


def test_r25_responses_outlive_the_server(tmp_path):
    path = str(tmp_path / "state.sqlite")
    script = {"model": "demo", "dialect": "hermes-json", "turn": [HELLO]}
    with running(Script(script), state=path) as server:
        made = asyncio.run(post(server)).json
    with running(Script(script), state=path) as server:
        assert asyncio.run(get(server, "/" + made["id"])).json == made
        assert asyncio.run(post(server, previous_response_id=made["id"])).status == 200


# --- in the background

SLOW = {"output": "one two three four five six", "cut": "words", "pause": 0.02}


async def until(server: Running, response_id: str, *states: str) -> dict[str, Any]:
    """Ask until the response is in one of these states; the test's time-out is the limit."""
    while (response := (await get(server, "/" + response_id)).json)["status"] not in states:
        await asyncio.sleep(0.01)
    return response


async def test_r28_a_response_in_the_background(serving):
    server = serving(SLOW)
    made = (await post(server, background=True)).json
    assert (made["status"], made["background"], made["output"]) == ("queued", True, [])
    done = await until(server, made["id"], "completed")
    assert done["output"][0]["content"][0]["text"] == SLOW["output"]
    assert (await get(server, f"/{made['id']}/input_items")).json["data"][0]["content"][0]["text"] == "Hi"


async def test_r28_a_stream_in_the_background_goes_on_without_its_client(serving):
    server = serving(SLOW)
    body = {"input": "Hi", "stream": True, "background": True}
    async with aiohttp.ClientSession() as session, session.post(server.url + PATH, json=body) as response:
        head = await response.content.readuntil(b"\n\n")
    made = events(head)[0]["response"]["id"]
    rest = await get(server, f"/{made}?stream=true&starting_after=1")
    assert lines(rest.body)[0] == "in_progress in_progress"
    assert final(rest.body)["status"] == "completed"
    whole = await get(server, f"/{made}?stream=true")
    assert not check_responses_stream(whole.body)


async def test_r26_a_background_response_is_cancelled(serving):
    server = serving({**SLOW, "pause": 0.1})
    made = (await post(server, background=True)).json["id"]
    await server.busy()
    cancelled = (await get(server, f"/{made}/cancel", "POST")).json
    assert cancelled["status"] == "cancelled"
    await server.idle()
    assert (await get(server, "/" + made)).json == cancelled
    assert (await get(server, f"/{made}/cancel", "POST")).json == cancelled
    assert final((await get(server, f"/{made}?stream=true")).body) == cancelled


async def test_r26_only_the_background_can_be_cancelled(serving):
    server = serving(HELLO)
    made = (await post(server)).json["id"]
    assert (await get(server, f"/{made}/cancel", "POST")).status == 400


async def test_r26_a_running_response_is_deleted(serving):
    server = serving({**SLOW, "pause": 0.1})
    made = (await post(server, background=True)).json["id"]
    await server.busy()
    assert (await get(server, "/" + made, "DELETE")).status == 200
    await server.idle()
    assert (await get(server, "/" + made)).status == 404


async def test_r28_a_background_response_that_fails(serving):
    server = serving({"output": "one", "after": 0, "error": "it fell over"})
    made = (await post(server, background=True)).json["id"]
    failed = await until(server, made, "failed")
    assert failed["error"] == {"code": "server_error", "message": "it fell over"}
    assert not check_responses_stream((await get(server, f"/{made}?stream=true")).body)


async def test_r25_what_still_runs_cannot_be_followed(serving):
    server = serving({**SLOW, "pause": 0.1})
    made = (await post(server, background=True)).json["id"]
    answer = await post(server, previous_response_id=made)
    assert (answer.status, answer.json["error"]["code"]) == (400, "previous_response_in_progress")
    await get(server, f"/{made}/cancel", "POST")


def test_r28_a_server_that_stops_ends_what_runs(tmp_path):
    path = str(tmp_path / "state.sqlite")
    script = {"model": "demo", "dialect": "hermes-json", "turn": [{**SLOW, "pause": 1.0}]}
    with running(Script(script), state=path) as server:
        made = asyncio.run(post(server, background=True)).json["id"]
    with closing(SQLite(path)) as store:
        kept = store.load(made)
    assert kept is not None
    assert (kept.owner, kept.response["status"]) == ("", "failed")
    assert "stopping" in kept.response["error"]["message"]


def test_r28_what_a_killed_server_was_writing_has_failed(tmp_path):
    path = str(tmp_path / "state.sqlite")
    script = {"model": "demo", "dialect": "hermes-json", "turn": [{**SLOW, "pause": 1.0}]}
    with running(Script(script), state=path) as server:
        made = asyncio.run(post(server, background=True)).json["id"]
        with closing(SQLite(path)) as store:
            record = store.load(made)
    assert record is not None
    assert (record.response["status"], record.owner != "") == ("queued", True)
    with closing(SQLite(path)) as store:
        store.save(record)  # as if there had been no time to end it
    with running(Script(script), state=path) as server:
        failed = asyncio.run(get(server, "/" + made)).json
    assert (failed["status"], failed["error"]["code"]) == ("failed", "server_error")


@pytest.mark.parametrize("stream", [False, True])
async def test_s9_a_grammar_that_the_dialect_cannot_write_is_noted(serving, stream):
    server = serving(HELLO, script={"dialect": "dots"})
    form = {"type": "grammar", "syntax": "regex", "definition": "a b"}
    answer = await post(server, tools=[{"type": "custom", "name": "sh", "format": form}], stream=stream)
    assert (answer.status, answer.headers["x-dragoman-ignored"]) == (200, "tools[0].format")
    refused = await post(server, tools=[{"type": "custom", "name": "sh", "format": form}], tool_choice="required")
    assert refused.status == 400


@pytest.mark.parametrize("path", [PATH, "/v1/chat/completions"])
@pytest.mark.parametrize(("grammars", "ignored"), [("gbnf", None), ("", ".format")])
async def test_s9_a_grammar_that_the_engine_cannot_keep_is_noted(serving, path, grammars, ignored):
    server = serving(HELLO)
    server.engine.grammars = grammars
    custom = {"name": "sh", "format": {"type": "grammar", "syntax": "regex", "definition": "[a-z]+"}}
    if path == PATH:
        body = {"input": "Hi", "tools": [{"type": "custom", **custom}]}
    else:
        body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "custom", "custom": custom}]}
    answer = await call(server, "POST", path, json=body)
    assert answer.status == 200
    told = answer.headers.get("x-dragoman-ignored")
    assert told is None if ignored is None else told.endswith(ignored)
    assert bool(server.engine.asked[-1][1].grammar) is (ignored is None)


async def test_a_coding_agents_two_turns(serving):
    """As one sends them: nothing kept, everything replayed, reasoning carried both ways, tools of every kind."""
    thought = '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "exec", "arguments": {"cmd": "ls"}}\n</tool_call>'
    server = serving({"output": "Done.", "when": {"results": "a.txt"}}, {"output": thought})
    tools = [
        {
            "type": "function",
            "name": "exec",
            "strict": False,
            "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
        },
        {
            "type": "custom",
            "name": "patch",
            "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'},
        },
        {"type": "namespace", "name": "mcp", "description": "more", "tools": [PING]},
        {"type": "web_search"},
    ]
    talk = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List the files."}]},
    ]
    facts = {
        "stream": True, "store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"},
        "tool_choice": "auto", "parallel_tool_calls": True, "prompt_cache_key": "k", "client_metadata": {"a": "b"},
    }  # fmt: skip
    first = await post(server, input=talk, tools=tools, **facts)
    items = final(first.body)["output"]
    assert [item["type"] for item in items] == ["reasoning", "function_call"]
    assert items[0]["summary"][0]["text"].strip() == "Hm."
    result = {"type": "function_call_output", "call_id": items[1]["call_id"], "output": "a.txt"}
    second = await post(server, input=[*talk, *items, result], tools=tools, **facts)
    assert final(second.body)["output"][0]["content"][0]["text"] == "Done."
    assert [role for role, _ in asked(server)] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("late", ["cancel", "deadline"])
async def test_an_end_that_is_being_written_is_not_broken_into(serving, monkeypatch, stream, late):
    """The response is complete, and waits for a slow disk; what comes now from outside comes too late."""
    server = serving(HELLO, **({"total": 0.5} if late == "deadline" else {}))
    shelf, begun, free = server.service.shelf, threading.Event(), asyncio.Event()
    keep = shelf.keep

    async def slowly(recording):
        begun.set()
        await free.wait()
        await keep(recording)

    monkeypatch.setattr(shelf, "keep", slowly)
    waits = asyncio.create_task(post(server, stream=stream))
    try:
        await asyncio.to_thread(begun.wait, 60)
        if late == "cancel":
            (exchange,) = server.service.open
            assert (await call(server, "POST", f"/v1/cancel/{exchange.id}")).status == 202
        else:
            await asyncio.sleep(0.6)  # the deadline passes
    finally:
        server.service.loading.get_loop().call_soon_threadsafe(free.set)
    answer = await waits
    assert (final(answer.body) if stream else answer.json)["status"] == "completed"
    (record,) = server.service.log
    assert record.outcome == "stop"
