"""Nested elements: objects, lists and text, closed or not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.messages import Call, Tool, Turn
from dragoman.syntax.codecs.elements import Elements
from dragoman.syntax.decode import Parser, fold
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode

NAMED = Dialect(
    "named", '<c name="{name}">{args}</c>', Elements("]<]x[>[<{key}>{value}]<]x[>[</{key}>"), ends=("<end>",)
)
TOLD = Dialect("told", '<c name="{name}">{args}</c>', Elements('<v name="{key}" type="{type}">{value}</v>'))
TOOL = Tool(
    "f",
    parameters={
        "properties": {
            "s": {"type": "string"},
            "n": {"type": "integer"},
            "l": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "properties": {"zip": {"type": "string"}}},
        }
    },
)


def read(dialect: Dialect, body: str, finish: str = "stop", after: str = "</c>") -> Any:
    raw = f'<c name="f">{body}{after}'.replace("N<", "]<]x[>[<")
    turns = []
    for pieces in ([raw], list(raw)):
        parser = Parser(dialect, [TOOL])
        turns.append(fold([event for piece in pieces for event in parser.feed(piece)] + parser.close(finish)))
    assert turns[0] == turns[1]
    (call,) = turns[0].calls
    assert call.complete == (finish == "stop")
    return json.loads(call.arguments + call.missing)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("", {}),
        ("N<s>12N</s>", {"s": "12"}),
        ("N<s> a < b N</s>N<n>2N</n>", {"s": " a < b ", "n": 2}),
        ("N<o>N<zip>007N</zip>N</o>", {"o": {"zip": "007"}}),
        ("N<l>N<any>1N</any>N<item>bN</item>N</l>", {"l": ["1", "b"]}),
        ("N<x>N<item>1N</item>N<item>N<y>bN</y>N</item>N</x>", {"x": [1, {"y": "b"}]}),
        ("N<x>N<a>nullN</a>N</x>", {"x": {"a": None}}),
        ("N<l>N</l>N<o>N</o>N<s>N</s>", {"l": [], "o": {}, "s": ""}),
        ('N<l>["a", "b"]N</l>', {"l": ["a", "b"]}),
        ("N<s>a N</s> bN</s>", {"s": "a ]<]x[>[</s> b"}),
        ("N<o>N<zip>1N</o>N<n>2N</n>", {"o": {"zip": "1"}, "n": 2}),
        ("N</s>junkN<n>2N</n>", {"n": 2}),
    ],
)
def test_elements_by_their_names(body: str, value: Any):
    assert read(NAMED, body) == value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ('<v name="s" type="raw">007</v>', {"s": "007"}),
        ("<v type='json' name=n>7</v>", {"n": 7}),
        ('<v name="l" type="list"><v type="raw">1</v><v type="json">1</v></v>', {"l": ["1", 1]}),
        ('<v name="o" type="dict"><v name="k" type="list"></v></v>', {"o": {"k": []}}),
        ('<v name="s">x</v>', {"s": "x"}),
    ],
)
def test_elements_that_tell_their_types(body: str, value: Any):
    assert read(TOLD, body) == value


@pytest.mark.parametrize("at", range(1, 90))
def test_a_cut_says_what_is_missing(at: int):
    body = "N<o>N<zip>00N</zip>N</o>N<n>12N</n>N<s>abc".replace("N<", "]<]x[>[<")
    shown = read(NAMED, body[:at], "length", "")
    assert shown in ({}, {"o": {}}, *({"o": {"zip": "00"[:n]}} for n in range(3)), {"o": {"zip": "00"}, "n": 12}) or (
        shown["n"] == 12 and "abc".startswith(shown["s"])
    )


@pytest.mark.parametrize("dialect", [NAMED, TOLD], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "value",
    [
        {"x": [1, "a", None, [True, {"k": "v"}]]},
        {"x": {"item": 1}, "y": {}, "z": [], "w": ["1", "null"]},
        {"x": {"a b": 1, "c": ["</v> ]<]x[>[</x>"]}},
        {"s": "a\n<b>\n"},
    ],
)
def test_what_is_written_reads_back(dialect: Dialect, value: Any):
    raw = encode(dialect, Turn((Call("f", json.dumps(value)),)))
    parser = Parser(dialect, [Tool("f")])
    assert json.loads(fold(parser.feed(raw) + parser.close()).calls[0].arguments) == value


def test_nesting_has_a_limit():
    parser = Parser(NAMED, [TOOL])
    raw = '<c name="f">' + "]<]x[>[<x>" * 3000
    (call,) = fold(parser.feed(raw) + parser.close()).calls
    assert not call.valid
