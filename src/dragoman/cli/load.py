"""Load: many requests to a server that speaks Chat Completions, and what each of them took."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles
from time import monotonic
from typing import Any

import aiohttp

from ..errors import DragomanError
from ..events import CallArgs, CallStart, Content, Finish, Reasoning, Usage
from ..protocols.chat_upstream import Reader

__all__ = ["Level", "Plan", "Sample", "run"]

_WORDS = [
    "river",
    "stone",
    "window",
    "garden",
    "letter",
    "morning",
    "paper",
    "silver",
    "travel",
    "market",
    "island",
    "winter",
    "shadow",
    "music",
    "corner",
    "engine",
    "forest",
    "signal",
    "bridge",
    "summer",
    "copper",
    "velvet",
    "harbor",
    "lantern",
    "meadow",
]
_TOKENS_PER_WORD = 1.35  # of common English words, in common tokenizers


@dataclass(slots=True)
class Plan:
    """What each request asks for.

    `prompt`, `output`: tokens, about.  `more`: further fields of the request.
    """

    model: str = ""
    prompt: int = 128
    output: int = 64
    more: dict[str, Any] = field(default_factory=dict)

    def body(self, number: int) -> dict[str, Any]:
        """A request that no cache has seen: its first words are its own."""
        chance = random.Random(number)  # noqa: S311 (the same for both servers)
        words = [chance.choice(_WORDS) for _ in range(max(4, round(self.prompt / _TOKENS_PER_WORD)))]
        text = f"{number}: {' '.join(words)}. Go on with this text."
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": self.output,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self.more,
        }


@dataclass(slots=True)
class Sample:
    """One request: seconds to its first token and in all, between its tokens, its token counts, and what failed."""

    first: float = 0.0
    total: float = 0.0
    gaps: list[float] = field(default_factory=list)
    prompt: int = 0
    output: int = 0
    error: str = ""


@dataclass(slots=True)
class Level:
    """All requests that ran with one number of others beside them.  Times are seconds."""

    concurrency: int
    samples: list[Sample]
    seconds: float

    @property
    def good(self) -> list[Sample]:
        """Those that were answered."""
        return [sample for sample in self.samples if not sample.error]

    def numbers(self) -> dict[str, float | int | None]:
        """The results, rounded for people; None where nothing was measured."""
        good = self.good
        firsts, gaps = [sample.first for sample in good], [gap for sample in good for gap in sample.gaps]
        paced = [sample for sample in good if sample.output > 1 and sample.total > sample.first]
        paces = [(sample.output - 1) / (sample.total - sample.first) for sample in paced]
        prompts = [sample.prompt / sample.first for sample in good if sample.first > 0 and sample.prompt]
        return {
            "concurrency": self.concurrency,
            "requests": len(self.samples),
            "errors": len(self.samples) - len(good),
            "seconds": _round(self.seconds),
            "requests_per_second": _round(len(good) / self.seconds),
            "tokens_per_second": _round(sum(sample.output for sample in good) / self.seconds),
            "tokens_per_second_each": _round(_middle(paces)),
            "prompt_tokens_per_second": _round(_middle(prompts)),
            "first_p50": _round(_at(firsts, 50)),
            "first_p95": _round(_at(firsts, 95)),
            "first_p99": _round(_at(firsts, 99)),
            "gap_p50": _round(_at(gaps, 50)),
            "gap_p99": _round(_at(gaps, 99)),
        }


async def run(
    url: str, key: str, plan: Plan, concurrency: int, requests: int, done: Callable[[Sample], None], seed: int = 0
) -> Level:
    """Send so many requests, so many at a time; `done` hears of each."""
    limits = aiohttp.TCPConnector(limit=0)
    patience = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=300)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession(connector=limits, timeout=patience, headers=headers) as session:
        numbers = iter(range(seed, seed + requests))
        began = monotonic()

        async def worker() -> list[Sample]:
            return [await _one(session, url, plan.body(number), done) for number in numbers]

        samples = await asyncio.gather(*(worker() for _ in range(min(concurrency, requests))))
        return Level(concurrency, [sample for part in samples for sample in part], monotonic() - began)


async def _one(
    session: aiohttp.ClientSession, url: str, body: dict[str, Any], done: Callable[[Sample], None]
) -> Sample:
    sample = Sample()
    try:
        await _measure(session, url, body, sample)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        sample.error = f"{type(error).__name__}: {error}"
    except DragomanError as error:
        sample.error = str(error)
    done(sample)
    return sample


async def _measure(session: aiohttp.ClientSession, url: str, body: dict[str, Any], sample: Sample) -> None:
    began = last = monotonic()
    reader = Reader(engine=url)
    async with session.post(f"{url}/v1/chat/completions", json=body) as answer:
        if answer.status != 200:
            sample.error = f"{answer.status} {(await answer.text())[:200]}"
            return
        async for data in answer.content.iter_any():
            now = monotonic()
            pieces = _count(reader.feed(data), sample)
            if pieces and not sample.first:
                sample.first = now - began
            elif pieces:
                sample.gaps.append(now - last)
            last = now if pieces else last
        _count(reader.close(), sample)
    sample.total = monotonic() - began
    if not sample.first and not sample.error:
        sample.error = "the answer has no token"


def _count(events: Sequence[Any], sample: Sample) -> int:
    """How many of the events are pieces of the answer."""
    pieces = 0
    for event in events:
        if isinstance(event, Content | Reasoning | CallArgs | CallStart):
            pieces += 1
        elif isinstance(event, Usage):
            sample.prompt, sample.output = event.prompt or 0, event.completion or sample.output
        elif isinstance(event, Finish) and event.error is not None:
            sample.error = str(event.error)
    if not any(isinstance(event, Usage) for event in events):
        sample.output += pieces
    return pieces


def _at(values: Sequence[float], percent: int) -> float | None:
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def _middle(values: Sequence[float]) -> float | None:
    return _at(values, 50)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4 if value < 10 else 1)
