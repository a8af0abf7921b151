"""A dialect as a file: TOML that a person can read and change, exact to the last newline.

    name = "robin-json"
    call = "<call>{call}</call>"
    args = {codec = "json-call", listed = true}
    reasoning = "<thought>{text}</thought>"
    ends = ["<|end|>"]

The keys are the fields of `Dialect`; what a dialect does not say is left out.  A codec is a table: its kind and those
of its arguments that differ from what it takes by itself.  Every codec keeps its arguments under their own names, so
nothing here knows one of them.  A pattern is `{regex = ".."}`; another form of a call is its template or
`{template = "..", codec = {..}}`.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from types import UnionType
from typing import Any

from ..errors import DialectError, UsageError
from . import codecs
from .dialect import Dialect, Form

__all__ = ["dump", "load"]

_WIDTH = 118
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r" ?\(at line \d+, column \d+\)")


def dump(dialect: Dialect) -> str:
    """The dialect as a file; what would be a long line of many keys comes last, as a section."""
    lines, sections = [], []
    for field in fields(Dialect):
        value = getattr(dialect, field.name)
        if field.default is MISSING or value != field.default:
            plain = _plain(value)
            line = f"{field.name} = {_written(plain)}"
            if isinstance(plain, dict) and len(line) > _WIDTH:
                sections += ["", f"[{field.name}]", *(f"{_key(key)} = {_written(item)}" for key, item in plain.items())]
            else:
                lines.append(line)
    return "\n".join(lines + sections) + "\n"


def load(text: str, source: str = "the definition") -> Dialect:
    """The dialect of such a file; `source` names it in messages.

    Raises:
        DialectError: it cannot work; the message names the line.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        where = re.search(r"line (\d+)", str(problem))
        raise DialectError(source, f"line {where[1] if where else '?'}: {_LINE.sub('', str(problem))}") from None
    return _Reading(text, source).dialect(given)


# --- writing


def _plain(value: Any) -> Any:
    """A field's value as TOML has it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, re.Pattern):
        return {"regex": value.pattern}
    if isinstance(value, Form):
        return {"template": value.template, "codec": _plain(value.codec)}
    return {"codec": _kind(type(value)), **dict(_arguments(value))}


def _arguments(codec: Any) -> Iterator[tuple[str, Any]]:
    """What a codec was made with, as far as it differs from what it takes by itself."""
    for name, parameter in inspect.signature(type(codec)).parameters.items():
        value = getattr(codec, name)
        if parameter.default is parameter.empty or value != parameter.default:
            yield name, _plain(value)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        items = [_written(item) for item in value]
        short = f"[{', '.join(items)}]"
        return short if len(short) < _WIDTH else "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_written(item)}' for key, item in value.items())}}}"
    return str(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _written(key)


def _kind(codec: type) -> str:
    """`JsonCall` as `json-call`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", codec.__name__).lower()


@lru_cache(1)
def _codecs() -> dict[str, type]:
    """The codecs by their kinds, found by listing their folder."""
    found = {}
    for module in pkgutil.iter_modules(codecs.__path__):
        name = f"{codecs.__name__}.{module.name}"
        for value in vars(importlib.import_module(name)).values():
            if inspect.isclass(value) and value.__module__ == name and (_is_codec(value) or hasattr(value, "route")):
                found[_kind(value)] = value
    return found


def _is_codec(value: type) -> bool:
    return all(hasattr(value, method) for method in ("opening", "decode", "encode", "grammar"))


# --- reading


class _Reading:
    """One file being read; what is wrong with it is said with its line."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source

    def dialect(self, given: Mapping[str, Any]) -> Dialect:
        known = {field.name: field for field in fields(Dialect)}
        for key in given:
            if key not in known:
                raise self.error(key, f"a dialect has no {key!r}; it has {', '.join(known)}")
        if "name" not in given:
            raise DialectError(self.source, "line 1: a dialect needs a name")
        values = {key: self.checked(key, value, known[key].default) for key, value in given.items()}
        try:
            return Dialect(**values)
        except DialectError as problem:
            raise self.error(self.guilty(problem.problem, values), problem.problem) from None

    def checked(self, key: str, value: Any, default: Any) -> Any:
        """The value of a field, made what `Dialect` wants there."""
        if key in ("args", "frame"):
            return self.codec(key, value)
        if isinstance(default, tuple):
            if not isinstance(value, list):
                raise self.error(key, f"{key} must be a list of texts")
            return tuple(self.form(key, item) for item in value)
        return self.of(key, value, bool if isinstance(default, bool) else str)

    def form(self, key: str, item: Any) -> str | Form:
        if key != "also" or not isinstance(item, dict):
            return str(self.of(key, item, str))
        if set(item) != {"template", "codec"}:
            raise self.error(key, "another form of a call is a text, or a table with template and codec")
        return Form(self.of(key, item["template"], str), self.codec(key, item["codec"]))

    def of(self, key: str, value: Any, kind: type | UnionType) -> Any:
        if not isinstance(value, kind):
            raise self.error(key, f"{key}: {'true or false' if kind is bool else 'a text'} is expected, not {value!r}")
        return value

    def codec(self, key: str, table: Any) -> Any:
        """A codec from its table."""
        kind = table.get("codec") if isinstance(table, dict) else None
        if kind not in _codecs():
            raise self.error(key, f"{key} must be a table with codec, one of {', '.join(sorted(_codecs()))}")
        made = _codecs()[kind]
        given = {name: self.argument(key, value) for name, value in table.items() if name != "codec"}
        known = inspect.signature(made).parameters
        for name in given:
            if name not in known:
                raise self.error(key, f"the codec {kind} has no {name!r}; it has {', '.join(known) or 'none'}")
        try:
            return made(**given)
        except (TypeError, ValueError, LookupError, AttributeError) as problem:
            raise self.error(key, f"the codec {kind} cannot be made: {problem}") from None

    def argument(self, key: str, value: Any) -> Any:
        """A list as a tuple, `{regex = ..}` as a pattern, a table with a codec as that."""
        if isinstance(value, list):
            return tuple(self.argument(key, item) for item in value)
        if not isinstance(value, dict):
            return value
        if "codec" in value:
            return self.codec(key, value)
        if set(value) == {"regex"}:
            return self.pattern(key, value["regex"])
        return {name: self.argument(key, item) for name, item in value.items()}

    def pattern(self, key: str, regex: Any) -> re.Pattern[str]:
        try:
            return re.compile(self.of(key, regex, str))
        except re.error as problem:
            raise self.error(key, f"{regex!r} is no pattern: {problem}") from None

    def guilty(self, problem: str, values: Mapping[str, Any]) -> str:
        """The field that a problem quotes."""
        for key, value in values.items():
            texts = value if isinstance(value, tuple) else (value,)
            if any(repr(getattr(text, "template", text)) in problem for text in texts if text):
                return key
        return "call" if "call" in values else "name"

    def error(self, key: str, problem: str) -> UsageError:
        found = re.search(rf"(?m)^[ \t]*\[*[ \t]*[\"']?{re.escape(key)}\b", self.text)
        line = self.text.count("\n", 0, found.start()) + 1 if found else 1
        return DialectError(self.source, f"line {line}: {problem}")
