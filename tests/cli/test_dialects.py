import json

import dragoman


def test_lists_all(cli):
    ran = cli("dialects")
    assert ran.status == 0
    for name in dragoman.names():
        assert name in ran.out


def test_shows_one(cli):
    ran = cli("dialects", "hermes-json")
    assert ran.status == 0
    assert "<tool_call>" in ran.out
    assert "get_weather" in ran.out


def test_another_name_shows_the_same(cli):
    assert cli("dialects", "hermes").out == cli("dialects", "hermes-json").out


def test_json_is_the_whole_story(cli):
    every = json.loads(cli("dialects", "--json").out)
    assert [one["name"] for one in every] == list(dragoman.names())
    for one in every:
        assert json.loads(cli("dialects", one["name"], "--json").out) == one
        assert one["example"] or not (one["calls"] or one["reasoning"])
        assert one["marks"]


def test_an_example_reads_back(cli):
    for one in json.loads(cli("dialects", "--json").out):
        dialect = dragoman.get(one["name"])
        bare = dialect.gated or dialect.call.startswith("{")  # counts for tools that are on offer only
        tools = [dragoman.Tool("get_weather")] if bare else None
        turn = dragoman.decode(one["name"], one["example"], tools)
        if not dialect.call:
            assert bool(turn.reasoning) == bool(dialect.reasoning)
            continue
        (call,) = turn.calls
        assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris", "days": 3})


def test_unknown(cli):
    ran = cli("dialects", "hermse-json")
    assert ran.status == 2
    assert "hermes-json" in ran.err
