"""Text typed by a tool's schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.syntax.kinds import ANY, NUMBER, Schema, quote, strict_json, typed

STRING, INTEGER, NUMBER_, BOOLEAN = ({"type": t} for t in ("string", "integer", "number", "boolean"))
OBJECT, ARRAY, NULL = ({"type": t} for t in ("object", "array", "null"))


def one(text: str, schema: Any) -> Any:
    """The value, which must be what the schema asks for."""
    written, right = typed(text, Schema(schema))
    assert right
    return json.loads(written)


def text(word: str, schema: Any) -> bool:
    """Whether the text stays a string although the schema asks for something else."""
    written, right = typed(word, Schema(schema))
    return json.loads(written) == word and not right


# --- kinds of a schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, None),
        (True, None),
        (None, None),
        ({"description": "x"}, None),
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "integer null"),
        ({"type": "string", "nullable": True}, "null string"),
        ({"type": "string", "nullable": False}, "string"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "integer string"),
        ({"oneOf": [{"type": "boolean"}, {"enum": ["all"]}]}, "boolean string"),
        ({"allOf": [{"type": "object"}, {"description": "x"}]}, "object"),
        ({"anyOf": "nonsense"}, None),
        ({"enum": ["a", 1, 1.5, True, None, [1], {"b": 1}]}, "array boolean integer null number object string"),
        ({"enum": "nonsense"}, None),
        ({"const": "x"}, "string"),
        ({"const": None}, "null"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"type": "string", "enum": [1]}, "string"),
        ({"type": []}, None),
        ({"type": {"odd": 1}}, None),
    ],
)  # fmt: skip
def test_the_kinds_that_a_schema_allows(schema: Any, expected: str | None):
    kinds = Schema(schema).kinds
    assert (None if kinds is None else " ".join(sorted(kinds))) == expected


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("str", "string"), ("varchar(10)", "string"), ("enum", "string"), ("date", "string"), ("uuid", "string"),
        ("int", "integer"), ("int32", "integer"), ("uint64", "integer"), ("long", "integer"),
        ("float", "number"), ("double", "number"), ("num", "number"), ("decimal", "number"),
        ("bool", "boolean"), ("list[str]", "array"), ("tuple", "array"), ("set", "array"), ("arr", "array"),
        ("dict", "object"), ("Map<String, int>", "object"), ("obj", "object"), ("None", "null"),
    ],
)  # fmt: skip
def test_names_from_the_wild_are_understood(name: str, kind: str):
    assert Schema({"type": name}).kinds == {kind}


def test_only_a_string_is_text_only():
    assert Schema(STRING).text_only
    assert not Schema({"type": ["string", "null"]}).text_only
    assert not ANY.text_only


def test_what_does_not_say_allows_everything():
    assert ANY.allows("array")
    assert Schema(STRING).allows("string")
    assert not Schema(STRING).allows("array")


# --- references and places


def test_references_are_followed_and_cycles_end():
    tree = {
        "$defs": {
            "node": {"type": "object", "properties": {"v": {"type": "integer"}, "kid": {"$ref": "#/$defs/node"}}},
            "a/b~c": {"type": "boolean"},
            "loop": {"$ref": "#/$defs/loop"},
        },
        "properties": {
            "tree": {"$ref": "#/$defs/node"},
            "odd": {"$ref": "#/$defs/a~1b~0c"},
            "loop": {"$ref": "#/$defs/loop"},
            "lost": {"$ref": "#/$defs/none"},
            "whole": {"$ref": "#"},
            "through": {"$ref": "#/$defs/node/type/x"},
        },
    }
    root = Schema(tree)
    place = root.property("tree")
    for _ in range(20):
        place = place.property("kid")
    assert place.property("v").kinds == {"integer"}
    assert root.property("odd").kinds == {"boolean"}
    assert [root.property(key).kinds for key in ("loop", "lost", "through")] == [None, None, None]


def test_alternatives_may_be_references():
    schema = Schema({"$defs": {"n": INTEGER}, "anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]})
    assert schema.kinds == {"integer", "null"}


def test_properties_are_found_in_all_alternatives():
    schema = Schema(
        {"oneOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": STRING}}], "properties": {"c": BOOLEAN}}
    )
    assert schema.properties() == {"a", "b", "c"}
    assert [next(iter(schema.property(key).kinds or ())) for key in "abc"] == ["integer", "string", "boolean"]


def test_other_keys_follow_additional_properties():
    assert Schema({"additionalProperties": INTEGER}).property("x").kinds == {"integer"}
    assert Schema({"additionalProperties": False}).property("x").kinds is None
    assert Schema({"properties": "nonsense"}).property("x") is ANY


def test_items_have_a_schema():
    assert Schema({"items": INTEGER}).item().kinds == {"integer"}
    assert Schema({"anyOf": [{"type": "null"}, {"items": STRING}]}).item().kinds == {"string"}
    assert Schema({"items": [INTEGER]}).item() is ANY


# --- text by its schema


@pytest.mark.parametrize("word", ["null", "true", "12", "1.5", "[1]", '{"a": 1}', "", " x ", 'a "b"', "\ud800"])
def test_a_string_stays_a_string_whatever_it_looks_like(word: str):
    assert one(word, STRING) == word


@pytest.mark.parametrize(
    ("word", "value"),
    [("12", 12), (" 12\n", 12), ("-3", -3), ("+3", 3), ("00123", 123), ("-007", -7), ("5.0", 5), ("5.00", 5), ("9" * 100, int("9" * 100))],
)  # fmt: skip
def test_integers(word: str, value: int):
    assert one(word, INTEGER) == value


@pytest.mark.parametrize("word", ["1.5", "5.", ".0", "1e3", "0x10", "1_000", "one", "", "NaN", "--1", "9" * 5000])
def test_what_is_no_integer_stays_text(word: str):
    assert text(word, INTEGER)


@pytest.mark.parametrize(
    ("word", "value"),
    [("1.5", 1.5), ("12", 12), ("1e3", 1000.0), (".5", 0.5), ("5.", 5.0), ("+1.5", 1.5), ("007", 7.0), ("-0", 0)],
)
def test_numbers(word: str, value: float):
    assert one(word, NUMBER_) == value


def test_a_value_that_the_schema_lists_is_taken_as_it_stands():
    assert one("1", {"enum": ["1", 2]}) == "1"
    assert one("2", {"enum": ["1", 2]}) == 2
    assert one("true", {"anyOf": [{"type": "boolean"}, {"const": "true"}]}) == "true"


def test_a_number_that_is_json_is_not_touched():
    assert typed("1.50e+2", Schema(NUMBER_)) == ("1.50e+2", True)
    huge = "9" * 5000
    assert typed(huge, Schema(NUMBER_)) == (huge, True)


@pytest.mark.parametrize("word", ["NaN", "nan", "inf", "-Infinity", "1e999x", "x", "", "1,5"])
def test_what_is_no_number_stays_text(word: str):
    assert text(word, NUMBER_)


@pytest.mark.parametrize(("word", "value"), [("true", True), ("True", True), (" FALSE ", False)])
def test_booleans(word: str, value: bool):
    assert one(word, BOOLEAN) is value


@pytest.mark.parametrize("word", ["yes", "on", "t", ""])
def test_what_is_no_boolean_stays_text(word: str):
    assert text(word, BOOLEAN)


def test_null():
    assert one("null", NULL) is None
    assert one(" None ", NULL) is None
    assert text("nil", NULL)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ("{'a': true, 'b': null, 'c': false}", {"a": True, "b": None, "c": False}),
        ("{}", {}),
    ],
)
def test_objects_in_json_and_in_python(word: str, value: Any):
    assert one(word, OBJECT) == value


@pytest.mark.parametrize(
    ("word", "value"),
    [("[1, 2]", [1, 2]), ("['a', None]", ["a", None]), ("(1, 2)", [1, 2]), ("{1}", [1]), ("[1,]", [1]), ("1, 2", [1, 2])],
)  # fmt: skip
def test_arrays_in_json_and_in_python(word: str, value: Any):
    assert one(word, ARRAY) == value


@pytest.mark.parametrize(
    "word", ["[1", "f()", "[x]", "12", '{"a": 1}', "", "[" * 300, "[" * 100_000, "\x00", "[b'x']", "[1j]"]
)
def test_what_is_no_array_stays_text(word: str):
    assert text(word, ARRAY)


@pytest.mark.parametrize("word", ["{1, 2}", "[1]", "{[]: 1}", "{'a': ...}"])
def test_what_is_no_object_stays_text(word: str):
    assert text(word, OBJECT)


def test_json_containers_are_not_touched():
    assert typed(' {"a":  1.0}\n', Schema(OBJECT)) == ('{"a":  1.0}', True)


# --- unions


@pytest.mark.parametrize(
    ("word", "kinds", "value"),
    [
        ("null", ["string", "null"], None),
        ("null", ["string", "integer"], "null"),
        ("12", ["string", "integer"], 12),
        ("00123", ["string", "integer"], "00123"),
        ("+47", ["number", "string"], "+47"),
        ("1.50", ["number", "string"], 1.5),
        ("1.5", ["integer", "number"], 1.5),
        ("5.0", ["integer", "number"], 5),
        ("true", ["string", "boolean"], True),
        ("1", ["boolean", "string"], "1"),
        ("[1]", ["array", "string"], [1]),
        ("[x", ["array", "string"], "[x"),
    ],
)
def test_of_several_kinds_the_first_that_fits_counts(word: str, kinds: list[str], value: Any):
    made = one(word, {"type": kinds})
    assert (type(made), made) == (type(value), value)


# --- no schema


@pytest.mark.parametrize(
    ("word", "value"),
    [("12", 12), (" 12 ", 12), ("1.5", 1.5), ("true", True), ("null", None), ('"x"', "x"), ('{"a": 1}', {"a": 1}), ("[]", [])],
)  # fmt: skip
def test_where_nothing_is_said_a_text_that_is_all_json_is_json(word: str, value: Any):
    assert one(word, {}) == value


@pytest.mark.parametrize(
    "word", ["True", "None", "00123", "NaN", "Infinity", "12 apples", "", "[1", " x ", "{'a': 1}", "[" * 100_000]
)
def test_where_nothing_is_said_anything_else_is_a_string(word: str):
    assert one(word, {}) == word


# --- JSON


def test_strict_json_takes_json_only():
    assert strict_json(' {"a": [1]} ') == {"a": [1]}
    for word in ("NaN", "[Infinity]", "{'a': 1}", "", "[1] x"):
        with pytest.raises(ValueError):
            strict_json(word)


def test_what_is_nested_too_deeply_is_a_value_error():
    with pytest.raises(ValueError):
        strict_json("[" * 200_000 + "]" * 200_000)


def test_quote_is_the_inside_of_a_json_string():
    for raw in ('a "b" \\ \n\t\x00\x1f', "é😀\u2028", "\ud83d"):
        assert json.loads(f'"{quote(raw)}"') == raw
    assert quote("é😀") == "é😀"


def test_numbers_are_those_of_json():
    for word in ("0", "-0", "10", "1.5", "1e5", "1E-5", "-1.25e+10"):
        assert NUMBER.fullmatch(word)
    for word in ("01", "1.", ".5", "+1", "1e", "--1", "0x1", "NaN", "٣"):
        assert not NUMBER.fullmatch(word)


# --- values inside values


def test_strings_inside_a_container_are_typed_too():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "l": {"items": {"type": "boolean"}}}}
    assert one('{"n": "12", "l": ["true", true]}', schema) == {"n": 12, "l": [True, True]}


@pytest.mark.parametrize(("word", "value"), [('"12"', 12), ('"\\"12\\""', 12)])
def test_a_quoted_text_where_none_may_stand_is_unquoted(word: str, value: int):
    assert one(word, INTEGER) == value


def test_quotes_that_help_nothing_do_not_make_it_right():
    assert typed('"x', Schema(INTEGER)) == ('"\\"x"', False)
    assert typed('"x"', Schema(INTEGER))[1] is False
