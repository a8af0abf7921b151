"""Free-text tools whose input must match a grammar: in every dialect, every call that the grammar allows is read as one."""

from __future__ import annotations

import json
import random
import re

import pytest
import xgrammars
from grammars import accepts, lark_accepts, lark_error
from test_grammars import CALLING

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Grammar, Tool
from dragoman.syntax.constrain import constrain, grammar
from dragoman.syntax.matching import matching
from dragoman.syntax.sample import sample

LARK = 'start: "SELECT " column ("," column)* " FROM " NAME\ncolumn: NAME | column "." NAME\nNAME: /[a-z]{1,5}/\n'
REGEX = r"^(add|sub)\([0-9]{1,3}, [0-9]{1,3}\)$"
TOOLS = {
    "lark": Tool("query", kind="custom", grammar=Grammar("lark", LARK)),
    "regex": Tool("count", kind="custom", grammar=Grammar("regex", REGEX)),
}
POOL = 'abcxyz019 ,.()é\n"\\'


def fits(syntax: str, text: str) -> bool:
    if syntax == "regex":
        return re.fullmatch(REGEX, text) is not None
    return accepts(matching(TOOLS[syntax].grammar), text)


def can(name: str, tool: Tool) -> bool:
    """Whether a dialect can: one that strips blanks, or reads some characters as its own, may not."""
    try:
        return bool(constrain(api.get(name), [tool], "required", reasoning=False))
    except UsageError:
        return False


@pytest.mark.parametrize("syntax", TOOLS)
@pytest.mark.parametrize("name", CALLING)
def test_r21_what_is_written_under_it_is_an_input_that_matches(name: str, syntax: str):
    tool, dialect = TOOLS[syntax], api.get(name)
    if not can(name, tool):
        with pytest.raises(UsageError, match="cannot write an input by the grammar"):
            grammar(dialect, [tool], f"name:{tool.name}", reasoning=False)
        return
    tree = grammar(dialect, [tool], f"name:{tool.name}", reasoning=False)
    for seed in range(6):
        text = sample(tree, random.Random(seed).randrange, size=60, pool=POOL)
        (call,) = api.decode(name, text, [tool]).calls
        assert call.complete
        assert fits(syntax, json.loads(call.arguments)["input"]), text


def test_nearly_every_dialect_can_write_them():
    able = [name for name in CALLING if all(can(name, tool) for tool in TOOLS.values())]
    assert len(able) > 0.8 * len(CALLING)


@pytest.mark.parametrize("syntax", TOOLS)
@pytest.mark.parametrize("name", ["hermes-json", "qwen3-coder-xml", "gemma4", "pythonic", "harmony"])
def test_r21_engines_read_it(name: str, syntax: str):
    tool, dialect = TOOLS[syntax], api.get(name)
    tree = grammar(dialect, [tool], "required", reasoning=False)
    lark = constrain(dialect, [tool], "required", form="lark", reasoning=False)
    tag = constrain(dialect, [tool], "required", form="structural_tag", reasoning=False)
    assert lark_error(lark) == ""
    compiled = xgrammars.judge(tag)
    for seed in range(4):
        text = sample(tree, random.Random(seed).randrange, size=60, pool=POOL)
        assert lark_accepts(lark, list(text.encode())), text
        assert xgrammars.accepts(compiled, [text], {}), text


def test_a_json_schema_cannot_say_it():
    with pytest.raises(UsageError, match="use another form"):
        constrain(api.get("llama3-json"), [TOOLS["lark"]], "required", form="json_schema")


@pytest.mark.parametrize("definition", ["(?=a)b", "(", "a" * 3000, r"\bx"])
def test_an_expression_that_is_not_simple(definition: str):
    with pytest.raises(UsageError, match="simple kind"):
        matching(Grammar("regex", definition))


@pytest.mark.parametrize(
    ("definition", "good", "bad"),
    [
        ("a+", ["a", "aa"], ["", "ba", "ab"]),
        ("^a$", ["a"], ["aa"]),
        ("^a|b$", ["a", "b"], ["ab", "ba"]),
        ("(a|b)c", ["ac", "bc"], ["a", "xac"]),
        ("a.c", ["abc"], ["a\nc"]),
    ],
)
def test_an_expression_holds_for_the_whole_input(definition: str, good: list[str], bad: list[str]):
    tree = matching(Grammar("regex", definition))
    assert all(accepts(tree, text) for text in good)
    assert not any(accepts(tree, text) for text in bad)
