"""Headers of all kinds: by a mark, by the role, by a recipient, by a line; cut, foreign, and without their marks."""

from __future__ import annotations

import pytest
from drive import told

from dragoman.dialects.functionary import FUNCTIONARY_V2
from dragoman.dialects.functionary32 import FUNCTIONARY_V3_2
from dragoman.dialects.gigachat3 import GIGACHAT3
from dragoman.dialects.hyperclovax import HYPERCLOVAX
from dragoman.dialects.inkling import INKLING
from dragoman.dialects.muse import MUSE
from dragoman.messages import Tool
from dragoman.syntax.dialect import Dialect

TOOLS = [Tool("f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]
CALLED = ["call f", "args {}", "end"]


def bodies(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("notice")]


def said(dialect: Dialect, raw: str, tools=TOOLS, **more) -> list[str]:
    return told(dialect, raw, tools, prompt=dialect.begins, **more)


@pytest.mark.parametrize(
    ("dialect", "raw", "line"),
    [
        (INKLING, "<|content_thinking|>hm<|end_message|>", "reasoning 'hm'"),
        (INKLING, "<|content_text|>Done.<|end_message|>", "content 'Done.'"),
        (HYPERCLOVAX, "/think\nhm<|im_end|>", "reasoning 'hm'"),
        (HYPERCLOVAX, "\nDone.<|im_end|>", "content 'Done.'"),
        (MUSE, " to=self<|message|>hm<|eom|>", "reasoning 'hm'"),
        (MUSE, " to=user<|message|>Done.<|eot|>", "content:final 'Done.'"),
        (MUSE, " to=commentary<|message|>Done.<|eom|>", "content:commentary 'Done.'"),
        (FUNCTIONARY_V2, "all\n<|content|>Done.<|stop|>", "content 'Done.'"),
        (FUNCTIONARY_V3_2, "all\nDone.<|eot_id|>", "content 'Done.'"),
        (GIGACHAT3, "Done.<|message_sep|>\n\n", "content 'Done.'"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_header_says_where_its_message_goes(dialect: Dialect, raw: str, line: str):
    assert said(dialect, raw) == [line]


@pytest.mark.parametrize(
    ("dialect", "raw"),
    [
        (INKLING, '<|content_invoke_tool_json|>{"name": "f", "args": {}}<|end_message|>'),
        (HYPERCLOVAX, ' -> tool/function_call\n[{"name": "f", "arguments": {}}]<|im_end|>'),
        (
            MUSE,
            ' to=f<|message|><atem:function_calls>\n<atem:invoke name="f">\n</atem:invoke>\n</atem:function_calls><|eot|>',
        ),
        (FUNCTIONARY_V2, "f\n<|content|>{}<|stop|>"),
        (FUNCTIONARY_V3_2, "f\n{}"),
        (GIGACHAT3, '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {}}</s>'),
        (GIGACHAT3, '<|function_call|>{"name": "f", "arguments": {}}</s>'),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_call_is_a_message_too(dialect: Dialect, raw: str):
    assert said(dialect, raw) == CALLED


@pytest.mark.parametrize(
    ("dialect", "raw"),
    [(INKLING, "f"), (HYPERCLOVAX, "/thi"), (HYPERCLOVAX, " -> tool/f"), (MUSE, " to=f"), (FUNCTIONARY_V2, "f"), (FUNCTIONARY_V3_2, "al")],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_a_header_that_a_limit_cut_is_told_and_not_shown(dialect: Dialect, raw: str):
    lines = said(dialect, raw, finish="length")
    assert bodies(lines) == ["finish length"]
    assert lines[0].startswith("notice cut")


@pytest.mark.parametrize(
    "dialect", [INKLING, HYPERCLOVAX, MUSE, FUNCTIONARY_V2, FUNCTIONARY_V3_2], ids=lambda one: one.name
)
@pytest.mark.parametrize("raw", ["Hello there.", "Hello\nthere.", "a" * 300])
def test_text_that_is_no_header_is_content(dialect: Dialect, raw: str):
    assert bodies(said(dialect, raw)) == [f"content {raw!r}"]


@pytest.mark.parametrize(
    ("dialect", "raw"),
    [
        (HYPERCLOVAX, "\nDone.<|im_end|>\n<|im_start|>user\nMore?<|im_end|>"),
        (MUSE, " to=user<|message|>Done.<|eom|><|start|>user<|message|>More?<|eot|>"),
        (FUNCTIONARY_V2, "all\n<|content|>Done.\n<|from|>user\n<|recipient|>all\n<|content|>More?<|stop|>"),
        (GIGACHAT3, "Done.<|message_sep|>\n\nuser<|role_sep|>\nMore?<|message_sep|>\n\n"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_somebody_else_would_say_is_dropped(dialect: Dialect, raw: str):
    lines = said(dialect, raw)
    assert [line.partition(" ")[2] for line in bodies(lines)] == ["'Done.'"]
    assert "notice dropped 'More?'" in lines


@pytest.mark.parametrize(
    ("dialect", "raw", "lines"),
    [
        (MUSE, " to=selfhm.assistant to=userDone.", ["reasoning 'hm.'", "content:final 'Done.'"]),
        (HYPERCLOVAX, "/think\nhm\nassistant\nDone.", ["reasoning 'hm'", "content 'Done.'"]),
        (FUNCTIONARY_V2, "all\nDone.\nassistant\nf\n{}", ["content 'Done.'", *CALLED]),
        (GIGACHAT3, 'Done.\n\nfunction call\n{"name": "f", "arguments": {}}', ["content 'Done.'", *CALLED]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_headers_whose_special_tokens_were_stripped(dialect: Dialect, raw: str, lines: list[str]):
    assert bodies(said(dialect, raw)) == lines
    assert any(line.startswith("notice recovered") for line in said(dialect, raw))


@pytest.mark.parametrize("raw", ["all\n>>> 1\n>>>x\n1", "all\na >>>f\nb", "all\n>>>f x\n"])
def test_a_mark_of_ordinary_text_needs_a_line_of_its_own_and_a_name(raw: str):
    assert bodies(said(FUNCTIONARY_V3_2, raw)) == [f"content {raw[4:].rstrip()!r}"]


def test_where_nobody_told_which_tools_there_are_the_body_decides():
    assert said(FUNCTIONARY_V3_2, "odd\n{}\n>>>more\n{}", None) == [
        "call odd",
        "args {}",
        "end",
        "call more",
        "args {}",
        "end",
    ]
    assert said(FUNCTIONARY_V3_2, "Oslo\nis a city", None) == ["content 'Oslo\\nis a city'"]
