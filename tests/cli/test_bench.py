"""The bench command against scripted servers: counts are exact, times are only there."""

from __future__ import annotations

import json

import pytest

from dragoman.cli.load import Level, Plan, Sample

from ..server.conftest import serving

__all__ = ["serving"]


def test_every_request_is_counted(cli, serving):
    server = serving({"output": "one two three four", "cut": [5]})
    ran = cli("bench", server.url, "--concurrency", "1", "3", "--requests", "5", "--json")
    assert (ran.status, ran.err) == (0, "")
    (levels,) = json.loads(ran.out).values()
    assert [(level["concurrency"], level["requests"], level["errors"]) for level in levels] == [(1, 5, 0), (3, 5, 0)]
    assert all(level["tokens_per_second"] > 0 and level["first_p50"] > 0 for level in levels)
    assert len(server.service.log) == 11  # one to warm up


def test_two_servers_get_the_same_prompts(cli, serving):
    one, other = serving({"output": "a b c"}), serving({"output": "d e f"})
    ran = cli("bench", one.url, "--vs", other.url, "--concurrency", "2", "--requests", "3")
    assert ran.status == 0
    assert ran.out.startswith(f"A  {one.url}\nB  {other.url}\n")
    assert [line.split() for line in ran.out.splitlines()[2:4]] == [
        ["┃", "A", "┃", "B"],
        ["┃", "2", "at", "once", "┃", "2", "at", "once"],
    ]
    asked = [sorted(str(record.body["messages"]) for record in server.service.log) for server in (one, other)]
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 4


def test_failures_are_told_and_end_with_1(cli, serving):
    server = serving({"output": "half", "error": "it died"})
    ran = cli("bench", server.url, "--concurrency", "1", "--requests", "2", "--json")
    assert ran.status == 1
    assert "it died" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://127.0.0.1:9",), "is the server running"),
        (("--requests", "0"), "at least 1"),
        (("--extra", "[]"), "a JSON object"),
        (("--extra", "{"), "no JSON"),
    ],
)
def test_what_is_wrong_is_one_line(cli, words, said):
    ran = cli("bench", *words)
    assert ran.status == 2
    assert said in ran.err


def test_percentiles_and_speeds():
    samples = [Sample(first=0.1 * n, total=0.1 * n + 1, gaps=[0.01], prompt=100, output=11) for n in range(1, 11)]
    numbers = Level(2, [*samples, Sample(error="x")], 10.0).numbers()
    assert (numbers["requests"], numbers["errors"]) == (11, 1)
    assert numbers["tokens_per_second"] == 11
    assert numbers["tokens_per_second_each"] == 10
    assert numbers["first_p50"] == 0.55
    assert Level(1, [], 1.0).numbers()["first_p50"] is None


def test_prompts_are_as_long_as_asked_and_differ():
    plan = Plan("m", prompt=100, output=7, more={"ignore_eos": True})
    one, other = plan.body(1), plan.body(2)
    assert one == plan.body(1)
    assert one["messages"] != other["messages"]
    assert 60 < len(one["messages"][0]["content"].split()) < 100
    assert (one["max_tokens"], one["ignore_eos"]) == (7, True)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "ended in the middle"),
        (b"<html>", "ended in the middle"),
        (
            b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
            "has no token",
        ),
    ],
)
def test_answers_without_a_token_are_failures(cli, answering, answer, said):
    ran = cli("bench", answering(answer), "--model", "m", "--concurrency", "1", "--requests", "2", "--json")
    assert ran.status == 1
    assert said in " ".join(ran.err.split())
    ((level,),) = json.loads(ran.out).values()
    assert (level["errors"], level["first_p50"], level["tokens_per_second_each"]) == (2, None, None)


@pytest.mark.parametrize(
    "listed", ["[]", "<html>", "null", '{"data": [{}]}', '{"data": ["x"]}', '{"data": [{"id": 5}]}']
)
def test_a_list_of_models_that_is_none_is_told_of(cli, answering, listed):
    ran = cli("bench", answering(listed.encode()))
    assert ran.status == 2
    assert "lists no model" in ran.err
