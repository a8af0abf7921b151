"""The endpoints of the turn log: lists, one turn, case files, and any text explained."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from dragoman.cases.read import read
from dragoman.errors import Busy
from dragoman.events import Content, Finish, Reasoning
from dragoman.server.turns import _masked, _plain

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


SECRET = "sk-abcdefghijklmnop1234567890"


async def test_a_list_shows_no_secrets(serving):
    server = serving({"output": f"{'a' * 100} {SECRET} is it", "cut": "characters"})
    await ask(server, {"messages": [{"role": "user", "content": f"{'b' * 100} {SECRET} is mine"}]})
    await server.idle()
    listed = (await get(server, "/dragoman/turns")).body.decode()
    assert "sk-" not in listed
    (turn,) = json.loads(listed)["turns"]
    assert turn["asked"].endswith("*" * 19)
    assert turn["answered"].endswith("*" * 19)


async def test_a_raw_completion_of_several_prompts_is_listed_by_them(serving):
    server = serving({"output": "fine"})
    await call(server, "POST", "/v1/completions", json={"prompt": ["one", "two"]})
    await server.idle()
    turns = (await get(server, "/dragoman/turns")).json["turns"]
    assert {turn["asked"] for turn in turns} == {"one two"}


async def test_a_raw_completion_is_explained_as_text_again(serving):
    server = serving({"output": "<tool_call>plain</tool_call>"})
    await call(server, "POST", "/v1/completions", json={"prompt": "one"})
    await server.idle()
    (turn,) = (await get(server, "/dragoman/turns")).json["turns"]
    text = (await get(server, f"/dragoman/turns/{turn['id']}.txt")).body.decode()
    found = await explained(server, text=text)
    assert found.status == 200
    assert {tile["role"] for tile in found.json["tiles"]} == {"content"}


@pytest.mark.parametrize(
    "tools",
    [[{}], [{"name": []}], [{"function": 5}], [{"name": "a", "parameters": [1]}], [{"name": "a", "description": 5}]],
    ids=str,
)
async def test_tools_that_are_none_are_refused(serving, tools):
    found = await explained(serving(), text="x", dialect="hermes-json", tools=tools)
    assert found.status == 400


async def test_an_unknown_finish_is_refused(serving):
    found = await explained(serving(), text="x", dialect="hermes-json", finish="wat")
    assert found.status == 400


async def test_letter_by_letter_has_a_limit(serving):
    found = await explained(serving(), text="x" * 50_001, dialect="hermes-json", letters=True)
    assert found.status == 413
    assert (await explained(serving(), text="x" * 50_001, dialect="hermes-json")).status == 200


async def test_other_requests_go_on_while_a_long_text_is_explained(serving):
    server = serving({"output": "fine"})
    slow = asyncio.create_task(explained(server, text="a b " * 12_000, dialect="hermes-json", letters=True))
    await ask(server)
    assert not slow.done()
    assert (await slow).status == 200


def test_what_an_upstream_told_is_shown_without_secrets_that_it_cut():
    told = [*map(Content, SECRET), Reasoning("why"), Finish("error", error=Busy("full", retry=1.0, code="full"))]
    masked = _masked(told)
    assert "".join(one.text for one in masked[:-2]) == "*" * len(SECRET)
    assert _plain(masked[-1])["error"] == "full"


async def followed(server, count, *, began=None, **headers):
    """Turns as one watcher hears of them, until so many have ended; `began` is set once it watches."""
    seen, ended = {}, 0
    async with aiohttp.ClientSession() as session, session.get(f"{server.url}/dragoman/live", headers=headers) as live:
        async for line in live.content:
            if line.startswith(b"event: state") and began:
                began.set()
            data = json.loads(line[6:]) if line.startswith(b"data: ") else {}
            if isinstance(data, dict) and "outcome" in data:
                seen.setdefault(data["id"], []).append(data["outcome"])
                ended += data["outcome"] != "open"
            if ended == count:
                break
    return seen


async def test_every_turn_is_followed_to_its_end_by_every_watcher(serving):
    slow = {"output": "one two three four five six seven eight", "pause": 0.15, "when": {"user": "slow"}}
    server = serving(slow, {"output": "fine"}, slots=4, queue=200)
    watching = [asyncio.Event() for _ in range(20)]
    watchers = [asyncio.create_task(followed(server, 61, began=began)) for began in watching]
    await asyncio.gather(*(began.wait() for began in watching))
    long = asyncio.create_task(ask(server, {"messages": [{"role": "user", "content": "slow"}]}))
    await asyncio.sleep(0.3)
    await asyncio.gather(*(ask(server) for _ in range(60)))
    await long
    for seen in await asyncio.wait_for(asyncio.gather(*watchers), 60):
        assert {outcomes[-1] for outcomes in seen.values()} == {"stop"}
        assert ["open", "stop"] in seen.values()


async def test_a_turn_that_the_log_forgets_is_told_of_as_over(serving):
    server = serving({"output": "one two three four", "pause": 0.2}, turn_log="notices")
    began = asyncio.Event()
    watcher = asyncio.create_task(followed(server, 1, began=began))
    await began.wait()
    await ask(server)
    assert list((await asyncio.wait_for(watcher, 60)).values()) == [["open", "stop"]]
    assert (await get(server, "/dragoman/turns")).json["turns"] == []
