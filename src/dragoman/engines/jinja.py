"""Chat templates: Jinja in a sandbox, set up as the templates' authors expect it, compiled once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from ..errors import EngineError, RequestError
from .budget import Budgeted, Spent, limited

__all__ = ["compiled", "render"]


def render(template: str, variables: Mapping[str, Any]) -> str:
    """The template with these variables.

    Raises:
        RequestError: the template refuses the messages, or cannot make anything of them.
        EngineError: the template itself is broken.
    """
    ready = compiled(template)
    try:
        return limited(lambda: ready.render(variables))
    except _Refusal as problem:
        raise RequestError(f"the model's chat template refuses these messages: {problem}", param="messages") from None
    except Spent as problem:
        raise EngineError(f"the model's chat template was stopped: {problem}") from None
    except jinja2.exceptions.SecurityError as problem:
        raise EngineError(f"the model's chat template does what no template may: {problem}") from problem
    except (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as problem:
        message = f"the model's chat template cannot render these messages: {problem}"
        raise RequestError(message, param="messages") from problem


@lru_cache(32)
def compiled(template: str) -> jinja2.Template:
    """The template, compiled.

    Raises:
        EngineError: it does not parse.
    """
    try:
        return _environment().from_string(template)
    except jinja2.TemplateSyntaxError as problem:
        raise EngineError(
            f"the model's chat template does not parse: {problem.message}, line {problem.lineno}"
        ) from problem


class _Refusal(Exception):
    """A template called `raise_exception`."""


class _Generation(Extension):
    """`{% generation %}` marks what training looks at; here its body is simply rendered."""

    tags = {"generation"}  # noqa: RUF012 - this is how Jinja wants it

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@lru_cache(1)
def _environment() -> Budgeted:
    made = Budgeted(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"])
    made.filters["tojson"] = _tojson
    functions: dict[str, Callable[..., Any]] = {"raise_exception": _refuse, "strftime_now": _now}
    made.globals.update(functions)
    return made


def _refuse(message: str) -> NoReturn:
    raise _Refusal(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is; Jinja's own filter escapes it for HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
