"""Lines of a key and a value: typed by the schema, cut anywhere, ended by a mark or by nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Tool, Turn
from dragoman.syntax.codecs.kv_lines import KvLines
from dragoman.syntax.decode import Parser, decode, fold
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode

PLAIN = Dialect("plain", "CALL {name}\n{args}END", KvLines())
COLON = Dialect("colon", "<c={name}>\n{args}</c>", KvLines(": "), ends=("<end>",))
ARROW = Dialect("arrow", "<c={name}>{args}</c>", KvLines(" => ", ";"))
TOOL = Tool("f", parameters={"properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "x": {}}})


def read(dialect: Dialect, raw: str, finish: str = "stop") -> Turn:
    turns = []
    for pieces in ([raw], list(raw)):
        parser = Parser(dialect, [TOOL])
        turns.append(fold([event for piece in pieces for event in parser.feed(piece)] + parser.close(finish)))
    assert turns[0] == turns[1]
    return turns[0]


def arguments(turn: Turn) -> Any:
    (call,) = turn.calls
    return json.loads(call.arguments + call.missing)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("", {}),
        ("s=a\nn=2\n", {"s": "a", "n": 2}),
        ("s=\nn=2\n", {"s": "", "n": 2}),
        ("  s =  a b  \n\n n= 2 \n", {"s": "a b", "n": 2}),
        ("s=a=b\n", {"s": "a=b"}),
        ("s=12\nn=twelve\n", {"s": "12", "n": "twelve"}),
        ('x=[1, {"a": null}]\n', {"x": [1, {"a": None}]}),
        ("s=END of it\n", {"s": "END of it"}),
        ("n=2", {"n": 2}),
        ("a line\nn=2\n", {"n": 2}),
    ],
)
def test_lines(body: str, value: Any):
    assert arguments(read(PLAIN, f"CALL f\n{body}END")) == value
    assert (
        arguments(read(COLON, f"<c=f>\n{body.replace('=', ': ', 1).replace('n=', 'n: ')}</c>")) == value or "=" in body
    )


def test_other_signs():
    assert arguments(read(COLON, "<c=f>\ns: a: b\nn:2</c><end>")) == {"s": "a: b", "n": 2}
    assert arguments(read(ARROW, "<c=f>s => a = b; n=>2;</c>")) == {"s": "a = b", "n": 2}


def test_a_key_that_begins_like_the_mark():
    tool = Tool("f", parameters={"properties": {"ENDS": {"type": "string"}}})
    (call,) = decode(PLAIN, "CALL f\nENDS=x\nEND", [tool]).calls
    assert json.loads(call.arguments) == {"ENDS": "x"}


@pytest.mark.parametrize("at", range(7, 24))
def test_a_cut_anywhere_is_told(at: int):
    turn = read(PLAIN, "CALL f\ns=a b\nn=17\nEND"[:at], "length")
    (call,) = turn.calls
    given = arguments(turn)
    assert "a b".startswith(given.get("s", ""))
    assert given.get("n", 17) == 17
    assert call.complete == (at >= 21)


def test_a_string_streams():
    parser = Parser(PLAIN, [TOOL])
    parser.feed("CALL f\ns=")
    assert "".join(getattr(event, "json", "") for event in parser.feed("abc")) == '{"s": "abc'


def test_without_its_mark():
    turn = read(PLAIN, "CALL f\nn=2")
    assert arguments(turn) == {"n": 2}
    assert "unclosed" in {notice.code for notice in turn.notices}


def test_written_and_read():
    turn = Turn((Call("f", '{"s": "a b", "n": 2, "x": [1]}'),))
    text = encode(PLAIN, turn)
    assert text == "CALL f\ns=a b\nn=2\nx=[1]\nEND"
    with pytest.raises(UsageError):
        encode(PLAIN, Turn((Call("f", '{"s": "a\\nb=c"}'),)))


def test_the_grammar():
    grammar = api.constrain(PLAIN, [TOOL], "required", form="gbnf")
    assert '"s="' in grammar
    assert '"\\n"' in grammar
