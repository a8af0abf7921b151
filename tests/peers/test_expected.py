"""The list of known differences is whole, and docs/why.md explains every kind in it."""

from __future__ import annotations

from pathlib import Path

from peers.expected import FILE, load
from peers.turns import pairs

PAIRS = load(FILE.read_text(encoding="utf-8"))
PAGE = (Path(__file__).parents[2] / "docs" / "why.md").read_text(encoding="utf-8")


def test_every_pair_is_in_it():
    wanted = [(peer, dialect, reads) for peer in ("vllm", "sglang") for dialect, reads in pairs()[peer].items()]
    assert [(pair.peer, pair.dialect, pair.reads) for pair in PAIRS] == wanted


def test_every_kind_is_explained():
    kinds = {one.kind for pair in PAIRS for one in pair.differences}
    explained = {part.split("\n")[0]: part for part in PAGE.split("\n### ")[1:]}
    assert kinds == set(explained)
    assert all("\nRight: " in part for part in explained.values())
