"""How it is measured: CPU time, the best of several runs, each next to a run of its floor: a busy machine slows both."""

from __future__ import annotations

import gc
import json.encoder
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dragoman import Parser
from dragoman.messages import Request
from dragoman.protocols.chat import Writer, read_request

from .material import Load, tools

__all__ = ["Rate", "append_only", "decode", "exponent", "frames", "memory", "quote_only", "rate", "seconds", "set_up"]

Run = Callable[[], object]


@dataclass(frozen=True)
class Rate:
    """Microseconds per piece, and those of the floor."""

    micros: float
    floor: float

    @property
    def ratio(self) -> float:
        """How many floors it costs."""
        return self.micros / self.floor


def seconds(run: Run) -> float:
    """One run, without the collector in it."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        run()
        return time.thread_time() - start
    finally:
        gc.enable()


def rate(run: Run, floor: Run, pieces: int, repeat: int) -> Rate:
    """The best of interleaved runs."""
    best, least = math.inf, math.inf
    for _ in range(repeat):
        least = min(least, seconds(floor))
        best = min(best, seconds(run))
    return Rate(best / pieces * 1e6, least / pieces * 1e6)


# --- what runs


def append_only(load: Load) -> Run:
    """The floor of decoding: a function that only appends the pieces."""

    def run() -> None:
        out: list[str] = []

        def feed(text: str) -> list[str]:
            out.append(text)
            return out

        for piece in load.pieces:
            feed(piece)

    return run


def quote_only(load: Load) -> Run:
    """The floor of a frame: quoting the pieces as JSON."""

    def run() -> None:
        quote = json.encoder.encode_basestring_ascii
        for piece in load.pieces:
            quote(piece)

    return run


def decode(load: Load) -> Run:
    """A parser fed piece by piece."""

    def run() -> None:
        parser = load.parser()
        feed = parser.feed
        for piece in load.pieces:
            feed(piece)

    return run


def frames(load: Load) -> Run:
    """A parser fed piece by piece, and what it says written as Chat chunks."""
    _, settings = read_request({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]})

    def run() -> None:
        parser = load.parser()
        writer = Writer(Request(model="m"), settings, answer_id="chatcmpl-1", created=0, ids=lambda: "call_1")
        feed, write = parser.feed, writer.write
        for piece in load.pieces:
            events = feed(piece)
            if events:
                write(events)

    return run


def set_up(load: Load, repeat: int) -> float:
    """Microseconds to make a parser (its dialect compiled, its 20 tools known)."""
    offered, prompt = tools(20), load.dialect.begins

    def run() -> None:
        for _ in range(200):
            Parser(load.dialect, offered, prompt=prompt)

    run()
    return min(seconds(run) for _ in range(repeat)) / 200 * 1e6


def memory(load: Load, count: int = 100) -> float:
    """Bytes per open parser in the middle of a turn."""
    offered = tools(20)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = []
    for _ in range(count):
        parser = Parser(load.dialect, offered, prompt=load.dialect.begins)
        for piece in load.pieces:
            parser.feed(piece)
        held.append(parser)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / len(held)


def exponent(sizes: Sequence[int], micros: Sequence[float]) -> float:
    """The power of the length with which the whole cost grows: the slope through all measurements."""
    xs = [math.log(size) for size in sizes]
    ys = [math.log(size * cost) for size, cost in zip(sizes, micros, strict=True)]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)
