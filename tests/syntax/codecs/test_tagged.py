"""Values between tags: types that the tag tells, close tags that lost their end, and cuts behind a mark."""

from __future__ import annotations

import pytest
from drive import Payload

from dragoman.messages import Call, Tool
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.plan import Scope

TOOLS = [Tool("f", parameters={"properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "x": {}}})]
SCOPE = Scope(("</f>",), ("<f>",), ("<end>",))
TYPED = Params('<p name="{key}" string="{type}">{value}</p>')
PAIRS = Params("<k>{key}</k><v>{value}</v>", text=("string",))
PLAIN = Params("<p={key}>\n{value}\n</p>\n")


def read(codec: Params, text: str, *, cut: bool = False) -> tuple[str, list[str]]:
    return Payload(TOOLS, scope=SCOPE).read(codec, text, cut=cut)


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ('<p name="s" string="true">12</p>', '{"s": "12"}'),
        ('<p name="x" string="true">12</p>', '{"x": "12"}'),
        ('<p name="x" string="false">12</p>', '{"x": 12}'),
        ('<p name="s" string="false">12</p>', '{"s": 12}'),
        ("<p name='n' string='false'>12</p>", '{"n": 12}'),
        ('<p name="x">12</p>', '{"x": 12}'),
    ],
)
def test_a_type_in_the_tag_comes_before_the_schema(text: str, out: str):
    assert read(TYPED, text + "</f>") == ("whole", [f"args {out}", "rest </f>"])


def test_keys_and_values_may_have_tags_of_their_own():
    text = "<k>s</k><v>a b</v>\n<k>n</k>\n<v>1</v>"
    assert read(PAIRS, text + "</f>") == ("whole", ['args {"s": "a b", "n": 1}', "rest </f>"])


def test_they_are_written_as_they_are_read():
    one = Call("f", '{"s": "12", "n": 1}')
    assert TYPED.encode(one) == '<p name="s" string="true">12</p><p name="n" string="false">1</p>'
    assert PAIRS.encode(one) == "<k>s</k><v>12</v><k>n</k><v>1</v>"
    kinds = Params("<p={key} t={type}>{value}</p>", text=("string",))
    assert kinds.encode(Call("f", '{"a": null, "b": [1], "c": true}')) == (
        "<p=a t=null>null</p><p=b t=array>[1]</p><p=c t=boolean>true</p>"
    )


def test_a_close_tag_may_lack_its_last_character():
    assert read(PLAIN, "<p=s>\nx\n</p\n</f>") == ("whole", ['args {"s": "x', "notice unclosed", 'args "}', "rest </f>"])


def test_a_mark_that_closes_the_call_at_a_limit_may_be_data():
    assert read(PLAIN, "<p=s>\nx</f>", cut=True)[0] == "cut"
    assert read(PLAIN, "<p=s>\nx</f>")[0] == "whole"


def test_newlines_that_come_one_by_one_wait_together():
    assert read(PLAIN, "<p=s>\nx\n\n\n\ny\n</p></f>") == ("whole", ['args {"s": "x\\n\\n\\n\\ny"}', "rest </f>"])


def test_marks_in_a_tag_that_tell_no_type_are_passed():
    codec = Params('<p name="{key}"><v t="{type}" u>{value}</p>')
    assert read(codec, '<p name="s"><v t="true" u>x</p></f>') == ("whole", ['args {"s": "x"}', "rest </f>"])
