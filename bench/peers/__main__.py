"""Compares with the parsers of vLLM and SGLang: `python -m bench.peers` writes `bench/peers/results.md` (`make peers-again`)."""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tests.peers.serving import PEERS, Dragoman
from tests.peers.turns import pairs

from dragoman import api

from .cuts import SIZES, Cuts, cuts
from .speed import KINDS, Speed, speed

TIMED = (
    "hermes-json",
    "qwen3-coder-xml",
    "gemma4",
    "harmony",
    "deepseek-v31",
    "kimi-k2",
    "glm45",
    "mistral-v11",
    "minimax-m2",
)

Times = dict[tuple[str, str, str], Speed]


def main() -> int:
    """Measure, print and write."""
    logging.disable(logging.CRITICAL)
    text = "\n".join(["# Beside vLLM and SGLang", "", *_head(), *_cutting(), *_timing()]) + "\n"
    print(text)
    (Path(__file__).parent / "results.md").write_text(text, encoding="utf-8")
    return 0


def _head() -> Iterator[str]:
    versions = f"vLLM {version('vllm')}, SGLang {version('sglang')}, Python {platform.python_version()}"
    yield "Written by `make peers-again`: the parsers alone, in one process, driven as their servers drive them."
    yield f"{versions}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    yield "What differs on well-formed turns, and who is right: [docs/why.md](../../docs/why.md)."
    yield ""


def _cutting() -> Iterator[str]:
    yield "## Where the cut falls"
    yield ""
    yield "The well-formed turns of docs/why.md and the corpus of each dialect, which is mostly what models get wrong."
    yield f"Each text is read in pieces of {', '.join(map(str, SIZES))} tokens, in one piece, and not streamed."
    yield "*By the cut*: the streamed answers are not all the same.  *Not streamed*: that answer is another one."
    yield "White space around texts and the order of keys do not count."
    yield ""
    yield "| dialect | parsers | texts | by the cut | not streamed | raises |"
    yield "|---|---|---|---|---|---|"
    sums: dict[str, Cuts] = {}
    for name in sorted({*pairs()["vllm"], *pairs()["sglang"]}):
        for peer, reads in _readers(name):
            print(name, peer, file=sys.stderr)
            found = cuts({**PEERS, "dragoman": Dragoman}[peer], api.get(name), reads)
            yield f"| {name} | {peer} {reads} | {_counts(found)} |"
            total = sums.setdefault(peer, Cuts())
            for field in vars(found):
                setattr(total, field, getattr(total, field) + getattr(found, field))
    for peer, total in sums.items():
        yield f"| **all** | **{peer}** | {_counts(total)} |"
    yield ""


def _readers(name: str) -> Iterator[tuple[str, str]]:
    yield from ((peer, pairs()[peer][name]) for peer in PEERS if name in pairs()[peer])
    yield "dragoman", ""


def _counts(found: Cuts) -> str:
    return f"{found.texts} | {found.cut} | {found.whole} | {found.raises}"


def _timing() -> Iterator[str]:
    yield "## What a token costs"
    yield ""
    yield "Microseconds of CPU time for a token, a text of 4,000 tokens, the best of three runs (of one where it takes seconds)."
    yield "*Times ours*: how many times dragoman's.  *Growth*: from 1,000 to 4,000 tokens; 1 is linear, 2 quadratic."
    yield "dragoman is driven by the same loop, event by event; their servers' own work is not in it."
    yield ""
    yield "| dialect | text | dragoman | growth | vLLM | times ours | growth | SGLang | times ours | growth |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    ratios: dict[str, list[float]] = {peer: [] for peer in PEERS}
    for name in TIMED:
        for kind in KINDS:
            print(name, kind, file=sys.stderr)
            yield _row(name, kind, ratios)
    yield ""
    for peer, found in ratios.items():
        yield f"{peer}: {min(found):.1f} to {max(found):.0f} times dragoman's time, {sorted(found)[len(found) // 2]:.1f} in the middle."
        yield f"It is faster than dragoman in {sum(one < 1 for one in found)} of {len(found)} rows."


def _row(name: str, kind: str, ratios: dict[str, list[float]]) -> str:
    dialect = api.get(name)
    ours = speed(Dragoman, dialect, "", kind)
    cells = [name, kind, f"{ours.long:.2f}", f"{ours.growth:.2f}"] if ours else [name, kind, "-", "-"]
    for peer, how in PEERS.items():
        theirs = speed(how, dialect, pairs()[peer][name], kind) if name in pairs()[peer] else None
        if ours and theirs:
            ratios[peer].append(theirs.long / ours.long)
            cells += [f"{theirs.long:.1f}", f"{theirs.long / ours.long:.1f}", f"{theirs.growth:.2f}"]
        else:
            cells += ["-", "-", "-"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
