"""`dragoman doctor`: any server, held against the rulebook."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from ..doctor.examine import Examination
from ..doctor.report import json_report, junit_report, line, table
from ..doctor.results import Result, Verdict, worst
from ..doctor.scenario import SCENARIOS, Scenario
from ..errors import UsageError
from .files import dump

__all__ = ["doctor"]

Name = Literal["chat", "responses", "messages", "ollama", "completions"]
STATUS = {Verdict.WARNING: 3, Verdict.FAILED: 4}


def doctor(
    url: str = "",
    /,
    *,
    model: str = "",
    api_key: Annotated[str, Parameter(show_default=False)] = "",
    protocol: Annotated[list[Name] | None, Parameter(show_default=False)] = None,
    scenario: Annotated[list[str] | None, Parameter(show_default=False)] = None,
    timeout: float = 120.0,
    json: bool = False,
    junit: str = "",
    scenarios: bool = False,
) -> int:
    """Hold a server against the rulebook: any that speaks the protocols of OpenAI, Anthropic or Ollama.

    About thirty short scenarios are played in each protocol that the server offers.
    The table says which rules are broken, what was seen, which clients break, and how it is cured.
    It ends with 3 if there are only warnings, with 4 if there are faults.

    Args:
        url: Where the server is, such as http://127.0.0.1:8000; a path of its API does no harm.
        model: The model to ask; by default the first that the server lists.
        api_key: The API key; by default $DRAGOMAN_API_KEY.
        protocol: Only this protocol (may be given more than once); by default all that are offered.
        scenario: Only this scenario (may be given more than once).
        timeout: Seconds for one scenario; a slow model needs more.
        json: Print everything as JSON instead of the table.
        junit: Write the results to this file, as build servers read them.
        scenarios: List the scenarios, and examine nothing.
    """
    if scenarios:
        return _list()
    if not url:
        raise UsageError("the URL of a server is missing; give one such as http://127.0.0.1:8000")
    key = api_key or os.environ.get("DRAGOMAN_API_KEY", "")
    wanted = Examination(url, model=model, key=key, protocols=protocol or (), timeout=timeout, only=scenario or ())
    results = asyncio.run(_examine(wanted))
    told = wanted.probe.base, wanted.model, results
    if json:
        print(dump(json_report(*told), indent=2))
    else:
        Console(highlight=False).print(table(*told))
    if junit:
        _write(junit, junit_report(wanted.model, results))
    return STATUS.get(worst(results), 0)


async def _examine(wanted: Examination) -> list[Result]:
    """Play all scenarios, and tell how it goes on standard error."""
    told = Console(file=sys.stderr, highlight=False, soft_wrap=False)
    results = []
    with told.status("looking for the server ...") as status:

        def begin(protocol: str, scenario: Scenario) -> None:
            status.update(f"{protocol}: {scenario.title} ...")

        async for result in wanted.run(begin):
            results.append(result)
            told.print(line(result), no_wrap=True, overflow="ellipsis")
    return results


def _list() -> int:
    for scenario in SCENARIOS:
        where = f" ({', '.join(scenario.only)})" if scenario.only else ""
        print(f"{scenario.name:17}{scenario.title}{where}")
    return 0


def _write(file: str, report: str) -> None:
    try:
        Path(file).write_text(report, "utf-8")
    except OSError as problem:
        raise UsageError(f"{file!r} cannot be written: {problem.strerror}") from problem
