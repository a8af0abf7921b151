"""Prepare: what a request becomes before an engine is asked: its prompts, and a generation for each answer.

A conversation is rendered by the model's template, and its answers are decoded.
A raw prompt goes to the engine as it is, and of its answers only the mark that ends a turn is not text.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from .. import api
from ..engines.base import Alternative, Options, Prompt, Segment, grammars, schemas, talks, tokenizer
from ..engines.fetch import brought, named
from ..engines.own import opened
from ..engines.prompt import render, suspects
from ..errors import RequestError, UsageError
from ..generation import Generation
from ..messages import Raw, Request
from ..syntax.decode import Policy
from ..syntax.dialect import Dialect
from .logprobs import Shown
from .roster import Served
from .written import by_schema

__all__ = ["Choice", "call_id", "grammar", "media", "prepare", "unenforced"]

_MANY_TOOLS, _LONG_SCHEMAS = 50, 20_000  # tools, and characters of their schemas
_LONG_CONVERSATION = 30  # messages; templates take time that grows with their square


@dataclass(slots=True)
class Choice:
    """One of the answers that were asked for, and what it is made from; `noted`: what of the request it leaves aside."""

    index: int
    prompt: Prompt
    generation: Generation
    options: Options
    dialect: Dialect
    shown: Shown = field(default_factory=Shown)
    tokens: list[Alternative] = field(default_factory=list)
    noted: tuple[str, ...] = ()


async def media(request: Request, served: Served, hosts: Sequence[str]) -> Request:
    """The request with what its URLs name; where the model reads text only, it is refused later anyway.

    Raises:
        RequestError: something may not be fetched, or could not be.
    """
    if not talks(served.engine) or not named(request):
        return request
    return await brought(request, hosts)


async def prepare(request: Request, served: Served, policy: Policy, ids: Callable[[], str]) -> list[Choice]:
    """All choices: `n` for every prompt; `ids` makes those of calls.

    Raises:
        RequestError: the template refuses the messages, nothing fits the schema, or the engine cannot take token ids.
    """
    prompts = [await _raw(raw, served) for raw in request.prompts] or [await _rendered(request, served)]
    dialect = _plain(served.dialect) if request.prompts else served.dialect
    choices: list[Choice] = []
    for prompt in prompts:
        arguments = (request, dialect, served, prompt.text)
        long = not talks(served.engine) and _is_long(request)
        options, noted = await asyncio.to_thread(_options, *arguments) if long else _options(*arguments)
        for number in range(request.n):
            generation = _generation(dialect, request, prompt, served, policy=policy, ids=ids)
            varied = _vary(options, number)
            choices.append(Choice(len(choices), prompt, generation, varied, dialect, noted=noted))
    return choices


def _generation(dialect: Dialect, request: Request, prompt: Prompt, served: Served, **settings: Any) -> Generation:
    if talks(served.engine) and not request.prompts:
        begun = opened(dialect) if served.info.thinking and request.thinking is not False else ""
        return Generation(dialect, request, begun, repair=True, **settings)
    return Generation(dialect, request, prompt.text, served.info.specials, **settings)


async def _rendered(request: Request, served: Served) -> Prompt:
    if talks(served.engine):
        return Prompt(())  # the engine renders the conversation itself
    know = getattr(served.engine, "know", None)
    if served.info.partial and know is not None:
        await know(suspects(request))
    arguments = (request, served.info, served.dialect)
    if len(request.messages) > _LONG_CONVERSATION:
        return await asyncio.to_thread(render, *arguments)
    return render(*arguments)


async def _raw(raw: Raw, served: Served) -> Prompt:
    if raw.ids and not raw.text:
        raw.text = await tokenizer(served.engine).spell(raw.ids)
    return Prompt((Segment(raw.text, ids=raw.ids),))


def _is_long(request: Request) -> bool:
    """Whether a grammar is made, and may take so long that others would wait."""
    if not _is_constrained(request):
        return False
    schemas = (request.schema, *(tool.parameters for tool in request.tools))
    return len(request.tools) > _MANY_TOOLS or sum(len(str(schema)) for schema in schemas) > _LONG_SCHEMAS


def _is_constrained(request: Request) -> bool:
    """Whether the form of the turn is not left to the model: a call, an answer by a schema, or a tool that is strict."""
    return _is_insisted(request) or (request.choice == "auto" and any(tool.grammar for tool in request.tools))


def _is_insisted(request: Request) -> bool:
    """Whether it must have that form: what comes with a tool that is no JSON may be told and not kept."""
    if request.schema is not None or request.choice not in ("auto", "none"):
        return True
    return request.choice == "auto" and any(tool.strict for tool in request.tools)


def unenforced(request: Request, served: Served) -> tuple[str, ...]:
    """Where grammars of tools stand that this engine does not write under."""
    if request.choice == "none" or (grammars(served.engine) and not talks(served.engine)):
        return ()
    return _with_grammars(request)


def _with_grammars(request: Request) -> tuple[str, ...]:
    return tuple(tool.grammar.param for tool in request.tools if tool.grammar is not None)


@lru_cache(128)  # a dialect is compiled once, so none is made for each request
def _plain(dialect: Dialect) -> Dialect:
    """Nothing but the end of a turn means anything; the marks of the model's own dialect are text."""
    return Dialect("", ends=dialect.ends)


def _options(request: Request, dialect: Dialect, served: Served, prompt: str) -> tuple[Options, tuple[str, ...]]:
    """How to generate, with a grammar where the request leaves no choice of form; and what of it is left aside."""
    text, form, around = "", grammars(served.engine), ("", "")
    noted: tuple[str, ...] = ()
    if schemas(served.engine):
        (text, around), form = by_schema(request, dialect, prompt), "json_schema"
    elif _is_constrained(request) and form and not talks(served.engine):
        try:
            text = grammar(request, dialect, served.info.specials, prompt, form=form)
        except RequestError:  # of this dialect, or of another tool, which alone would have been left to the model
            if _is_insisted(request):
                raise
            noted = _with_grammars(request)
    return Options(request.limit, text, form or "gbnf", request.sampling, request.logprobs, served.marks, around), noted


def grammar(request: Request, dialect: Dialect, specials: Mapping[str, int], prompt: str, *, form: str = "gbnf") -> str:
    """What an answer is sampled under.

    Raises:
        RequestError: nothing fits a schema, or it is none.
    """
    param = "response_format" if request.schema is not None else "tools"
    try:
        return api.constrain(
            dialect,
            request.tools,
            request.choice,
            form=form,
            prompt=prompt or "\n",  # an empty one has no beginning to look for
            specials=specials,
            parallel=request.parallel,
            reasoning=request.thinking is not False,
            schema=request.schema,
        )
    except UsageError as error:  # a schema that nothing fits is the client's
        raise RequestError(str(error), param=param, code="invalid_schema") from error
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:  # {"maxLength": []}
        raise RequestError(f"a schema cannot be read: {error}", param=param, code="invalid_schema") from error


def _vary(options: Options, number: int) -> Options:
    """The same seed would make every choice the same."""
    seed = options.sampling.get("seed")
    if number == 0 or not isinstance(seed, int):
        return options
    return replace(options, sampling={**options.sampling, "seed": seed + number})


def call_id() -> str:
    """A fresh id for a call."""
    return "call_" + secrets.token_hex(12)
