"""`dragoman replay`: a recorded turn again: decoded anew, or its request sent to a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..cases.case import Case
from ..cases.expect import problems
from ..cases.read import is_case
from ..cases.read import read as read_cases
from ..errors import UsageError
from ..explanation import explain
from .case import named
from .files import read
from .remote import post

__all__ = ["replay"]

DIFFERS = 3


def replay(
    files: tuple[str, ...] = (),
    /,
    *,
    dialect: Annotated[str, Parameter(alias="-d")] = "",
    url: str = "",
    api_key: Annotated[str, Parameter(env_var="DRAGOMAN_API_KEY", show_default=False)] = "",
) -> int:
    """Decode recorded turns anew and say where the result differs from what is written there.

    With --url, their requests are sent to a server instead, and its answers are printed as they come.
    Exits with 3 if something differs.

    Args:
        files: Case files: those of the turn log, of `explain --report`, or of the corpus.
        dialect: Decode by this dialect instead.
        url: A server to send the requests to, such as http://127.0.0.1:8000.
        api_key: Its key.
    """
    differ = total = 0
    for case in _cases(files):
        total += 1
        if url:
            _send(case, url.rstrip("/"), api_key)
        elif found := _differences(replace(case, dialect=dialect) if dialect else case):
            differ += 1
            print(f"{case.title}\n  recorded\n{_listed(case.expect)}{_listed(found)}")
    if not url:
        print(f"{total} turn{'s' * (total != 1)}, {differ or 'none'} differ{'s' * (differ == 1)}")
    return DIFFERS if differ else 0


def _cases(files: tuple[str, ...]) -> Iterator[Case]:
    if not files:
        raise UsageError("name the case files to replay: `dragoman replay FILE ...`")
    for file in files:
        text = read(file)
        if not is_case(text):
            raise UsageError(f"{file} is no case file; `dragoman explain {file}` reads any text")
        yield from read_cases(text, Path(file).name)


def _differences(case: Case) -> list[str]:
    return problems(case, explain(case, named(case.dialect)).turn)


def _listed(lines: tuple[str, ...] | list[str]) -> str:
    return "".join(f"    {line}\n" for text in lines for line in text.split("\n"))


def _send(case: Case, url: str, key: str) -> None:
    if not case.request:
        raise UsageError(
            f"{case.title} has no request; /dragoman/turns/ID.txt of a server, and its --turn-log-to, have it"
        )
    print(f"# {case.title}: POST {url}{case.path}", flush=True)
    for line in post(url + case.path, case.request, key):
        print(line, end="", flush=True)
    print()
