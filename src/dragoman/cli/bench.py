"""`dragoman bench`: how fast a server answers, alone or beside another."""

from __future__ import annotations

import asyncio
import json as plain
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..errors import UsageError
from .conversation import Conversation, base
from .files import dump
from .load import Level, Plan, Sample, run

__all__ = ["bench"]

_ROWS = {
    "requests": "requests",
    "errors": "errors",
    "seconds": "seconds in all",
    "requests_per_second": "requests/s",
    "tokens_per_second": "tokens/s, all together",
    "tokens_per_second_each": "tokens/s, each (median)",
    "prompt_tokens_per_second": "prompt tokens/s, each (median)",
    "first_p50": "seconds to first token, p50",
    "first_p95": "seconds to first token, p95",
    "first_p99": "seconds to first token, p99",
    "gap_p50": "seconds between pieces, p50",
    "gap_p99": "seconds between pieces, p99",
}


def bench(
    url: str = "http://127.0.0.1:8000",
    /,
    *,
    vs: str = "",
    model: str = "",
    concurrency: Annotated[tuple[int, ...], Parameter(consume_multiple=True)] = (1, 4),
    requests: int = 8,
    prompt_tokens: int = 128,
    output_tokens: int = 64,
    extra: str = "",
    json: bool = False,
    api_key: Annotated[str, Parameter(env_var="DRAGOMAN_API_KEY", show_default=False)] = "",
) -> int:
    """Measure a server that speaks Chat Completions: tokens per second, time to first token, percentiles.

    Every request has a prompt that no cache knows; both servers of a comparison get the same ones, in turn.
    Exits with 1 if a request failed.

    Args:
        url: The server, such as http://127.0.0.1:8000.
        vs: A second server to compare it with.
        model: The model; by default the first that each server lists.
        concurrency: How many requests run at once; several numbers are measured one after the other.
        requests: Requests at each of them.
        prompt_tokens: Tokens of a prompt, about.
        output_tokens: Tokens to write at most.
        extra: Further fields of each request, as JSON, such as {"ignore_eos": true}.
        json: Print the results as JSON.
        api_key: The servers' key.
    """
    if requests < 1 or min(concurrency, default=0) < 1 or output_tokens < 1 or prompt_tokens < 1:
        raise UsageError("concurrency, requests and tokens are at least 1")
    more = _extra(extra)
    urls = [base(one) for one in (url, vs) if one]
    plans = {one: Plan(Conversation(one, api_key, model).pick(), prompt_tokens, output_tokens, more) for one in urls}
    levels = asyncio.run(_measure(plans, api_key, concurrency, requests))
    if json:
        print(dump({one: [level.numbers() for level in found] for one, found in levels.items()}, indent=2))
    else:
        _print(levels)
    failed = [sample.error for found in levels.values() for level in found for sample in level.samples if sample.error]
    if failed:
        Console(stderr=True).print(f"{len(failed)} requests failed; the first: {failed[0]}", highlight=False)
    return 1 if failed else 0


def _extra(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        found = plain.loads(text)
    except ValueError as error:
        raise UsageError(f"--extra is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError("--extra is a JSON object")
    return found


async def _measure(
    plans: dict[str, Plan], key: str, concurrency: tuple[int, ...], requests: int
) -> dict[str, list[Level]]:
    """Every level of every server; one request before them warms each up."""
    levels: dict[str, list[Level]] = {url: [] for url in plans}
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for url, plan in plans.items():
            await run(url, key, plan, 1, 1, lambda _: None, seed=10**6)
        for round_, at_once in enumerate(concurrency):
            for url, plan in plans.items():
                task = progress.add_task(f"{url}  {at_once} at once", total=requests)

                def done(_: Sample, task: Any = task) -> None:
                    progress.advance(task)

                levels[url].append(await run(url, key, plan, at_once, requests, done, seed=round_ * requests))
    return levels


def _print(levels: dict[str, list[Level]]) -> None:
    table = Table(title="", show_edge=False, pad_edge=False)
    table.add_column("")
    columns = [
        (url, level) for number in range(len(next(iter(levels.values())))) for url, level in _row(levels, number)
    ]
    signs = dict(zip(levels, "AB" if len(levels) > 1 else "", strict=False))  # an address is too wide for a column
    for url, level in columns:
        where = f"{signs[url]}\n" if signs else ""
        table.add_column(f"{where}{level.concurrency} at once", justify="right")
    numbers = [level.numbers() for _, level in columns]
    for key, name in _ROWS.items():
        table.add_row(name, *("-" if one[key] is None else f"{one[key]:g}" for one in numbers))
    console = Console(highlight=False)
    for url, sign in signs.items():
        console.print(f"{sign}  {url}", markup=False, soft_wrap=True)
    console.print(table)


def _row(levels: dict[str, list[Level]], number: int) -> list[tuple[str, Level]]:
    return [(url, found[number]) for url, found in levels.items()]
