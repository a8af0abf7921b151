"""Structural tags: xgrammar reads them in every dialect, takes what the dialect writes, and refuses what it must not."""

from __future__ import annotations

import json
import random
import re

import pytest
from grammars import ids
from test_grammars import CALLS, NOTE, SIMPLE, for_each, pieces, tokens, turns_of, written
from xgrammars import accepts, judge

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Tool, Turn
from dragoman.syntax.constrain import constrain, grammar
from dragoman.syntax.grammar import NEVER, Mark, chars, literal, markup, maybe, repeat, seq, text
from dragoman.syntax.structural import structural_tag

TOOLS = [*SIMPLE, NOTE]
CHOICES = ("auto", "required", "none", "name:note")


def tag_of(node):
    found = json.loads(structural_tag(node))
    assert found["type"] == "structural_tag"
    return found["format"]


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (literal("a"), {"type": "const_string", "value": "a"}),
        (seq(literal("a"), markup("<t>")), {"type": "const_string", "value": "a<t>"}),
        (maybe(literal("a")), {"type": "optional", "content": {"type": "const_string", "value": "a"}}),
        (text(["<|x|>"]), {"type": "any_text", "excludes": ["<|x|>", "<｜x｜>", "<‖x‖>"]}),
        (repeat(chars("a-z"), 1, 3), {"type": "grammar", "grammar": "root ::= [a-z]{1,3}\n"}),
        (text(["<"], 0, 2), {"type": "grammar", "grammar": "root ::= ([^\\u003C] [^\\u003C]?)?\n"}),
        (literal(""), {"type": "const_string", "value": ""}),
    ],
)  # fmt: skip
def test_each_part_has_its_form(node, found):
    made = tag_of(node)
    assert made.get("type") == found["type"]
    assert made == found or found["type"] == "grammar"


def test_a_mark_may_come_as_its_token():
    compiled = judge(structural_tag(seq(markup("a<t>\n"), Mark("<u>"))), ("<t>", "<u>"))
    assert accepts(compiled, ["a", "<t>", "\n", "<u>"], ids(("<t>", "<u>")))
    assert accepts(compiled, ["a<t>\n<u>"], {})


def test_hex_escapes_end_where_they_end():
    """xgrammar goes on reading hex digits behind `\\x2F`."""
    made = tag_of(seq(chars('"/bf'), literal("\\x41\x01ab")))
    assert "\\x2" not in made["elements"][0]["grammar"]
    compiled = judge(structural_tag(repeat(seq(chars('"/bf'), chars("\x01-\x02a")))))
    assert accepts(compiled, ["/\x01b\x02fa"], {})


def test_a_tag_of_hermes():
    weather = Tool("w", parameters={"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]})
    made = json.loads(api.constrain("hermes", [weather], "required", form="structural_tag", reasoning=False))
    (tag,) = made["format"]["tags"]
    assert made["format"]["type"] == "tags_with_separator"
    assert (made["format"]["separator"], made["format"]["at_least_one"]) == ("\n", True)
    assert tag["begin"] == '<tool_call>\n{"name": "w", "arguments": '
    assert tag["end"] == "}\n</tool_call>"
    assert tag["content"]["type"] == "grammar"


def test_nothing_admits_nothing():
    with pytest.raises(UsageError, match="no text satisfies"):
        structural_tag(NEVER)


@for_each
@pytest.mark.parametrize("as_tokens", [False, True])
def test_xgrammar_takes_what_the_tree_allows(name: str, as_tokens: bool):
    marks = tokens(name) if as_tokens else ()
    for choice in CHOICES:
        compiled = judge(constrain(api.get(name), TOOLS, choice, form="structural_tag", specials=ids(marks)), marks)
        node = grammar(api.get(name), TOOLS, choice, specials=ids(marks))
        for seed in range(5):
            example = written(node, seed, 120)
            assert accepts(compiled, pieces(example, marks), ids(marks)), example


@for_each
def test_xgrammar_takes_what_encode_writes_and_nothing_that_is_wrong(name: str):
    dialect = api.get(name)
    free = judge(constrain(dialect, TOOLS, form="structural_tag"))
    forced = judge(constrain(dialect, TOOLS, "required", form="structural_tag", parallel=False, reasoning=False))
    for turn in turns_of(dialect):
        text = api.encode(dialect, turn)
        assert not turn.calls or accepts(free, [text], {}), text
        assert len(turn.parts) > 1 or not turn.calls or accepts(forced, [text], {}), text
    for wrong in (*WRONG, Turn((CALLS[0], CALLS[1]))):
        assert not accepts(forced, [api.encode(dialect, wrong)], {}), wrong
    assert not accepts(forced, ["Hello."], {})


WRONG = [
    Turn((Call("nope", "{}"),)),
    Turn((Call("put", '{"n": 1.5}'),)),
    Turn((Call("put", '{"ok": null}'),)),
    Turn((Call("put", '{"list": [1, true]}'),)),
    Turn((Call("put", '{"other": 1}'),)),
    Turn((Call("note", "{}"),)),
]


def test_many_calls_are_one_set_of_tags():
    """The tags are printed once, whatever number of calls may be made."""
    tools = [Tool(f"tool_{i}", parameters=NOTE.parameters) for i in range(100)]
    made = constrain(api.get("hermes-json"), tools, form="structural_tag")
    assert len(re.findall('"begin"', made)) == 100
    random.Random(1).shuffle(tools)
    assert judge(made)
