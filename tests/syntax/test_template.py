"""Templates are cut into literals and holes, literals into marks."""

from __future__ import annotations

import pytest

from dragoman.syntax.template import Hole, holes, marks, parse, split


def test_a_template_is_literals_and_holes():
    assert parse("<f={name}>\n{args}</f>") == ("<f=", Hole("name"), ">\n", Hole("args"), "</f>")
    assert parse("{text}") == (Hole("text"),)
    assert parse("") == ()


def test_only_the_known_holes_are_holes():
    assert parse("{name}{other}{ text }{}") == (Hole("name"), "{other}{ text }{}")
    assert holes("{text}{name}{id}{index}{args}{call}{key}") == ("text", "name", "id", "index", "args", "call")


def test_a_template_is_read_once():
    assert parse("<a>{text}</a>") is parse("<a>{text}</a>")


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("", ()),
        (" \n", ()),
        ("<a>", ("<a>",)),
        ("</function>\n</tool_call>", ("</function>", "</tool_call>")),
        ("<a><b>", ("<a>", "<b>")),
        ("<<a>>\n<</a>>", ("<<a>>", "<</a>>")),
        ('<<use name="', ("<<use name=",)),
        ("[[a]][[/a]]", ("[[a]]", "[[/a]]")),
        ("[[use ", ("[[use",)),
        ("<tool_call>call:", ("<tool_call>", "call:")),
        ("<tool_call>\n<function=", ("<tool_call>", "<function=")),
        ("Action: x", ("Action:", "x")),
        ("[CALLS]", ("[CALLS]",)),
        ("[CALLS][", ("[CALLS]", "[")),
        ("<|a|>x<|b|>", ("<|a|>x<|b|>",)),
        ('<|a|>x y="', ("<|a|>x y=",)),
        ("<|a|> x<|b|>", ("<|a|>", "x", "<|b|>")),
        ("```json\n", ("```json",)),
        ("<a b>", ("<a b>",)),
        ('<p name="', ("<p name=",)),
        ('">\n', (">",)),
    ],
)
def test_the_marks_of_a_literal(literal: str, expected: tuple[str, ...]):
    assert marks(literal) == expected


def test_marks_leave_out_nothing_but_white_space():
    for literal in ("<a><b>x[c]d", "x<", "a[", "[[", "]>", "<<a>>"):
        assert "".join(marks(literal)) == literal


def test_a_template_with_one_hole_is_split_at_it():
    assert split("<think>\n{text}\n</think>") == ("<think>\n", "text", "\n</think>")
    assert split("{text}") == ("", "text", "")
