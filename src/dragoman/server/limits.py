"""Limits: how large the parts of a request may be, before anything is made of them.

They bound what a request can cost: a schema becomes a grammar, a grammar becomes an automaton in the engine, and a
nested value is walked by programs that recurse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..errors import RequestError
from ..messages import Request
from ..protocols import wire as json
from .config import Config

__all__ = ["check_depth", "check_request"]

DEPTH = 128
_GRAMMAR = 64 << 10  # bytes of a grammar that a client sends
_REPEATS = 2000
_COUNTS = re.compile(r"\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}")
_GROUPS = 200  # parentheses inside each other


def check_depth(value: Any) -> None:
    """Refuse what is nested too deeply.

    Raises:
        RequestError: it is (400).
    """
    level = [value]
    for _ in range(DEPTH):
        level = [
            item
            for box in level
            for item in (box.values() if type(box) is dict else box)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return
    raise RequestError(f"the request's JSON is nested more than {DEPTH} levels deep", code="invalid_json")


def check_request(request: Request, config: Config) -> None:
    """Refuse a request of which a part is too large.

    Raises:
        RequestError: which part, and what is allowed (400).
    """
    if len(request.tools) > config.tools_limit:
        _refuse("tools", f"{len(request.tools)} tools; --tools-limit allows {config.tools_limit}")
    for name, schema in _schemas(request):
        if len(json.dump(schema)) > config.schema_limit:
            _refuse(name, f"a schema of more than {config.schema_limit} bytes; --schema-limit allows more")
    grammar = request.sampling.get("grammar")
    if isinstance(grammar, str):
        _check_grammar(grammar)


def _schemas(request: Request) -> Iterator[tuple[str, Any]]:
    for tool in request.tools:
        yield "tools", tool.parameters
    if request.schema is not None:
        yield "response_format", request.schema


def _check_grammar(grammar: str) -> None:
    """An engine unrolls repetitions, and reads groups by recursion."""
    if len(grammar) > _GRAMMAR:
        _refuse("grammar", f"more than {_GRAMMAR} bytes")
    for low, high in _COUNTS.findall(grammar):
        if max(_number(low), _number(high)) > _REPEATS:
            _refuse("grammar", f"a repetition of more than {_REPEATS} times")
    if _nesting(grammar) > _GROUPS:
        _refuse("grammar", f"groups nested more than {_GROUPS} levels deep")


def _number(digits: str) -> int:
    return int(digits[:10] or 0)


def _nesting(grammar: str) -> int:
    """How deep its parentheses go; those in literals and classes are counted too, which only errs to the safe side."""
    level = deepest = 0
    for mark in re.findall("[()]", grammar):
        level = max(0, level + (1 if mark == "(" else -1))
        deepest = max(deepest, level)
    return deepest


def _refuse(param: str, problem: str) -> None:
    raise RequestError(f"{param} has {problem}", param=param, code="limit_exceeded")
