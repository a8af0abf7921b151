"""Special tokens spelled in foreign text are hidden and brought back as text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.engines.base import Segment
from dragoman.engines.foreign import Disguise, Spellings, shaped

MARKS = ("<|im_end|>", "<|im_start|>", "<|im|>", "<s>", "<s", "\n\n", "")
SPELLINGS = Spellings(MARKS)
PARTS = st.sampled_from(["<|im_end|>", "<|im", "|>", "<s", ">", "a", "\n\n", "\U000f0000", "\U000f0001"])
TEXT = st.lists(PARTS).map("".join)


@given(TEXT)
def test_what_was_hidden_comes_back_as_it_was(text: str) -> None:
    disguise = Disguise(SPELLINGS, [text])
    prompt = disguise.reveal(f"<|im_start|>{disguise.hide(text)}<|im_end|>")
    assert prompt.text == f"<|im_start|>{text}<|im_end|>"
    assert not any(SPELLINGS.pattern.search(part.text) for part in prompt.segments[1:-1] if not part.foreign)
    assert all(SPELLINGS.pattern.fullmatch(part.text) for part in prompt.segments if part.foreign)


def test_harmless_text_is_not_cut_out() -> None:
    disguise = Disguise(SPELLINGS, [])
    assert disguise.reveal(disguise.hide("just < text |>")).segments == (Segment("just < text |>"),)


def test_of_marks_that_begin_alike_the_longest_counts() -> None:
    disguise = Disguise(SPELLINGS, [])
    assert disguise.reveal(disguise.hide("<s><s ")).segments == (
        Segment("<s>", foreign=True),
        Segment("<s", foreign=True),
        Segment(" "),
    )


def test_blanks_are_no_marks() -> None:
    assert Disguise(SPELLINGS, []).hide("a\n\nb") == "a\n\nb"


def test_kept_marks_stay() -> None:
    assert Disguise(SPELLINGS, []).hide("<s>", frozenset({"<s>"})) == "<s>"


def test_a_text_with_private_characters_of_its_own_is_not_mistaken() -> None:
    text = "\U000f0000<s>\U000f0001"
    disguise = Disguise(SPELLINGS, [text])
    segments = disguise.reveal(disguise.hide(text)).segments
    assert segments == (Segment("\U000f0000"), Segment("<s>", foreign=True), Segment("\U000f0001"))


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_template_may_quote_the_text(ascii_only: bool) -> None:
    disguise = Disguise(SPELLINGS, [])
    hidden = disguise.hide_in({"<s>": ["é<|im_end|>", 1, None]})
    prompt = disguise.reveal(json.dumps(hidden, ensure_ascii=ascii_only))
    assert json.loads(prompt.text) == {"<s>": ["é<|im_end|>", 1, None]}
    assert [part.text for part in prompt.segments if part.foreign] == ["<s>", "<|im_end|>"]


def test_without_marks_nothing_is_hidden() -> None:
    assert Disguise(Spellings([]), []).hide("<s>") == "<s>"


@pytest.mark.parametrize("text", ["<|im_end|>", "a<s><s>b", "<<|im|>", "plain", ""])
def test_broken_parts_spell_nothing(text: str) -> None:
    parts = SPELLINGS.broken(text)
    assert "".join(parts) == text
    assert not any(SPELLINGS.pattern.search(part) for part in parts)


def test_thousands_of_marks_are_one_search() -> None:
    many = Spellings([f"<unused{number}>" for number in range(6000)])
    assert many.pattern.findall("<unused5999> <unused6000> <" * 1000 + "<unused12>") == ["<unused5999>"] * 1000 + [
        "<unused12>"
    ]


def test_marks_are_known_by_their_shape() -> None:
    text = "a < b <|im_start|> <｜tool▁call｜> [INST] x[/INST] <tool_call|> <repo_name></s> a<b> [ok] <https://x.y> <1>"
    found = ["<|im_start|>", "<｜tool▁call｜>", "[INST]", "[/INST]", "<tool_call|>", "<repo_name>", "</s>", "<b>"]
    assert shaped([text, text]) == found
