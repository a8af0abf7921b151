"""Objects with bare keys and strings between marks."""

from __future__ import annotations

import pytest
from drive import Payload

from dragoman import api
from dragoman.messages import Call, Tool
from dragoman.syntax.codecs.braces import Braces
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.plan import Scope

PROPERTIES = {
    "s": {"type": "string"}, "t": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
    "l": {"type": "array", "items": {"type": "string"}}, "o": {"type": "object", "properties": {"k": {"type": "string"}}}, "x": {},
}  # fmt: skip
TOOLS = [Tool("f", parameters={"type": "object", "properties": PROPERTIES})]
CODEC = Braces("<q>")
SCOPE = Scope(("</c>",), ("<c>",), ("<end>",))


def read(text: str) -> tuple[str, list[str]]:
    return Payload(TOOLS, scope=SCOPE).read(CODEC, text)


def args(text: str, *, repaired: bool = False) -> str:
    """The arguments of a whole payload."""
    state, lines = read(text)
    assert state == "whole"
    assert ("notice repaired" in lines) is repaired
    return "".join(line.removeprefix("args ") for line in lines if line.startswith("args"))


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("{}", "{}"),
        ("{ }", "{}"),
        ("{s:<q>x<q>}", '{"s": "x"}'),
        ("{s:<q>x<q>,n:1}", '{"s": "x", "n": 1}'),
        (" { s : <q>x<q> , n : 1 }", '{"s": "x", "n": 1}'),
        ("{s=<q>x<q>}", '{"s": "x"}'),
        ("(s=<q>x<q>)", '{"s": "x"}'),
        ("{n:-1.5e3,b:true,x:null}", '{"n": -1.5e3, "b": true, "x": null}'),
        ("{l:[<q>a<q>,<q>b<q>],o:{k:<q>v<q>}}", '{"l": ["a", "b"], "o": {"k": "v"}}'),
        ("{l:[],o:{}}", '{"l": [], "o": {}}'),
        ("{x:[1,[2,{a:<q>b<q>}]]}", '{"x": [1, [2, {"a": "b"}]]}'),
        ("{<q>my key<q>:1}", '{"my key": 1}'),
        ('{"s":<q>x<q>}', '{"s": "x"}'),
        ("{`s`:<q>x<q>}", '{"s": "x"}'),
        ("{my key:1}", '{"my key": 1}'),
        ("{s:<q><q>}", '{"s": ""}'),
    ],
)
def test_objects(text: str, out: str):
    assert args(text) == out


def test_between_its_marks_a_string_is_raw():
    assert (
        args('{s:<q>a "b" \\n \n{,}[:] </c><end> <c> </q<q>}') == '{"s": "a \\"b\\" \\\\n \\n{,}[:] </c><end> <c> </q"}'
    )


# --- other quotes


@pytest.mark.parametrize("text", ['{s:"x"}', "{s:'x'}", "{s:`x`}"])
def test_plain_quotes_stand_for_marks(text: str):
    assert read(text)[0] == "whole"
    assert 'args {"s": "x"}' in read(text)[1]


def test_an_opening_mark_may_be_missing():
    assert args("{s:Oslo, NO<q>,n:1}") == '{"s": "Oslo, NO", "n": 1}'


def test_a_quoted_value_where_no_string_may_stand_is_typed():
    assert args("{n:<q>12<q>,b:<q>True<q>}") == '{"n": 12, "b": true}'
    assert args('{n:"12"}').endswith("12}")


# --- bare text


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("{s:Oslo}", '{"s": "Oslo"}'),
        ("{s:Oslo, Norway}", '{"s": "Oslo, Norway"}'),
        ("{s:Oslo, Norway,n:1}", '{"s": "Oslo, Norway", "n": 1}'),
        ("{s:Oslo, n: 1}", '{"s": "Oslo", "n": 1}'),
        ("{s:at 10:30, 11:45,n:1}", '{"s": "at 10:30, 11:45", "n": 1}'),
        ("{s:a,other:b}", '{"s": "a", "other": "b"}'),
        ("{s:a, other: b}", '{"s": "a, other: b"}'),
        ("{s:f(1, [2]){3}}", '{"s": "f(1, [2]){3}"}'),
        ("{s:a ) b}", '{"s": "a ) b"}'),
        ("{l:[a b,c]}", '{"l": ["a b", "c"]}'),
        ("{x:True,n:00123}", '{"x": true, "n": 123}'),
        ("{x:None}", '{"x": null}'),
        ("{x:maybe}", '{"x": "maybe"}'),
        ("{n:many}", '{"n": "many"}'),
        ("{s:<c>a</c>b}", '{"s": "<c>a</c>b"}'),
    ],
)
def test_bare_text_ends_where_the_next_key_begins(text: str, out: str):
    assert args(text, repaired=True) == out


# --- broken and cut


@pytest.mark.parametrize("text", ["{:1}", "{s}", "{s,n:1}", "{s:<q>x<q> y}", "{s:<q>x<q>n:1}", "{<x", "{s:[1}x]y"])
def test_what_cannot_be_read_is_bad(text: str):
    assert read(text)[0] == "bad"


def test_a_mark_that_closes_the_call_closes_what_is_open():
    assert read("{s:<q>x<q></c>") == ("whole", ['args {"s": "x"}', "notice unclosed", "rest </c>"])


def test_an_end_of_turn_in_a_call_is_a_cut():
    assert read("{s:<q>x<q><end>")[0] == "cut"


@pytest.mark.parametrize(
    ("text", "out", "missing"),
    [
        ("", "", "{}"),
        ("{", "{", "}"),
        ("{s", "{", "}"),
        ("{s:", "{", "}"),
        ("{s:<q", "{", "}"),
        ("{s:<q>x", '{"s": "x', '"}'),
        ("{s:<q>x<", '{"s": "x<', '"}'),
        ("{s:<q>x<q>", '{"s": "x"', "}"),
        ("{s:Oslo", "{", "}"),
        ("{n:1", "{", "}"),
        ('{s:"x', "{", "}"),
        ("{s:`x", "{", "}"),
        ("{<q>ke", "{", "}"),
        ("{n:<q>1", "{", "}"),
        ("{l:[<q>a<q>,", '{"l": ["a"', "]}"),
        ("{o:{k:", '{"o": {', "}}"),
    ],
)
def test_a_cut_object_says_what_is_missing(text: str, out: str, missing: str):
    state, lines = read(text)
    assert state == "cut"
    assert [line for line in lines if line.startswith("args")] == ([f"args {out}"] if out else [])
    assert f"missing {missing}" in lines


def test_so_deep_and_no_deeper():
    state, lines = read("{x:" + "[" * 80)
    assert state == "bad"
    assert "flawed too-deep" in lines


# --- encode


def test_it_writes_what_it_reads():
    one = Call("f", '{"s": "a \\"b\\"", "n": 1, "b": false, "l": ["x", null], "o": {"k": {}}, "my key": 1.5}')
    assert CODEC.encode(one) == '{s:<q>a "b"<q>,n:1,b:false,l:[<q>x<q>,null],o:{k:{}},<q>my key<q>:1.5}'


def test_two_marks_around_a_string():
    codec = Braces("<q>", "</q>")
    state, lines = Payload(TOOLS, scope=SCOPE).read(codec, "{s:<q>a<q>, {b}</q>,l:[<q></q>],n:2}")
    assert state == "whole"
    assert "".join(line.removeprefix("args ") for line in lines) == '{"s": "a<q>, {b}", "l": [""], "n": 2}'
    assert codec.encode(Call("f", '{"s": "x", "my key": 1}')) == "{s:<q>x</q>,<q>my key</q>:1}"
    grammar = api.constrain(Dialect("x", "<c>{name}{args}</c>", codec), TOOLS, "required", form="gbnf")
    assert '"<q>"' in grammar
    assert '"</q>"' in grammar
