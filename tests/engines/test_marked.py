"""Special tokens come out as pieces of their own, and spelled marks stay text."""

from __future__ import annotations

import pytest

from dragoman.engines.base import Piece
from dragoman.engines.marked import Marked

MARKED = Marked({"<a>": 1, "<b>": 2, "<a>x": 3})


def told(*pieces: Piece) -> list[tuple[str, bool]]:
    return [(piece.text, piece.special) for piece in pieces]


@pytest.mark.parametrize(
    ("text", "ids", "wanted"),
    [
        ("hello", (9,), [("hello", False)]),
        ("<a>", (1,), [("<a>", True)]),
        ("<a>", (), [("<a>", True)]),
        ("<a>", (9, 8, 7), [("<a>", False)]),
        ("hi<a>yo<b>", (), [("hi", False), ("<a>", True), ("yo", False), ("<b>", True)]),
        ("hi<a>yo", (9, 1, 8), [("hi", False), ("<a>", True), ("yo", False)]),
        ("<a><b>", (1, 2), [("<a>", True), ("<b>", True)]),
        ("<a> is <a>", (7, 8, 9, 6, 1), [("<a> is ", False), ("<a>", True)]),
        ("<a> is <b>", (7, 8, 9, 6, 2), [("<a> is ", False), ("<b>", True)]),
        ("<a>x", (), [("<a>x", True)]),
        ("x <a>", (5,), [("x <a>", False)]),
        ("", (), [("", False)]),
    ],
)
def test_a_delta_in_pieces(text: str, ids: tuple[int, ...], wanted: list[tuple[str, bool]]) -> None:
    pieces = MARKED.pieces(text, ids)
    assert told(*pieces) == wanted
    assert "".join(piece.text for piece in pieces) == text


def test_no_token_is_counted_twice_or_lost() -> None:
    pieces = MARKED.pieces("hi<a>yo<b>", (9, 1, 8, 2))
    assert sorted(token for piece in pieces for token in piece.ids) == [1, 2, 8, 9]


def test_a_model_without_special_tokens() -> None:
    assert Marked({}).pieces("<a>", (1,)) == [Piece("<a>", (1,))]
