"""Policies, tools, and the sink of a call."""

from __future__ import annotations

import pickle

import pytest
from drive import shown

from dragoman.errors import UsageError
from dragoman.messages import Tool
from dragoman.syntax.calls import CallSink, Policy, Tools, tool_of
from dragoman.syntax.kinds import ANY
from dragoman.syntax.sink import Sink

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}


# --- Policy


@pytest.mark.parametrize("field", [{"recover": "always"}, {"recover": ""}, {"unknown": "drop"}, {"unknown": "strict"}])
def test_a_policy_knows_its_words(field: dict):
    with pytest.raises(UsageError, match="use one of"):
        Policy(**field)


def test_a_policy_says_which_words_there_are():
    with pytest.raises(UsageError) as caught:
        Policy(recover="never")
    assert str(caught.value) == "policy recover='never': use one of strict, turn-start, anywhere"


def test_a_policy_is_a_value():
    policy = Policy("anywhere", "refuse", repair=False)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert Policy() == Policy("turn-start", "deliver", repair=True)
    with pytest.raises(AttributeError):
        policy.repair = True  # type: ignore[misc]


# --- tools


@pytest.mark.parametrize(
    "tool",
    [
        Tool("f", "does it", SCHEMA, strict=True),
        {"type": "function", "function": {"name": "f", "description": "does it", "parameters": SCHEMA, "strict": True}},
        {"type": "function", "name": "f", "description": "does it", "parameters": SCHEMA, "strict": True},
        {"name": "f", "description": "does it", "input_schema": SCHEMA, "strict": True},
    ],
    ids=["ours", "nested", "flat", "input_schema"],
)
def test_a_tool_has_several_shapes(tool):
    assert tool_of(tool) == Tool("f", "does it", SCHEMA, strict=True)


def test_all_but_the_name_may_be_missing():
    assert tool_of({"name": "f", "description": None, "parameters": None}) == Tool("f")


@pytest.mark.parametrize("tool", [{}, {"name": 1}, {"function": {}}, {"function": "f"}, {"function": None}])
def test_a_tool_needs_a_name(tool: dict):
    with pytest.raises(UsageError, match="a tool needs a name"):
        tool_of(tool)


def test_unknown_tools_are_not_no_tools():
    assert not Tools(None).known
    assert Tools(()).known
    assert not Tools(()).by_name


def test_a_tools_schema_is_known_by_its_name():
    tools = Tools([Tool("f", parameters=SCHEMA)])
    assert tools.schema("f").property("b").kinds == {"integer"}
    assert tools.schema("f") is tools.schema("f")
    assert tools.schema("g") is ANY


OFFER = [
    Tool("f", parameters={"properties": {"a": {}, "b": {}}}),
    Tool("g", parameters={"properties": {"b": {}, "c": {}}}),
    Tool("h"),
]


@pytest.mark.parametrize(
    ("keys", "name"),
    [("a", "f"), ("ab", "f"), ("c", "g"), ("b", ""), ("ac", ""), ("x", ""), ("", "")],
)
def test_the_only_tool_with_all_these_keys(keys: str, name: str):
    assert Tools(OFFER).only(keys) == name


def test_without_keys_no_tool_is_the_only_one():
    assert Tools([Tool("f")]).only([]) == ""


# --- the sink of a call


def made(*, doubt: bool = True, recovered: bool = False) -> tuple[Sink, CallSink]:
    sink = Sink()
    call = CallSink(
        sink, Tools([Tool("f", parameters=SCHEMA)]), Policy(), 4, lambda _name: doubt, lambda: None, lambda: False
    )
    call.recovered = recovered
    return sink, call


def test_a_call_begins_goes_on_and_ends():
    sink, call = made()
    assert call.begin("f", "id1")
    assert call.open
    assert call.schema.properties() == {"a", "b"}
    call.put('{"a": "x"', 0, 9)
    call.put("}", 9, 10)
    call.end()
    assert shown(sink.take()) == ["call f id=id1", 'args {"a": "x"}', "end"]
    assert (call.open, call.completed, call.index) == (False, True, 5)


def test_an_undeclared_name_is_asked_for():
    assert made(doubt=True)[1].begin("g")
    assert not made(doubt=False)[1].begin("g")
    assert not made(doubt=True)[1].begin("")


def test_a_recovered_call_needs_a_declared_name():
    assert made(recovered=True)[1].begin("f")
    sink, call = made(recovered=True)
    assert not call.begin("g")
    assert not call.open
    assert sink.take() == []


def test_the_notice_of_a_form_comes_once_before_its_call():
    sink, call = made()
    call.lenience, call.began = "recovered", 7
    for _ in range(2):
        call.begin("f")
        call.end()
    assert shown(sink.take()) == ["notice recovered", "call f", "end", "call f", "end"]


def test_a_cut_call_says_what_is_missing():
    sink, call = made()
    call.begin("f")
    call.end(complete=False, whole=False)
    assert shown(sink.take()) == ["call f", "end cut bad {}"]
    assert not call.completed


def test_a_flawed_body_is_complete_but_not_valid():
    sink, call = made()
    call.begin("f")
    call.flawed = "bad-json"
    call.end()
    assert shown(sink.take()) == ["call f", "end bad"]


def test_what_waited_is_taken_once():
    _, call = made()
    call.begin("f")
    call.rest = ", "
    assert (call.take_rest(), call.take_rest()) == (", ", "")
