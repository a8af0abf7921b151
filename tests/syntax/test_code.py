"""Where text stands in code: fences, inline code, and any cutting."""

from __future__ import annotations

import pytest
from drive import same

from dragoman.syntax.code import Code


def inside(pieces: list[str]) -> bool:
    code = Code()
    for piece in pieces:
        code.feed(piece)
    return code.inside


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("text", False),
        ("a `", True),
        ("a `b", True),
        ("a `b` c", False),
        ("a `b\nc", False),  # inline code ends with its line
        ("a ``b", True),
        ("```", True),
        ("```py\nx\n", True),
        ("text\n  ```\nx", True),
        ("```\nx\n```", False),
        ("```\nx\n```\nafter", False),
        ("````\nx\n", True),
        ("```\n`\n", True),  # a backtick in a fence is text
        ("```\nx ```", True),  # a fence is closed at a line start only
        ("text ```", True),  # inline code with three backticks
        ("text ```\nx", False),
        ("a\n\n  `", True),
        ("a `b`\n```\n", True),
        ("``` ```", True),
    ],
)
def test_code_is_told_however_the_text_is_cut(text: str, expected: bool):
    assert same(inside, text) is expected


def test_a_run_of_backticks_counts_by_what_was_read_so_far():
    assert [inside(["`" * n]) for n in range(1, 5)] == [True, True, True, True]
    assert [inside(["`a" + "`" * n]) for n in (1, 2, 3)] == [False, False, False]


def test_a_line_that_is_still_blank_may_begin_a_fence():
    assert inside(["a\n", " ", "\t", "```", "x\n"])
    assert not inside(["a\n", " ", "b ", "```", "x\n"])
