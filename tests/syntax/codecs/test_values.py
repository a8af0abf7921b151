"""Values: what is read, what is mended, what is broken, and what a cut leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from drive import drive, same

from dragoman.syntax.codecs.values import DEEPEST, Values
from dragoman.syntax.kinds import ANY, Schema
from dragoman.syntax.reader import Reader


def read(text: str, schema: Any = None, *, repair: bool = True, python: bool = False) -> tuple[str, str, str, str]:
    """How it went, what went out, what is missing, and what was told, in whatever pieces it came."""
    where = ANY if schema is None else Schema(schema)

    def run(pieces: list[str]) -> tuple[str, str, str, str]:
        out: list[str] = []
        made: list[Values] = []

        def put(json: str, start: int, end: int) -> None:
            assert 0 <= start <= end <= len(text)
            out.append(json)

        def work(r: Reader) -> Any:
            made.append(Values(r, put, where, repair=repair, python=python))
            return made[0].run()

        state = drive(work, pieces)
        return state, "".join(out), made[0].missing(), made[0].flawed or made[0].noted

    return same(run, text)


def value(text: str, schema: Any = None, *, noted: str = "", **more: Any) -> str:
    """The JSON of a whole value."""
    state, out, missing, told = read(text, schema, **more)
    assert (state, missing, told) == ("whole", "", noted)
    json.loads(out)
    return out


# --- JSON is kept as it is written


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", "[ ]", '{"a": 1}', '{ "a" :1 , "b":[ ] }', "[1,2.5e-3, -0]", "[true, false, null]", '""', '"a\\n\\u00e9\\/"',
        '[{"a": [[], {}, [{}]]}, "x"]', '"é😀"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"', '"\\ud83d\\n"', '"\\ud83d\\u0041"', '{"": ""}',
    ],
)  # fmt: skip
def test_json_is_kept_verbatim(text: str):
    assert value(text) == text
    assert value(text, repair=False) == text


def test_what_follows_a_value_is_not_read():
    r = Reader()
    assert drive(lambda r: Values(r, lambda *_: None).run(), ['{"a": 1} x'], r=r) == "whole"
    assert r.buf[r.pos :] == " x"


def test_a_bare_scalar_waits_for_what_follows():
    assert read("1") == ("cut", "", "", "")
    assert read("1 ") == ("whole", "1", "", "")
    assert read("[1") == ("cut", "[", "]", "")


# --- repairs


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("[1, ]", "[1 ]"),
        ('{"a": 1,}', '{"a": 1}'),
        ('{"a": 1 , }', '{"a": 1  }'),
        ("[True, False, None]", "[true, false, null]"),
        ("{'a': 'b'}", '{"a": "b"}'),
        ("['say \"hi\"']", '["say \\"hi\\""]'),
        ("['it\\'s']", '["it\'s"]'),
        ('["a\nb\tc"]', '["a\\nb\\tc"]'),
        ('["\x00\x1f"]', '["\\u0000\\u001f"]'),
        ("[007, -01]", "[7, -1]"),
        ("[00]", "[0]"),
        ("[00123]", "[123]"),
    ],
)
def test_what_models_get_wrong_is_mended(text: str, mended: str):
    assert value(text, noted="repaired") == mended


@pytest.mark.parametrize("text", ["[1, ]", '{"a": 1,}', "[True]", "{'a': 1}", "['b']", "[007]"])
def test_a_strict_reader_mends_nothing(text: str):
    state, out, _, _ = read(text, repair=False)
    assert state == "bad"
    assert text.startswith(out)


def test_a_strict_reader_keeps_raw_newlines_and_says_so():
    assert read('["a\nb"]', repair=False) == ("whole", '["a\nb"]', "", "bad-json")


# --- broken


@pytest.mark.parametrize(
    "text",
    [
        "[1 2]", '{"a" 1}', "{a: 1}", "{1: 2}", "[,1]", "[1,,2]", "{,}", "[x]", "[nul]", "[1.]", "[.5]", "[+1]", "[0x10]", "[NaN]", "[-]",
        "[Infinity]", "[1e]", "]", "}", ",", ":", "[}", "{]", "[1}", '{"a": 1]', '{"a": }', "(1)", "[undefined]", "<x>", '{"a", 1}',
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_bad_and_never_guessed_at(text: str):
    state, out, _, _ = read(text)
    assert state == "bad"
    assert text.startswith(out)


@pytest.mark.parametrize(("text"), ['"\\x41"', '"\\d"', '"\\u12"', '"\\uZZZZ"', '"C:\\Users"'])
def test_a_bad_escape_stays_and_makes_the_value_invalid(text: str):
    assert read(text) == ("whole", text, "", "bad-json")


def test_so_deep_and_no_deeper():
    assert value("[" * DEEPEST + "]" * DEEPEST) == "[" * DEEPEST + "]" * DEEPEST
    state, out, missing, told = read("[" * (DEEPEST + 1))
    assert (state, out, missing, told) == ("bad", "[" * DEEPEST, "]" * DEEPEST, "too-deep")


# --- cuts


@pytest.mark.parametrize(
    ("text", "out", "missing"),
    [
        ("", "", ""),
        ("{", "{", "}"),
        ('{"a', "{", "}"),
        ('{"a"', "{", "}"),
        ('{"a":', "{", "}"),
        ('{"a": ', "{", "}"),
        ('{"a": "x', '{"a": "x', '"}'),
        ('{"a": "x\\', '{"a": "x', '"}'),
        ('{"a": "x\\u00', '{"a": "x', '"}'),
        ('{"a": "x\\ud83d', '{"a": "x', '"}'),
        ('{"a": "x\\ud83d\\', '{"a": "x', '"}'),
        ('{"a": "x\\ud83d\\ude', '{"a": "x', '"}'),
        ('{"a": "x"', '{"a": "x"', "}"),
        ('{"a": "x", ', '{"a": "x"', "}"),
        ('{"a": "x", "b', '{"a": "x"', "}"),
        ('{"a": tru', "{", "}"),
        ('{"a": 12', "{", "}"),
        ("[1, [2, ", "[1, [2", "]]"),
        ('[1, {"a": [', '[1, {"a": [', "]}]"),
        ("['a", '["a', '"]'),
    ],
)
def test_what_went_out_and_what_is_missing_are_json(text: str, out: str, missing: str):
    state, said, wanted, _ = read(text)
    assert (state, said, wanted) == ("cut", out, missing)
    if out:
        json.loads(out + missing)


def test_a_string_goes_out_as_it_comes():
    r, out = Reader(), []
    work = Values(r, lambda text, _start, _end: out.append(text)).run()
    next(work)
    shown = []
    for piece in ('{"a', '": "x', "y\\", "n", "z", '"', ", ", '"b": 1', "}"):
        r.feed(piece)
        next(work, None)
        shown.append("".join(out))
        out.clear()
    assert shown == ["{", '"a": "x', "y", "\\n", "z", '"', "", "", ', "b": 1}']


# --- escapes


@pytest.mark.parametrize("text", ['"\\ud83d\\ude00"', '"a\\ud83d\\ude00b"', '"\\uD83D\\uDE00\\ud83d\\ude00"'])
def test_a_surrogate_pair_is_never_parted(text: str):
    for size in range(1, 7):
        r, out = Reader(), []
        work = Values(r, lambda json, _start, _end, out=out: out.append(json)).run()
        next(work)
        for at in range(0, len(text), size):
            r.feed(text[at : at + size])
            next(work, None)
        assert "".join(out) == text
        assert not any(
            "\ud800" <= char <= "\udfff" for piece in out for char in json.loads(f'"{piece.strip(chr(34))}"')
        )


@pytest.mark.parametrize("text", ['"\\ud83dx"', '"\\ud83d\\u12"', '"\\ud83d\\u0041"', '"\\ud83d\\q"', '"\\ud83d"'])
def test_half_a_pair_is_an_escape_of_its_own(text: str):
    assert read(text)[:2] == ("whole", text)


# --- schemas


@pytest.mark.parametrize(
    ("text", "schema", "out"),
    [
        ('["12"]', {"items": {"type": "integer"}}, "[12]"),
        ('{"a": "true"}', {"properties": {"a": {"type": "boolean"}}}, '{"a": true}'),
        ('{"a": "[1]"}', {"properties": {"a": {"type": "array"}}}, '{"a": [1]}'),
        ('{"a": "x\\"y"}', {"properties": {"a": {"type": "integer"}}}, '{"a": "x\\"y"}'),
        (
            '{"a": {"b": ["1.5"]}}',
            {"properties": {"a": {"properties": {"b": {"items": {"type": "number"}}}}}},
            '{"a": {"b": [1.5]}}',
        ),
    ],
)
def test_a_string_where_none_may_stand_is_typed(text: str, schema: Any, out: str):
    noted = "" if text == out else "typed"
    assert value(text, schema, noted=noted) == out


def test_a_string_where_one_may_stand_is_a_string():
    schema = {"properties": {"a": {"type": ["string", "integer"]}}}
    assert value('{"a": "12"}', schema) == '{"a": "12"}'


def test_an_unquoted_literal_says_itself_what_it_is():
    assert value('{"a": 12}', {"properties": {"a": {"type": "string"}}}) == '{"a": 12}'


def test_leading_zeros_of_a_text_are_kept():
    schema = {"properties": {"zip": {"type": "string"}, "n": {"type": "integer"}}}
    assert value('{"zip": 00123, "n": 00123}', schema, noted="repaired") == '{"zip": "00123", "n": 123}'


def test_a_string_that_waits_for_its_type_shows_nothing_when_it_is_cut():
    assert read('["12', {"items": {"type": "integer"}}) == ("cut", "[", "]", "")


# --- Python


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("{'a': (1, 2)}", '{"a": [1, 2]}'),
        ("[True, None]", "[true, null]"),
        ("'a\\'b\\\"c'", '"a\'b\\"c"'),
        ("'\\a\\v\\0'", '"\\u0007\\u000b\\u0000"'),
        ("'a\\\nb'", '"ab"'),
        ("'\\d'", '"\\\\d"'),
        ("'\\\x01'", '"\\\\\\u0001"'),
        ("{ 'a' :1 ,'b':2 , }", '{"a": 1, "b": 2}'),
        ("(1,)", "[1]"),
        ("()", "[]"),
    ],
)
def test_python_literals(text: str, out: str):
    state, said, missing, flawed = read(text, python=True)
    assert (state, said, missing) == ("whole", out, "")
    assert flawed in ("", "repaired")


def test_brackets_must_match_in_python_too():
    assert read("(1]", python=True)[0] == "bad"
    assert read("[1)", python=True)[0] == "bad"


def test_a_key_with_a_bad_escape_is_a_key_all_the_same():
    assert read('{"\\d": 1}') == ("whole", '{"\\d": 1}', "", "bad-json")
