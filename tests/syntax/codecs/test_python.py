"""Calls as Python writes them."""

from __future__ import annotations

import pytest
from drive import Payload

from dragoman.messages import Call, Tool
from dragoman.syntax.codecs.python import Python

TOOLS = [
    Tool("f", parameters={"properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "x": {}}}),
    Tool("ns.g-1", parameters={}),
]


def read(text: str, **more) -> tuple[str, list[str]]:
    """How calls are read; that each one ends is told only where it matters."""
    state, lines = Payload(TOOLS, begun=False, **more).read(Python(), text)
    return state, [line for line in lines if line != "end"]


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("f()", "{}"),
        ("f( )", "{}"),
        (' f(a="x")', '{"a": "x"}'),
        ("f(a='it\\'s', n=1)", '{"a": "it\'s", "n": 1}'),
        ("f(a = 'x' , n = 2 ,)", '{"a": "x", "n": 2}'),
        ("f(x=[True, None, {'k': (1, 2)}])", '{"x": [true, null, {"k": [1, 2]}]}'),
        ('f(n="12")', '{"n": 12}'),
        ("[f(a='x')]", '{"a": "x"}'),
        ("[ f(a='x') ]", '{"a": "x"}'),
    ],
)
def test_one_call(text: str, out: str):
    state, lines = read(text)
    assert state == "whole"
    assert [line for line in lines if not line.startswith("notice")] == ["call f", f"args {out}"]


@pytest.mark.parametrize("text", ["[f(), ns.g-1(x=1)]", "f(); ns.g-1(x=1)", "[f(),ns.g-1(x=1)]"])
def test_several_calls(text: str):
    assert read(text) == ("whole", ["call f", "args {}", "call ns.g-1", 'args {"x": 1}'])


def test_values_without_keywords_are_the_declared_parameters():
    assert read("f('x', 2)") == ("whole", ["call f", 'args {"a": "x", "n": 2}'])
    assert read("f('x', x=1)") == ("whole", ["call f", 'args {"a": "x", "x": 1}'])
    assert read("f('x', 1, 2, 3)")[0] == "bad"


def test_what_stands_around_a_declared_name_is_left_out():
    for text in ("print(f(n=1))", "api.f(n=1)", "f.call(n=1)"):
        state, lines = read(text)
        assert (state, [line for line in lines if "repaired" not in line]) == ("whole", ["call f", 'args {"n": 1}'])


def test_a_call_as_a_value_is_text():
    assert read("f(a=g(h(')'), 1), n=1)") == ("whole", ["call f", """args {"a": "g(h(')'), 1)", "n": 1}"""])


def test_the_bracket_of_the_last_call_may_be_missing():
    assert read("[f(n=1]") == ("whole", ["call f", 'args {"n": 1}', "notice unclosed"])


def test_a_list_that_is_not_closed_is_told_of():
    assert read("[f() x") == ("whole", ["call f", "args {}", "notice unclosed", "rest x"])
    assert read("[f()") == ("whole", ["call f", "args {}", "notice unclosed"])


def test_what_follows_a_single_call_is_not_read():
    assert read("f() x") == ("whole", ["call f", "args {}", "rest  x"])
    assert read("f()]") == ("whole", ["call f", "args {}", "rest ]"])


@pytest.mark.parametrize("text", ["ns.g-1(1)", "h('x')", "f(a)", "f(a, b)", "f x", "1()", "()", "f(*a)", "[1, 2]"])
def test_what_is_no_call_with_keywords_is_none(text: str):
    state, lines = read(text)
    assert state == "bad"
    assert not [line for line in lines if line.startswith("call")]


@pytest.mark.parametrize("text", ["f(a=1, 2)", "f(1=2)", "f(a=1 b=2)", "f(a='x', *b)", "f(n=g())"])
def test_a_body_that_goes_wrong_is_bad(text: str):
    state, lines = read(text)
    assert (state, lines[0]) == ("bad", "call f")


def test_a_name_that_makes_no_call():
    assert read("g(a=1)")[0] == "bad"
    assert read("g(a=1)", recovered=True)[0] == "bad"


def shown(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("call")]


@pytest.mark.parametrize("text", ["", "[", "f", "[ns.g"])
def test_a_call_that_is_cut_in_its_name_shows_nothing(text: str):
    state, lines = read(text)
    assert (state, shown(lines)) == ("cut", [])


@pytest.mark.parametrize("text", ["f(", "f(a", "f(a "])
def test_a_name_and_a_bracket_are_a_call_behind_a_mark(text: str):
    state, lines = read(text, recovered=True)
    assert (state, shown(lines)) == ("cut", [])
    state, lines = read(text)
    assert (state, shown(lines)) == ("cut", ["call f"])


@pytest.mark.parametrize(
    ("text", "out", "missing"),
    [
        ("f(a=", "{", "}"),
        ("f(a='x", '{"a": "x', '"}'),
        ("f(a='x'", '{"a": "x"', "}"),
        ("f(a='x', ", '{"a": "x"', "}"),
        ("f(a='x', n", '{"a": "x"', "}"),
        ("f(n=1", "{", "}"),
    ],
)
def test_a_cut_call_says_what_is_missing(text: str, out: str, missing: str):
    assert read(text) == ("cut", ["call f", f"args {out}", f"missing {missing}"])


def test_it_writes_keywords():
    one = Call("f", '{"a": "it\'s", "x": [true, null, {"k": 1.5}]}')
    assert Python().encode(one) == """f(a="it's", x=[True, None, {"k": 1.5}])"""
    assert Python().encode(Call("f", "{}")) == "f()"
