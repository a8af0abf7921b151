"""One tagged block for each argument: where a value ends, what it is, and which newlines are markup."""

from __future__ import annotations

import json

import pytest
from drive import Payload

from dragoman.messages import Call, Tool
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.plan import Scope

PROPERTIES = {
    "s": {"type": "string"}, "t": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array"},
    "m": {"type": ["string", "null"]}, "x": {},
}  # fmt: skip
TOOLS = [Tool("f", parameters={"type": "object", "properties": PROPERTIES})]
CODEC = Params("<p={key}>\n{value}\n</p>\n")
SCOPE = Scope(("</f>", "</call>"), ("<call>", "<f="), ("<end>",))


def read(text: str, *, cut: bool = False, scope: Scope = SCOPE, codec: Params = CODEC) -> tuple[str, list[str]]:
    return Payload(TOOLS, scope=scope).read(codec, text, cut=cut)


def args(text: str, **more) -> str:
    """The arguments of a payload that is whole and needs no notice."""
    state, lines = read(text + "</f>", **more)
    assert (state, lines[1:]) == ("whole", ["rest </f>"])
    return lines[0].removeprefix("args ")


def block(key: str, value: str) -> str:
    return f"<p={key}>\n{value}\n</p>\n"


# --- values


@pytest.mark.parametrize(
    ("key", "value", "out"),
    [
        ("s", "x", '"x"'),
        ("s", "", '""'),
        ("s", "12", '"12"'),
        ("s", "null", '"null"'),
        ("s", ' "q" \\ \t', '" \\"q\\" \\\\ \\t"'),
        ("s", "a\nb\n\nc", '"a\\nb\\n\\nc"'),
        ("n", "00123", "123"),
        ("n", " 5 ", "5"),
        ("l", "['a', None]", '["a", null]'),
        ("m", "null", "null"),
        ("m", "x", '"x"'),
        ("x", "true", "true"),
        ("x", '{"a": 1}', '{"a": 1}'),
        ("x", "{a", '"{a"'),
        ("x", "text", '"text"'),
        ("x", "12 apples", '"12 apples"'),
        ("undeclared", "1.5", "1.5"),
    ],
)
def test_a_value_is_typed_by_its_schema(key: str, value: str, out: str):
    assert args(block(key, value)) == f'{{"{key}": {out}}}'


def test_parameters_follow_one_another():
    assert args(block("s", "x") + block("n", "1") + block("x", "y")) == '{"s": "x", "n": 1, "x": "y"}'


def test_no_parameters_are_no_arguments():
    assert args("") == "{}"
    assert args("\n\n") == "{}"


def test_a_value_that_is_not_what_the_schema_asks_for_is_told_of():
    assert read(block("n", "many") + "</f>") == ("whole", ["notice untyped 'many'", 'args {"n": "many"}', "rest </f>"])


def test_text_goes_out_as_it_comes_and_the_rest_waits():
    assert read("<p=s>\nab\ncd")[1] == ['args {"s": "ab\\ncd', 'missing "}']
    assert read("<p=n>\n1")[1] == ["missing {}"]
    assert read("<p=x>\n1")[1] == ["missing {}"]
    assert read(block("n", "1") + "<p=n2>\n1")[1] == ['args {"n": 1', "missing }"]


# --- newlines


@pytest.mark.parametrize(
    ("raw", "out"),
    [
        ("<p=s>x</p>", '"x"'),
        ("<p=s>\nx\n</p>", '"x"'),
        ("<p=s>\r\nx\r\n</p>", '"x"'),
        ("<p=s>\n\nx\n\n</p>", '"\\nx\\n"'),
        ("<p=s>\rx</p>", '"\\rx"'),
        ("<p=s>\r</p>", '""'),
        ("<p=s>\n</p>", '""'),
        ("<p=s>\n\n</p>", '""'),
        ("<p=s> x </p>", '" x "'),
    ],
)
def test_one_newline_at_each_side_is_markup(raw: str, out: str):
    assert args(raw) == f'{{"s": {out}}}'


def test_a_template_without_newlines_has_none_to_drop():
    codec = Params("<p={key}>{value}</p>")
    assert args("<p=s>\nx\n</p>", codec=codec) == '{"s": "\\nx\\n"}'


# --- where a value ends


@pytest.mark.parametrize(
    "inner", ["</p>", "</p> x", "<p=", "<p=n>", "a <p=n>1</p> b", "</f> x", "</call>\n\nx", "<call>", "<f=", "</p"]
)
def test_a_mark_that_no_structure_follows_is_data(inner: str):
    assert args(f"<p=s>\na{inner}b\n</p>\n") == json.dumps({"s": f"a{inner}b"})


def test_a_close_tag_counts_if_structure_follows():
    for after in ("<p=n>\n1\n</p></f>", "</f>", "</call>", "<call>", "", "\n \n"):
        state, lines = read("<p=s>\nx</p>\n" + after)
        assert state == "whole"
        assert lines[0].startswith(('args {"s": "x"', "notice"))


def test_the_next_parameter_ends_a_value_that_was_not_closed():
    assert read("<p=s>\nx\n\n<p=n>\n1\n</p>\n</f>")[1] == [
        'args {"s": "x',
        "notice unclosed",
        'args ", "n": 1}',
        "rest </f>",
    ]


@pytest.mark.parametrize("tag", ["<p=other>", "<p=s>", "<p=n", "<p=>"])
def test_an_opening_tag_of_no_other_declared_key_is_data(tag: str):
    assert args(f"<p=s>\nx\n{tag}\ny\n</p>\n") == json.dumps({"s": f"x\n{tag}\ny"})


@pytest.mark.parametrize("tail", ["</f>", "</f>\n</call>", "</call>", "</call>\n<call>", "</f></call><end>"])
def test_a_mark_that_closes_the_call_ends_a_value_if_only_such_marks_follow(tail: str):
    state, lines = read("<p=s>\nx\n\n" + tail)
    assert state == "whole"
    assert "".join(line.removeprefix("args ") for line in lines if line.startswith("args")) == '{"s": "x"}'
    assert "notice unclosed" in lines
    assert f"rest {tail}" in lines


def test_an_end_of_turn_in_a_value_is_a_cut():
    assert read("<p=s>\nx<end>") == ("cut", ['args {"s": "x', "notice unclosed", 'missing "}', "rest <end>"])


# --- keys


@pytest.mark.parametrize("tag", ["<p=s>", '<p="s">', "<p='s'>", "<p= s >", "<p =s>", '<p="s" >'])
def test_a_key_may_be_quoted(tag: str):
    assert args(f"{tag}\nx\n</p>\n") == '{"s": "x"}'


def test_a_key_may_hold_anything_but_quotes_and_blanks():
    assert args(block("a.b-c:ü", "x")) == '{"a.b-c:ü": "x"}'


def test_a_key_that_comes_twice_is_told_of():
    assert "notice duplicate-key 's'" in read(block("s", "x") + block("s", "y") + "</f>")[1]


# --- around parameters


def test_text_before_a_parameter_is_dropped_and_told():
    assert read("junk\n" + block("s", "x") + "</f>") == (
        "whole",
        ["notice dropped 'junk'", 'args {"s": "x"}', "rest </f>"],
    )


def test_a_stray_close_tag_is_dropped():
    assert args("</p>\n" + block("s", "x")) == '{"s": "x"}'


def test_json_where_parameters_should_be_is_taken():
    assert read('{"s": "x"}</f>') == ("whole", ["notice repaired", 'args {"s": "x"}', "rest </f>"])


# --- the end of the text


def test_a_text_that_ends_by_itself_behind_whole_values_is_whole():
    assert read(block("s", "x")) == ("whole", ['args {"s": "x"', "notice unclosed", "args }"])
    assert read("\n") == ("whole", ["notice unclosed", "args {}"])


def test_a_limit_behind_a_value_leaves_it_open():
    assert read(block("s", "x"), cut=True) == ("cut", ['args {"s": "x"', "missing }"])
    assert read("\n", cut=True) == ("cut", ["missing {}"])


@pytest.mark.parametrize("text", ["<p=", "<p=s", "<p=s>", "<p=s>\n"])
def test_a_text_that_ends_in_a_key_or_before_a_value(text: str):
    state, lines = read(text)
    assert (state, lines[0]) == ("cut", "missing {}")
    state, lines = read(block("n", "1") + text)
    assert (state, lines[:2]) == ("cut", ['args {"n": 1', "missing }"])


# --- encode


def test_it_writes_text_as_it_is_and_all_else_as_json():
    assert CODEC.encode(Call("f", '{"s": "a\\nb", "n": 1, "l": ["é"], "m": null}')) == (
        '<p=s>\na\nb\n</p>\n<p=n>\n1\n</p>\n<p=l>\n["é"]\n</p>\n<p=m>\nnull\n</p>\n'
    )
    assert CODEC.encode(Call("f", "{}")) == ""


def test_a_key_that_lost_its_end_is_one_word():
    assert args("<p=s x y</p>\n").startswith('{"s": ')
