"""Code: a program as a call of the tool that runs it."""

from __future__ import annotations

import json

import pytest

from dragoman.messages import Call, Tool
from dragoman.syntax.codecs.code import Code
from dragoman.syntax.decode import Parser, decode, fold
from dragoman.syntax.dialect import Dialect

DIALECT = Dialect("x", "<run>{call}</run>", Code(), ends=("<end>",))
PYTHON = Tool("python", parameters={"type": "object", "properties": {"code": {"type": "string"}}})


@pytest.mark.parametrize("after", ["</run>", "", "<end>", "\n</run>"])
def test_a_program_goes_to_the_tool_that_runs_it(after: str):
    raw = f"<run>print(1)\n\n  x = '</b>'{after}"
    (call,) = decode(DIALECT, raw, [PYTHON]).calls
    assert (call.name, json.loads(call.arguments), call.complete) == (
        "python",
        {"code": "print(1)\n\n  x = '</b>'"},
        True,
    )
    parser = Parser(DIALECT, [PYTHON])
    assert fold([event for char in raw for event in parser.feed(char)] + parser.close()).calls == (call,)


def test_the_only_string_of_the_tool_takes_it():
    tool = Tool("ipython", parameters={"properties": {"source": {"type": "string"}, "n": {"type": "integer"}}})
    assert json.loads(decode(DIALECT, "<run>1</run>", [tool]).calls[0].arguments) == {"source": "1"}


def test_without_such_a_tool_it_is_text():
    assert decode(DIALECT, "<run>1</run>", [Tool("f")]).content == "<run>1</run>"


def test_a_cut_program_says_what_is_missing():
    (call,) = decode(DIALECT, "<run>print(1)\npri", [PYTHON], finish="length").calls
    assert not call.complete
    assert json.loads(call.arguments + call.missing) == {"code": "print(1)\npri"}


def test_it_is_written_as_it_is():
    assert Code().encode(Call("python", '{"code": "print(1)"}')) == "print(1)"
