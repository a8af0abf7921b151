"""JSON arguments and whole JSON calls: what is read, what is mended, and how a name is found."""

from __future__ import annotations

import json

import pytest
from drive import Payload
from streams import Setting, merge, play, singly

from dragoman import api
from dragoman.events import Notice
from dragoman.messages import Call, Tool
from dragoman.syntax.calls import Policy
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall

TOOLS = [
    Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}),
    Tool("g", parameters={"type": "object", "properties": {"b": {"type": "string"}}}),
]
STRICT = Policy(repair=False)


def args(text: str, *, cut: bool = False, **more):
    return Payload(TOOLS, **more).read(JsonObject(), text, cut=cut)


def call(text: str, tools=TOOLS, *, cut: bool = False, **more):
    return Payload(tools, begun=False, **more).read(JsonCall(), text, cut=cut)


# --- arguments


def test_an_object_is_kept_as_it_is_written():
    assert args(' {"a": "x", "n":1}</call>') == ("whole", ['args {"a": "x", "n":1}', "rest </call>"])


def test_no_arguments_at_all_are_an_empty_object():
    assert args("\n</call>") == ("whole", ["args {}", "rest </call>"])
    assert args("<end>") == ("whole", ["args {}", "rest <end>"])
    assert args("") == ("cut", ["missing {}"])


@pytest.mark.parametrize("word", ["null", "None"])
def test_a_word_for_nothing_is_an_empty_object(word: str):
    assert args(f"{word}\n</call>") == ("whole", ["args {}", "rest \n</call>"])
    assert args(word) == ("whole", ["args {}"])


@pytest.mark.parametrize("text", ["x", "1", "<call>", "nullable</call>", "null x"])
def test_anything_else_is_bad(text: str):
    assert args(text)[0] == "bad"


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ('"{\\"a\\": \\"x\\"}"', '{"a": "x"}'),
        ('"{\\n\\"n\\": 1}"', '{\n"n": 1}'),
        ('"{\\"a\\": \\"\\\\u00e9\\\\n\\"}"', '{"a": "\\u00e9\\n"}'),
        ('\'{"a": "x"}\'', '{"a": "x"}'),
    ],
)
def test_an_object_encoded_as_a_string_is_undone(text: str, out: str):
    assert args(text) == ("whole", [f"args {out}", "notice repaired"])


def test_an_encoded_object_that_is_none_stays_as_it_is():
    state, lines = args('"no object"')
    assert (state, lines) == ("whole", ["args no object", "notice bad-json", "flawed bad-json"])


def test_an_encoded_object_that_is_cut():
    assert args('"{\\"a\\": \\"x') == ("cut", ['args {"a": "x', 'missing "}'])
    assert args('"') == ("cut", ["missing {}"])


def test_one_list_around_one_object_is_left_out():
    assert args('[{"n": 1}]') == ("whole", ['args {"n": 1}', "notice repaired"])
    assert args('[ {"n": 1} ') == ("whole", ['args {"n": 1}'])
    assert args("[") == ("cut", ["missing {}", "rest ["])
    assert args("[1]")[0] == "bad"
    assert args('[{"n": 1')[0] == "cut"


@pytest.mark.parametrize("text", ['"{}"', "'{}'", "[{}]", "{'a': 1}"])
def test_a_strict_reader_takes_objects_only(text: str):
    assert args(text, policy=STRICT)[0] == "bad"


def test_a_cut_object_says_what_is_missing():
    assert args('{"a": "x') == ("cut", ['args {"a": "x', 'missing "}'])


def test_bad_escapes_make_it_invalid():
    assert args('{"a": "\\d"}') == ("whole", ['args {"a": "\\d"}', "notice bad-json", "flawed bad-json"])


# --- a whole call


TOLD = ["call f", 'args {"a": "x"}', "end"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {"a": "x"}}',
        '{"name": "f", "parameters": {"a": "x"}}',
        '{"arguments": {"a": "x"}, "name": "f"}',
        '{"type": "function", "function": {"name": "f", "arguments": {"a": "x"}}}',
        '{"function": "f", "arguments": {"a": "x"}}',
        '{"name": "f", "other": [1, {"b": null}], "arguments": {"a": "x"}}',
        '{"name": "f", "arguments": {"a": "x"}, "other": "y"}',
        '{"name": "f",, "arguments": {"a": "x"},}',
        '{"name": "f", "arguments": {"a": "x"}, "arguments": {"a": "y"}}',
        '{"name": "f", "name": "g", "arguments": {"a": "x"}}',
        '[{"name": "f", "arguments": {"a": "x"}}]',
    ],
)
def test_a_call_is_read_whatever_its_shape(text: str):
    state, lines = call(text)
    assert state == "whole"
    assert [line for line in lines if not line.startswith("notice")] == TOLD


def test_an_id_of_the_models_own_is_kept():
    assert call('{"id": "c\\u0031", "name": "f", "arguments": {}}')[1][0] == "call f id=c1"
    assert call('{"name": "f", "arguments": {}, "id": "late"}')[1][0] == "call f"
    assert call('{"id": "1", "id": "2", "name": "f"}')[1][0] == "call f id=1"


def test_a_call_without_arguments_has_empty_ones():
    assert call('{"name": "f"}') == ("whole", ["call f", "args {}", "end"])
    assert call('{"name": "f", "arguments": null}') == ("whole", ["call f", "args {}", "end"])


def test_other_quotes_are_told_of():
    assert call("{'name': 'f', 'arguments': {'a': 'x'}}")[1] == [
        "notice repaired",
        "call f",
        'args {"a": "x"}',
        "notice repaired",
        "end",
    ]


def test_a_list_of_calls():
    one, other = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"b": "y"}}'
    assert call(f"[{one}, {other}]") == ("whole", ["call f", "args {}", "end", "call g", 'args {"b": "y"}', "end"])
    assert call(f"[{one}</call>") == ("whole", ["call f", "args {}", "end", "notice unclosed", "rest </call>"])
    assert call(f"[{one}, x") == ("whole", ["call f", "args {}", "end", "notice unclosed", "rest x"])
    assert call("[]") == ("whole", ["notice no-call"])
    assert call("[")[0] == "cut"
    assert call("[1]")[0] == "bad"
    assert call(f"[{one}, {{1") == ("whole", ["call f", "args {}", "end", "rest {1"])


@pytest.mark.parametrize("text", ["{1}", "{x", '{"a" 1}', "x", '{"name": 1}', "{name: f}"])
def test_what_is_no_call_is_bad(text: str):
    assert call(text)[0] == "bad"


@pytest.mark.parametrize(
    "text", ["", "{", '{"name', '{"name"', '{"name":', '{"name": "f', '{"arguments": {"a', '{"id": "']
)
def test_a_call_that_is_cut_before_its_name_shows_nothing(text: str):
    state, lines = call(text)
    assert state == "cut"
    assert not [line for line in lines if line.startswith(("call", "args"))]


@pytest.mark.parametrize(
    ("text", "missing"),
    [('{"name": "f"', "{}"), ('{"name": "f", "arguments": {"a": "x', '"}'), ('{"name": "f", "x": [1', "{}")],
)
def test_a_call_that_is_cut_behind_its_name(text: str, missing: str):
    state, lines = call(text)
    assert (state, lines[0], f"missing {missing}" in lines) == ("cut", "call f", True)


def test_a_missing_brace_is_told_of():
    assert call('{"name": "f", "arguments": {"a": "x"}</call>') == (
        "whole",
        [*TOLD[:2], "notice unclosed", "end", "rest </call>"],
    )
    assert call('{"name": "f", "arguments": {"a": "x"} x')[0] == "whole"
    assert call('{"name": "f"</call>') == ("whole", ["call f", "notice unclosed", "args {}", "end", "rest </call>"])


def test_calls_may_follow_one_another_without_a_list():
    one, other = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {}}'
    for between in ("", "\n", ",", " ; "):
        told = ["call f", "args {}", "end", *["notice variant"] * bool(between), "call g", "args {}", "end"]
        assert call(one + between + other) == ("whole", told)
    assert call(one + ' {"no": "call"} x')[1][-1] == 'rest  {"no": "call"} x'


def test_arguments_beside_the_name_are_taken_if_the_tool_has_them_all():
    assert call('{"name": "f", "a": "x", "n": 1}') == (
        "whole",
        ["call f", 'args {"a": "x", "n": 1}', "notice repaired", "end"],
    )
    assert call('{"name": "f", "a": "x", "z": 1}')[1] == [
        "call f",
        'notice dropped \'{"a": "x", "z": 1}\'',
        "args {}",
        "end",
    ]


# --- no name


@pytest.mark.parametrize(
    "text",
    [
        '{"arguments": {"a": "x"}}',
        '{"a": "x"}',
    ],
)
def test_a_call_without_a_name_is_that_of_the_only_tool_with_its_keys(text: str):
    state, lines = call(text)
    assert state == "whole"
    assert "call f" in lines
    assert "notice unnamed 'f'" in lines


@pytest.mark.parametrize(
    "text",
    [
        '{"z": 1}',
        "{}",
        '{"name": "", "arguments": {"a": "x"}}',
        '{"arguments": [1]}',
        '{"arguments": {}}',
        '{"arguments": "\\d"}',
        '{"a": "x", "b": "y"}',
    ],
)
def test_where_no_tool_or_more_than_one_fits_it_is_no_call(text: str):
    state, lines = call(text)
    assert state == "bad"
    assert not [line for line in lines if line.startswith("call")]


# --- recovered


def test_a_recovered_call_needs_a_declared_name_and_arguments():
    assert call('{"name": "f", "arguments": {"a": "x"}}', recovered=True) == ("whole", TOLD)
    assert call('{"arguments": {"a": "x"}, "name": "f"}', recovered=True)[0] == "whole"
    for text in (
        '{"name": "h", "arguments": {}}',
        '{"name": "f"}',
        '{"name": "f", "note": 1, "arguments": {}}',
        '{"note": 1}',
    ):
        state, lines = call(text, recovered=True)
        assert state == "bad"
        assert not [line for line in lines if line.startswith("call")]


def test_other_key_names():
    codec = JsonCall(name="tool", args=("input",), id="ref")
    state, lines = Payload(TOOLS, begun=False).read(codec, '{"ref": "1", "tool": "f", "input": {}}')
    assert (state, lines) == ("whole", ["call f id=1", "args {}", "end"])


# --- encode


def test_they_write_json():
    one = Call("f", '{"a":"é", "n" : 1}')
    assert JsonObject().encode(one) == '{"a": "é", "n": 1}'
    assert JsonCall().encode(one) == '{"name": "f", "arguments": {"a": "é", "n": 1}}'
    assert json.loads(JsonCall("tool", ("input",)).encode(one)) == {"tool": "f", "input": {"a": "é", "n": 1}}


def test_a_word_with_a_bad_escape_is_taken_as_it_stands():
    odd = Tool("a\\d")
    assert call('{"name": "a\\d", "arguments": {}}', [odd])[1][0] == "call a\\d"


def test_an_encoded_text_that_was_bad_before_it_was_cut():
    assert args('"no obj') == ("cut", ["args no obj", "missing "])


def test_an_empty_string_of_arguments_is_an_empty_object():
    assert args('""') == ("whole", ["args {}", "notice repaired"])
    assert call('{"name": "f", "arguments": " "}')[1] == ["call f", "args {}", "notice repaired", "end"]


def test_broken_keys_beside_the_name_are_no_arguments():
    assert "args {}" in call('{"name": "f", "a": "\\d"}')[1]


def test_what_is_told_of_arguments_in_a_string_does_not_depend_on_the_pieces():
    raw = '<tool_call>\n{"name": "f", "arguments": "{\\"a\\null\\": 1}"}\n</tool_call>'
    made = Setting(api.get("hermes-json"), None)
    whole = merge(play(made, [(raw, False)]))
    assert merge(play(made, singly([(raw, False)]))) == whole
    assert {event.at for event in whole if isinstance(event, Notice)} >= {raw.index("{\\")}
