"""Log probabilities of what is shown."""

from __future__ import annotations

from dragoman.engines.base import Alternative, Piece
from dragoman.events import Content, Notice, Reasoning
from dragoman.server.logprobs import Shown


def piece(text: str, *, special: bool = False) -> Piece:
    return Piece(text, (1,), special, (Alternative(text, -0.1),))


def fed(shown: Shown, found: Piece, *events: Content | Reasoning | Notice) -> list[str]:
    return [token.token for token in shown.feed(found, events)]


def test_a_token_comes_with_its_text() -> None:
    assert fed(Shown(), piece("Hi"), Content("Hi")) == ["Hi"]


def test_what_is_held_back_comes_later() -> None:
    shown = Shown()
    assert fed(shown, piece("<")) == []
    assert fed(shown, piece("b"), Notice("stray-mark"), Content("<b")) == ["<", "b"]


def test_reasoning_and_marks_are_dropped() -> None:
    shown = Shown()
    assert fed(shown, piece("<think>", special=True)) == []
    assert fed(shown, piece("so"), Reasoning("so")) == []
    assert fed(shown, piece("</")) == []
    assert fed(shown, piece("think>")) == []
    assert fed(shown, piece("Yes"), Content("Yes")) == ["Yes"]
