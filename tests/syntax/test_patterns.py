"""Regular expressions as examples with holes."""

from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.syntax.patterns import examples

READ = {
    r"<think>": ["<think>"],
    r"<\|im_end\|>\s*": ["<|im_end|>"],
    r"<\|im_end\|>|$": ["<|im_end|>", ""],
    r"<tool_call>\s*<function=(?P<fn>[^>\n]+)>": ["<tool_call><function={fn}>"],
    r"(?:<turn\|>|<\|tool_response>|<eos>)\s*|$": ["<turn|>", "<|tool_response>", "<eos>", ""],
    r"<p=(?P<key>[^>]+)>\n?(?P<value>.*?)\n?</p>": ["<p={key}>\n{value}\n</p>"],
    r"(?=[\s\S]*?</think>)": [""],
    r"a\s+b": ["a\nb"],
    r"a{3}b{2,5}": ["aaabb"],
    r"x+?y*": ["x"],
    r"[|]\]": ["|]"],
    r"^\Aab\b": ["ab"],
    r"(?P<name>(?:a(b)|[)]\))+)c": ["{name}c"],
    "": [""],
}


@pytest.mark.parametrize("pattern", READ)
def test_marks_and_groups(pattern: str):
    assert examples(pattern) == READ[pattern]


@pytest.mark.parametrize("pattern", [r"<\w+>", r".", r"[a-z]x", "(a", "a)", "\\", "[a", r"(?P<n>a", "a|(b"])
def test_what_stands_for_any_text_is_no_example(pattern: str):
    with pytest.raises(UsageError, match="cannot be read as marks"):
        examples(pattern)


def test_alternatives_are_few():
    assert len(examples("(a|b)" * 12)) == 16
