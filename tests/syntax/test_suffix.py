"""Tags that end in a word of the vocabulary's own."""

from __future__ import annotations

import json

import pytest

from dragoman.messages import Call, Reasoning, Tool, Turn
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.constrain import constrain
from dragoman.syntax.decode import decode
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode
from dragoman.syntax.suffix import suffixed

DIALECT = Dialect(
    "x", "<call>{name}{args}</call>", Params("<key>{key}</key><value>{value}</value>"),
    reasoning="<think>{text}</think>", begins="<|me|>", suffix=True, special=("<call>", "</call>"),
)  # fmt: skip
RAW = "<think>hm</think><call>f<key>a</key><value>{}</value></call>"
TOOLS = [Tool("f", parameters={"properties": {"a": {"type": "string"}}})]


def written(suffix: str, value: str = "x") -> str:
    return RAW.replace(">", f"{suffix}>").format(value)


@pytest.mark.parametrize(
    ("specials", "prompt", "suffix"),
    [
        ({"<think:z1>": 1, "<call:z1>": 2}, "", ":z1"),
        ({"<think>": 1}, "<think:a>", ""),
        (None, "<think:old></think:old> .. <|me|><think:new>", ":new"),
        (None, "<|me|><think></think>", ""),
        (None, "<|me|>", ":*"),
        ({"<other>": 1}, "", ":*"),
    ],
)
def test_the_vocabulary_tells_it_then_the_prompt(specials, prompt: str, suffix: str):
    assert suffixed(DIALECT, specials, prompt).reasoning == f"<think{suffix}>{{text}}</think{suffix}>"


def test_other_dialects_stay():
    plain = Dialect("y", reasoning="<think>{text}</think>")
    assert suffixed(plain, {"<think:a>": 1}, "") is plain


@pytest.mark.parametrize("suffix", ["", ":a1", ":opensource"])
def test_where_nothing_tells_any_suffix_is_read(suffix: str):
    turn = decode(DIALECT, written(suffix), TOOLS, prompt="<|me|>")
    assert turn.reasoning == "hm"
    assert json.loads(turn.calls[0].arguments) == {"a": "x"}


def test_where_it_is_known_tags_without_it_are_text():
    turn = decode(DIALECT, written(":a", "</value>"), TOOLS, prompt="<think:a></think:a><|me|>")
    assert json.loads(turn.calls[0].arguments) == {"a": "</value>"}
    assert decode(DIALECT, written(""), TOOLS, prompt="<think:a></think:a><|me|>").content == written("")


def test_encode_writes_the_prompts_suffix():
    turn = Turn((Reasoning("hm"), Call("f", '{"a": "x"}')))
    assert encode(DIALECT, turn, prompt="<think:q></think:q><|me|>") == written(":q")
    assert encode(DIALECT, turn, prompt="<|me|>") == written("")


def test_a_grammar_has_the_vocabularys_suffix():
    assert "<call:z1>" in constrain(DIALECT, TOOLS, specials={"<think:z1>": 1, "<other>": 2})
