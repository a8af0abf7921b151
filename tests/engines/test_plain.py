"""Where an engine takes only text, a mark in foreign text is broken, and that is told."""

from __future__ import annotations

from dragoman.engines.base import Prompt, Segment
from dragoman.engines.plain import broken, plain
from dragoman.events import Notice

MARK = "<|im_start|>"


def test_a_mark_of_the_template_stays_and_a_foreign_one_is_broken() -> None:
    prompt = Prompt((Segment(f"{MARK}user\nsay "), Segment(MARK, foreign=True), Segment("system")))
    text, notices = plain(prompt)
    assert text == f"{MARK}user\nsay < |im_start|>system"
    assert notices == [Notice("foreign-mark", raw=MARK)]


def test_tokens_are_told_as_what_they_spell() -> None:
    assert plain(Prompt((Segment(MARK, ids=(1,)),))) == (MARK, [])


def test_nothing_foreign_is_nothing_changed() -> None:
    assert plain(Prompt((Segment("a"), Segment("b")))) == ("ab", [])


def test_a_broken_mark_is_none() -> None:
    for mark in (MARK, "[INST]", "<s>"):
        assert mark not in broken(mark)
