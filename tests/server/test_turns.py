"""The endpoints of the turn log: lists, one turn, case files, and any text explained."""

from __future__ import annotations

import json

import pytest

from dragoman.cases.read import read

from .conftest import USER, WEATHER, ask, call

CALL = '<think>Hm.</think><tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'
REQUEST = {"messages": USER, "tools": [WEATHER], "stream": True}


async def get(server, path, **options):
    return await call(server, "GET", path, **options)


async def explained(server, **body):
    return await call(server, "POST", "/dragoman/explain", json=body)


async def test_the_list_tells_what_was_asked_and_how_it_ended(serving):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    await server.idle()
    (turn,) = (await get(server, "/dragoman/turns")).json["turns"]
    assert (turn["asked"], turn["outcome"], turn["notices"]) == ("Hello", "tool_calls", ["repaired"])
    assert turn["completion_tokens"] > 3
    assert turn["first"] <= turn["seconds"]


@pytest.mark.parametrize(
    ("query", "count"),
    [("?q=oslo", 1), ("?q=bergen", 0), ("?outcome=trouble", 1), ("?outcome=stop", 1), ("?limit=1", 1), ("", 2)],
)
async def test_it_is_searched_and_filtered(serving, query, count):
    server = serving({"output": CALL, "when": {"user": "Hello"}}, {"output": "fine"})
    await ask(server, REQUEST)
    await ask(server, {"messages": [{"role": "user", "content": "else"}]})
    await server.idle()
    assert len((await get(server, f"/dragoman/turns{query}")).json["turns"]) == count


async def test_pages_follow_one_another(serving):
    server = serving({"output": "fine"})
    for _ in range(3):
        await ask(server)
    await server.idle()
    first = (await get(server, "/dragoman/turns?limit=2")).json
    rest = (await get(server, f"/dragoman/turns?limit=2&before={first['turns'][-1]['id']}")).json
    assert first["more"]
    assert not rest["more"]
    assert len({turn["id"] for turn in first["turns"] + rest["turns"]}) == 3


async def test_a_turn_is_a_case_file_too(serving):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    await server.idle()
    (turn,) = (await get(server, "/dragoman/turns")).json["turns"]
    text = (await get(server, f"/dragoman/turns/{turn['id']}.txt")).body.decode()
    (case,) = read(text)
    assert case.raw == CALL
    assert case.frames
    (short,) = read((await get(server, f"/dragoman/turns/{turn['id']}.txt?brief=1")).body.decode())
    assert short.raw == CALL
    assert not short.frames
    whole = (await get(server, f"/dragoman/turns/{turn['id']}")).json
    assert [event["event"] for step in whole["explanation"]["steps"] for event in step["events"]][-1] == "Finish"
    sent = (await get(server, f"/dragoman/turns/{turn['id']}/frames/responses")).json["frames"]
    assert "response.completed" in sent[-1]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/dragoman/turns/none", 404),
        ("/dragoman/turns/none.txt", 404),
        ("/dragoman/turns?limit=x", 400),
        ("/dragoman/web/none.js", 404),
        ("/dragoman/web/..%2f..%2fapi.py", 404),
    ],
)
async def test_what_is_not_there_is_told(serving, path, status):
    answer = await get(serving({"output": "fine"}), path)
    assert answer.status == status
    assert answer.json["error"]["message"]


async def test_without_a_log_there_is_nothing_to_list(serving):
    answer = await get(serving({"output": "fine"}, turn_log="off"), "/dragoman/turns")
    assert answer.status == 501
    assert "--turn-log" in answer.json["error"]["message"]


async def test_nobody_sees_the_turns_of_another_key(serving, tmp_path):
    from dragoman.server.keys import digest

    names = ("alice", "bob")
    keys = "".join(f'[[key]]\nname = "{name}"\nhash = "{digest(name.encode())}"\n' for name in names)
    (tmp_path / "keys.toml").write_text(keys, "utf-8")
    server = serving({"output": CALL}, keys=str(tmp_path / "keys.toml"))
    await ask(server, REQUEST, headers={"authorization": "Bearer alice"})
    await server.idle()
    seen = {
        name: len((await get(server, "/dragoman/turns", headers={"x-api-key": name})).json["turns"]) for name in names
    }
    assert seen == {"alice": 1, "bob": 0}
    assert (await get(server, "/dragoman/turns")).status == 401


async def test_any_text_is_explained(serving):
    server = serving({"output": "fine"})
    found = (await explained(server, text=CALL, tools=[WEATHER])).json
    assert found["dialect"] == "hermes-json"
    assert found["meant"][-1] == "notices repaired"
    again = (await explained(server, text=found["text"])).json
    assert again["meant"] == found["meant"]
    letters = (await explained(server, text=CALL, tools=[WEATHER], letters=True)).json
    assert len(letters["steps"]) == len(CALL) + 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": 1},
        {"text": "no marks"},
        {"text": "x", "dialect": "nope"},
        {"text": "x", "dialect": 5},
        {"text": "x", "dialect": "gemma4", "tools": 5},
        {"text": "==== t\nbad\n---- raw\n---- expect\n"},
        {"text": "==== t\ndialect: gemma4\npolicy: a=b\n---- raw\n---- expect\n"},
    ],
)
async def test_what_cannot_be_explained_is_refused(serving, body):
    answer = await explained(serving({"output": "fine"}), **body)
    assert answer.status == 400, answer.body
    assert answer.json["error"]["message"]


async def test_the_state_tells_models_and_the_last_hour(serving):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    await server.idle()
    state = (await get(server, "/dragoman/state")).json
    (model,) = state["models"]
    assert (model["name"], model["dialect"], model["turns"]) == ("demo", "hermes-json", 1)
    assert sum(slot[1] for slot in state["history"]) == 1


async def test_the_live_stream_tells_turns_as_they_grow(serving):
    import aiohttp

    server = serving({"output": CALL, "pause": 0.02})
    async with aiohttp.ClientSession() as session, session.get(f"{server.url}/dragoman/live") as live:
        await ask(server, REQUEST)
        grown, turns = "", []
        async for line in live.content:
            if line.startswith(b"data: "):
                data = json.loads(line[6:])
                if isinstance(data, list):
                    grown += "".join(text for _, kind, text in data if kind == "call")
                elif "outcome" in data:
                    turns.append(data["outcome"])
            if turns and turns[-1] != "open":
                break
    assert turns[-1] == "tool_calls"
    assert grown.strip() == 'get_weather {"city": "Oslo"}'


async def test_browsers_get_the_page_and_programs_the_list(serving):
    server = serving({"output": "fine"})
    page = await get(server, "/", headers={"accept": "text/html,*/*"})
    assert page.body.startswith(b"<!doctype html>")
    again = await get(server, "/", headers={"accept": "text/html", "if-none-match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert (await get(server, "/")).json["name"] == "dragoman"
