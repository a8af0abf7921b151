"""The library's front: names to dialects, and the three verbs that take either."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from . import dialects
from .dialects.detect import detections as _detections
from .errors import UnknownDialect, UsageError
from .messages import Tool, Turn
from .syntax.calls import tool_of
from .syntax.constrain import constrain as _constrain
from .syntax.decode import Policy, Trace
from .syntax.decode import decode as _decode
from .syntax.definition import load
from .syntax.dialect import Dialect
from .syntax.encode import encode as _encode
from .syntax.learn import learn

__all__ = ["constrain", "decode", "decode_many", "detect", "detections", "encode", "get", "learn", "names", "spans"]

Tools = Iterable[Tool | Mapping[str, Any]]


@lru_cache(1)
def _table() -> dict[str, Dialect]:
    """All dialects by their names, found by listing the folder."""
    found = {}
    for module in pkgutil.iter_modules(dialects.__path__):
        for value in vars(importlib.import_module(f"{dialects.__name__}.{module.name}")).values():
            if isinstance(value, Dialect):
                found[value.name] = value
    return found


@lru_cache(1)
def _aliases() -> dict[str, Dialect]:
    table = _table()
    return {alias: dialect for dialect in table.values() for alias in dialect.aliases} | table


def names() -> list[str]:
    """The names of all dialects, without their aliases."""
    return sorted(_table())


def get(dialect: str | Dialect) -> Dialect:
    """The dialect of a name or an alias, or of a file (`path/to/mine.toml`).

    Raises:
        UnknownDialect: there is none; `.near` holds names that look alike.
        DialectError: the file's dialect cannot work; the message names the line.
    """
    if isinstance(dialect, Dialect):
        return dialect
    if dialect.endswith(".toml"):
        return _from_file(dialect)
    found = _aliases().get(dialect)
    if found is None:
        raise UnknownDialect(dialect, difflib.get_close_matches(dialect, _aliases(), 3))
    return found


def _from_file(path: str) -> Dialect:
    try:
        text = Path(path).expanduser().read_text("utf-8")
    except (OSError, ValueError) as problem:
        raise UsageError(f"the dialect file {path!r} cannot be read: {problem}") from None
    return load(text, path)


def decode(
    dialect: str | Dialect,
    text: str,
    tools: Tools | None = None,
    *,
    prompt: str = "",
    specials: Mapping[str, int] | None = None,
    finish: str = "stop",
    policy: Policy = Policy(),
    trace: Trace | None = None,
) -> Turn:
    """A whole turn at once.

    Args:
        dialect: a name or a `Dialect`.
        text: what the model wrote, special tokens visible.
        tools: the tools on offer; None if unknown, empty for no calls at all.
        prompt: the rendered prompt, or its end.
        specials: mark -> token id; without it text decides.
        finish: why the engine ended: stop, length, filter, cancelled or error.
        policy: how lenient to be.
        trace: called with (start, end, role) for every stretch of the text.

    Raises:
        UsageError: an argument is wrong.  Nothing that a model wrote raises.
    """
    return _decode(
        get(dialect), text, tools, prompt=prompt, specials=specials, finish=finish, policy=policy, trace=trace
    )


def decode_many(
    dialect: str | Dialect,
    texts: Iterable[str],
    tools: Tools | None = None,
    *,
    prompt: str = "",
    finish: str = "stop",
    policy: Policy = Policy(),
    each: Callable[..., Iterable[Turn]] = map,
) -> list[Turn]:
    """Many turns at once, in order (arguments as for `decode`).

    `each`: how to do the same for many; `multiprocessing.Pool().map` does it on all cores.
    """
    offered = None if tools is None else [tool_of(tool) for tool in tools]
    one = partial(_decode, get(dialect), tools=offered, prompt=prompt, finish=finish, policy=policy)
    return list(each(one, texts))


def spans(
    dialect: str | Dialect,
    text: str,
    tools: Tools | None = None,
    *,
    prompt: str = "",
    finish: str = "stop",
    policy: Policy = Policy(),
) -> list[tuple[int, int, str]]:
    """What became of each stretch of a text, as (start, end, role), in order and without gaps.

    The roles are content, reasoning, arguments and markup; a trainer masks by them.  Arguments as for `decode`.
    """
    found: list[tuple[int, int, str]] = []

    def trace(start: int, end: int, role: str) -> None:
        if found and found[-1][1:] == (start, role):
            start = found.pop()[0]
        found.append((start, end, role))

    _decode(get(dialect), text, tools, prompt=prompt, finish=finish, policy=policy, trace=trace)
    return found


def encode(dialect: str | Dialect, turn: Turn, *, prompt: str = "") -> str:
    """What follows `prompt` when the model writes this turn, without the mark that ends it.

    Raises:
        UsageError: the text would not read back as this turn.
    """
    return _encode(get(dialect), turn, prompt=prompt)


def constrain(
    dialect: str | Dialect,
    tools: Tools,
    choice: str = "auto",
    *,
    form: str = "gbnf",
    prompt: str = "",
    specials: Mapping[str, int] | None = None,
    parallel: bool = True,
    reasoning: bool = True,
    schema: Mapping[str, Any] | None = None,
) -> str:
    """A grammar under which a model can only write valid calls of these tools.

    Args:
        dialect: a name or a `Dialect`.
        tools: the tools on offer.
        choice: auto, required, none, or `name:NAME` for one tool.
        form: gbnf (llama.cpp), lark (llguidance), structural_tag (xgrammar: vLLM, SGLang), or json_schema, for calls and
            answers that are one JSON document.
        prompt: the rendered prompt; it may have opened or closed the reasoning.
        specials: mark -> token id; such marks are printed as tokens.
        parallel: whether there may be more than one call.
        reasoning: whether reasoning may come first.
        schema: a JSON Schema for an answer that is no call ({} for any object).

    Raises:
        UsageError: an argument is wrong, a tool's schema admits no arguments or is too large, or the turn has no such form.
    """
    return _constrain(
        get(dialect), [tool_of(tool) for tool in tools], choice, form=form, prompt=prompt, specials=specials,
        parallel=parallel, reasoning=reasoning, schema=schema,
    )  # fmt: skip


def detections(
    chat_template: str | None = None, vocab: Iterable[str] | None = None, text: str | None = None, *, model: str = ""
) -> list[tuple[str, str]]:
    """The dialects that a chat template, a vocabulary or a sample of output speaks, as (name, reason), best first.

    `model`: the model's name; it counts last, between those that nothing else tells apart.
    """
    known = None if vocab is None else frozenset(vocab)
    return _detections(_table().values(), chat_template or "", known, text or "", model)


def detect(
    chat_template: str | None = None, vocab: Iterable[str] | None = None, text: str | None = None, *, model: str = ""
) -> str | None:
    """The best of `detections`, or None."""
    return next((name for name, _ in detections(chat_template, vocab, text, model=model)), None)
