"""Python's strings: escapes, prefixes, triple quotes, neighbours, and quotes amid words."""

from __future__ import annotations

import ast
import json

import pytest

from dragoman import api
from dragoman.syntax.decode import Parser, fold

TOOLS = [
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}, "l": {"type": "array"}}}}
]


def value(written: str, key: str = "a") -> object:
    raw = f"[f({key}={written})]"
    one = Parser(api.get("pythonic-list"), TOOLS)
    singly = fold([event for char in raw for event in one.feed(char)] + one.close())
    turns = (api.decode("pythonic-list", raw, TOOLS), singly)
    found = [json.loads(turn.calls[0].arguments)[key] for turn in turns]
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    "written",
    [
        r"'\x41\x7a'",
        r"'\101\0\18'",
        r"'\N{BULLET} \N{LATIN SMALL LETTER A}'",
        r"'\u00e9\U0001F600'",
        r"'\n\t\\ \' \"'",
        "'''a 'b' \"c\"\nd'''",
        '"""a "b" c"""',
        "r'C:\\new'",
        'r"a\\"b"',
        "'a' 'b' \"c\"",
        "'it''s'",
        "''",
        '""',
    ],
)
def test_a_string_means_what_python_says(written: str):
    assert value(written) == ast.literal_eval(written)


@pytest.mark.parametrize("written", [r"'\x4'", r"'\q'", r"'\N'", r"'\N{NO SUCH}'", r"'\U0011'", r"'\UFFFFFFFF'"])
def test_an_escape_that_is_none_stays_as_it_is(written: str):
    assert value(written) == written[1:-1]


@pytest.mark.parametrize("inside", ['say "hi" to', '"hi" he', 'a "b c" d'])
def test_a_quote_amid_words_is_text(inside: str):
    assert value(f'"{inside}"') == inside


def test_braces_where_a_list_is_wanted_are_a_set():
    assert value("{1, 2}", "l") == [1, 2]
