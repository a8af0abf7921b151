"""Our plug-ins in the installed vLLM and SGLang: found by them, and driven by their own serving code."""

from __future__ import annotations

import importlib
import importlib.util

import pytest
from peers.serving import PEERS, Sglang, answers
from peers.tokens import pieces
from peers.turns import cases

from dragoman.inside.streams import dialects

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]

EVERY = [(peer, dialect) for peer in PEERS for dialect in dialects()]


@pytest.fixture(autouse=True)
def installed(request):
    peer = request.node.callspec.params["peer"]
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed here; `make peers` installs it")
    importlib.import_module(f"dragoman.inside.{peer}").register()


def pair(peer: str, dialect) -> str:
    """Our names for a dialect, as a pair of `pairs.toml`."""
    name = f"dragoman-{dialect.name}"
    return f"{name if dialect.call else ''} + {name if dialect.reasoning else ''}"


@pytest.mark.parametrize(("peer", "dialect"), EVERY, ids=lambda one: getattr(one, "name", one))
def test_turns_come_out_as_they_were_meant(peer: str, dialect):
    for case in cases(dialect):
        for how, answer in answers(PEERS[peer], case, pair(peer, dialect), pieces(case)).items():
            assert not answer.differs(case.turn), (case.kind, how, case.prompt, case.raw, answer)


@pytest.mark.parametrize("peer", ["vllm"])
def test_vllm_finds_the_plug_in(peer: str):
    from vllm.plugins import load_plugins_by_group

    assert "dragoman" in load_plugins_by_group("vllm.general_plugins")


@pytest.mark.parametrize("peer", ["sglang"])
def test_sglang_finds_the_plug_in(peer: str):
    from importlib.metadata import entry_points

    found = entry_points(group="sglang.srt.plugins")
    assert "dragoman" in found.names
    assert Sglang is PEERS[peer]
