"""What is written reads back as the same case."""

from __future__ import annotations

from dataclasses import replace

import corpus
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cases.case import Case, Moment
from dragoman.cases.read import is_case, read
from dragoman.cases.write import brief, write
from dragoman.messages import Tool

texts = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["---- expect\n", "==== x\n", "⟦a⟧", " ", "\n", "a\n", "\r\n", "\ud800", "# no\n", '{"a": 1}']
)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=9)
tools = st.builds(
    Tool,
    words,
    parameters=st.sampled_from(
        [
            {},
            {"type": "object", "properties": {"a b": {"type": ["string", "null"]}, "n": {}}, "required": ["n"]},
            {"type": "object", "properties": {"x": {"enum": [1, ")"]}}, "required": []},
            {"type": "object", "additionalProperties": False, "$defs": {"y": {}}},
        ]
    ),
)
pieces = st.lists(st.tuples(texts.filter(bool), st.booleans()), max_size=5).map(tuple)


def same(one: Case, other: Case) -> None:
    assert replace(one, lines=(0, 0)) == replace(other, lines=(0, 0))


def reread(case: Case) -> Case:
    (back,) = read(write(case))
    return back


@given(pieces, st.lists(tools, max_size=2, unique_by=lambda tool: tool.name), texts, st.lists(texts, max_size=2))
def test_a_recorded_case_reads_back(pieces, tools, prompt, stops):
    case = Case(
        "a-dialect",
        "a title",
        pieces,
        tuple(tools),
        prompt,
        "length",
        {"recover": "strict", "repair": False},
        tuple(stops),
        marks=True,
        vocabulary=("<a>", "b c"),
        moments=tuple(Moment(0.25 * number, (number,)) for number, _ in enumerate(pieces)),
        request='{"messages": []}',
        frames=((0.5, "data: {}\n\n"),),
        facts=("a fact",),
    )
    back = reread(case)
    offered = [(tool.name, tool.parameters.get("properties", {})) for tool in back.tools]
    assert offered == [(tool.name, tool.parameters.get("properties", {})) for tool in tools]
    same(replace(back, tools=()), replace(case, tools=()))


@given(texts)
def test_a_text_reads_back(raw):
    case = Case("a-dialect", "t", ((raw, False),), None)
    assert reread(case).raw == raw


@pytest.mark.parametrize("case", corpus.everything(), ids=str)
def test_every_case_of_the_corpus_reads_back(case):
    text = write(case)
    assert is_case(text)
    (back,) = read(text)
    assert (back.raw, back.prompt, back.expect, back.policy) == (case.raw, case.prompt, case.expect, case.policy)
    assert [tool.name for tool in back.tools or ()] == [tool.name for tool in case.tools or ()]


def test_a_report_has_nothing_that_was_only_recorded():
    case = Case("d", "t", (("<a>", True), ("b", False)), marks=True, moments=(Moment(1), Moment(2)), request="{}")
    assert "⟦<a>⟧b" in write(brief(case))
    assert "request" not in write(brief(case))
