"""The configuration file: every setting of the server, the upstreams it stands in front of, and further names of models.

A file is YAML (so JSON too).  In its texts `${NAME}` is the environment variable of that name, `${NAME:-default}` one
that may be missing.  What is wrong is told with its line, and what to do about it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ..engines.talk import Manners
from ..engines.upstream import Settings
from ..errors import UsageError
from .lines import Lines, Step, parse, steps

__all__ = ["File", "Upstream", "read"]

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_AT = re.compile(r" - at `(\$[^`]*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`")
_MISSING = re.compile(r"Object missing required field `(.*?)`")
_VALUE = re.compile(r"Invalid enum value (.*)")
_WORDS = {"`str`": "a text", "`int`": "a whole number", "`float`": "a number", "`bool`": "true or false"}
_SHAPES = {"`array`": "a list", "`object`": "a group of `name: value` lines", "`null`": "nothing"}

Way = Literal["auto", "llamacpp", "completions", "generate", "chat", "responses", "messages", "ollama"]


class Upstream(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An upstream, as the file has it.  The comment of each field is its help text."""

    url: str
    way: Way = "auto"
    key: str = ""
    models: list[str] = []
    prefix: str = ""
    dialect: str = ""
    thinking: bool = False
    vision: bool = False
    template: str = ""
    tokenizer: str = ""
    limit: Annotated[int, msgspec.Meta(ge=0)] = 0
    connect: Annotated[float, msgspec.Meta(gt=0)] = 10.0
    health: Annotated[float, msgspec.Meta(gt=0)] = 15.0
    headers: dict[str, str] = {}
    drop: list[str] = []
    extra: dict[str, Any] = {}


HELP: Mapping[str, str] = {
    "url": "Address, such as http://localhost:8080.",
    "way": "How to speak with it; auto finds out.",
    "key": "Key that it wants; write `${NAME}` and keep it in the environment.",
    "models": "Names of its models to use, or patterns such as `qwen*`; all it lists by default.",
    "prefix": "What stands before the names of its models here.",
    "dialect": "Dialect that its models write, if it should not be detected.",
    "thinking": "Its answers begin inside the model's reasoning, which it leaves in the text (its template opens it).",
    "vision": "Its models are shown images, where it does not say so itself.",
    "template": "File with a chat template (Jinja) to use instead of the model's own.",
    "tokenizer": "GGUF file or folder of its model, where it does not tell its template itself.",
    "limit": "Requests that it gets at once; 0 is as many as it says, or no limit.",
    "connect": "Seconds for a connection.",
    "health": "Seconds between two looks whether it is there.",
    "headers": "Further headers of every request.",
    "drop": "Fields of a request's body that it does not take.",
    "extra": "Fields that every request's body gets.",
}


@dataclass(frozen=True, slots=True)
class File:
    """What a file says: settings by name, upstreams in order, and further names of models."""

    settings: Mapping[str, Any]
    upstreams: Sequence[Settings]
    aliases: Mapping[str, str]


def read(path: str, fields: Sequence[Field[Any]], hints: Mapping[str, Any]) -> File:
    """Read a file.

    Args:
        path: where it is.
        fields: the server's settings.
        hints: their types.

    Raises:
        UsageError: it cannot be read, or something in it is not understood.
    """
    try:
        text = Path(path).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(
            f"the configuration {path!r} cannot be read: {getattr(problem, 'strerror', problem)}"
        ) from None
    value, lines = parse(text, path)
    shape = _shape(fields, hints)
    given = _converted({} if value is None else _filled(value, lines), shape, lines)
    settings = {name: found for name in hints if (found := getattr(given, name, msgspec.UNSET)) is not msgspec.UNSET}
    ups = [_settings(entry, lines, number) for number, entry in enumerate(given.upstreams)]
    return File(settings, ups, given.aliases)


def _shape(fields: Sequence[Field[Any]], hints: Mapping[str, Any]) -> Any:
    """The type of a file: the settings, the upstreams, the aliases."""
    settings = [(field.name, _typed(field, hints[field.name]) | msgspec.UnsetType, msgspec.UNSET) for field in fields]
    more: list[Any] = [("upstreams", list[Upstream], []), ("aliases", dict[str, str], {})]
    return msgspec.defstruct("File", [*settings, *more], kw_only=True, forbid_unknown_fields=True)


def _typed(field: Field[Any], hint: Any) -> Any:
    least, most = field.metadata.get("least"), field.metadata.get("most")
    limits = {name: limit for name, limit in (("ge", least), ("le", most)) if limit is not None}
    return Annotated[hint, msgspec.Meta(**limits)] if limits else hint


def _converted(value: Any, shape: Any, lines: Lines) -> Any:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as problem:
        text = str(problem)
        at = _AT.search(text)
        path = steps(at[1]) if at else []
        raise _told(text.removesuffix(at[0]) if at else text, path, shape, lines) from None


def _told(text: str, path: Sequence[Step], shape: Any, lines: Lines) -> UsageError:
    """What is wrong, in words, and what to do."""
    kind = Upstream if path[:1] == ["upstreams"] and len(path) > 1 else shape
    where = ".".join(str(step) for step in path)
    if unknown := _UNKNOWN.match(text):
        near = get_close_matches(unknown[1], kind.__struct_fields__, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(kind.__struct_fields__)}"
        return lines.error(f"there is no setting {unknown[1]!r}; {hint}", path, unknown[1])
    if missing := _MISSING.match(text):
        return lines.error(f"{where or 'the file'} needs {missing[1]!r}", path)
    if wrong := _VALUE.match(text):
        allowed = ", ".join(_allowed(kind, str(path[-1])))
        return lines.error(f"{where}: {wrong[1]} is none of {allowed}", path)
    for code, words in (_WORDS | _SHAPES).items():
        text = text.replace(code, words)
    return lines.error(f"{where or 'the file'}: {text[:1].lower()}{text[1:]}", path)


def _allowed(kind: Any, name: str) -> Iterator[str]:
    hint = next((field.type for field in msgspec.structs.fields(kind) if field.name == name), None)
    for part in getattr(hint, "__args__", ()):
        yield from (part,) if isinstance(part, str) else getattr(part, "__args__", ())


def _filled(value: Any, lines: Lines, path: tuple[Step, ...] = ()) -> Any:
    """The value with the variables of the environment in its texts."""
    if isinstance(value, str):
        return _VARIABLE.sub(_variable(lines, path), value)
    if isinstance(value, dict):
        return {str(key): _filled(inner, lines, (*path, str(key))) for key, inner in value.items()}
    return (
        [_filled(inner, lines, (*path, place)) for place, inner in enumerate(value)]
        if isinstance(value, list)
        else value
    )


def _variable(lines: Lines, path: tuple[Step, ...]) -> Callable[[re.Match[str]], str]:
    def fill(found: re.Match[str]) -> str:
        given = os.environ.get(found[1], found[2])
        if given is None:
            hint = f"set it, or write ${{{found[1]}:-}} if it may be missing"
            raise lines.error(f"the environment variable {found[1]} is not set; {hint}", path)
        return given

    return fill


def _settings(entry: Upstream, lines: Lines, number: int) -> Settings:
    try:
        template = Path(entry.template).expanduser().read_text("utf-8") if entry.template else None
    except OSError as problem:
        text = f"the template {entry.template!r} cannot be read: {problem.strerror}"
        raise lines.error(text, ("upstreams", number, "template")) from None
    same = {name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("template", "drop", "extra")}
    return Settings(**same, template=template, manners=Manners(entry.drop, entry.extra))
