"""vLLM's and SGLang's own parsers on well-formed turns: every difference from what was meant is known, and of a kind.

`make peers` installs them; elsewhere these tests are left out.
"""

from __future__ import annotations

import importlib.util

import pytest
from peers.expected import FILE, Difference, Pair, load, measured
from peers.serving import PEERS, Dragoman, answers
from peers.tokens import pieces
from peers.turns import cases, pairs

from dragoman import api

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

KNOWN = {(pair.peer, pair.dialect): pair for pair in load(FILE.read_text(encoding="utf-8"))}
EVERY = [(peer, dialect, reads) for peer in PEERS for dialect, reads in pairs()[peer].items()]


def lines(differences: set[Difference]) -> str:
    return "\n".join(sorted(map(str, differences)))


def keys(pair: Pair) -> set[Difference]:
    return {Difference(*one.key) for one in pair.differences}


@pytest.mark.parametrize(("peer", "dialect", "reads"), EVERY, ids=lambda one: one.replace(" ", ""))
def test_every_difference_is_known(peer: str, dialect: str, reads: str):
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed here; `make peers` installs it")
    found = measured(peer, dialect, reads)
    known, now = keys(KNOWN[peer, dialect]), keys(found)
    assert not now - known, f"new differences, to be judged in docs/why.md:\n{lines(now - known)}"
    assert not known - now, f"differences that are gone, to be taken out of {FILE.name}:\n{lines(known - now)}"
    assert found.answers == KNOWN[peer, dialect].answers, "`make peers-again` counts the answers anew"


@pytest.mark.parametrize("dialect", sorted({dialect for _, dialect, _ in EVERY}))
def test_ours_have_none(dialect: str):
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("no tokenizer is installed here; `make peers` installs one")
    for case in cases(api.get(dialect)):
        for how, answer in answers(Dragoman, case, "", pieces(case)).items():
            assert not answer.differs(case.turn), (case.kind, how, case.raw, answer)
