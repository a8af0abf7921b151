"""What a tool's JSON Schema allows at a place, and text typed by it.

`kinds` are the JSON types that a schema allows: object, array, string, integer, number, boolean, null; None where it
does not say.  Names that are not JSON Schema but common in the wild (`str`, `int32`, `list[str]`) are understood.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

__all__ = ["ANY", "NUMBER", "Schema", "quote", "strict_json", "typed"]

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)

_LONGEST_INTEGER = 4000

_ALIASES = (
    (re.compile(r"str|text|varchar|char|enum|date|uuid"), "string"),
    (re.compile(r"u?int|long|short"), "integer"),
    (re.compile(r"float|double|num|decimal"), "number"),
    (re.compile(r"bool"), "boolean"),
    (re.compile(r"list|arr|tuple|set"), "array"),
    (re.compile(r"dict|map|obj"), "object"),
    (re.compile(r"null|none"), "null"),
)


def _kind(name: Any) -> str | None:
    lower = str(name).lower()
    return next((kind for pattern, kind in _ALIASES if pattern.match(lower)), None)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    for types, kind in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, types):
            return kind
    return "object"


class Schema:
    """A place in a schema; `root` is where `$ref` is looked up."""

    __slots__ = ("_kinds", "_known", "_nodes", "node", "root")

    def __init__(self, node: Any, root: Any = None) -> None:
        self.node = node
        self.root = node if root is None else root
        self._known = False
        self._kinds: frozenset[str] | None = None
        self._nodes: list[Mapping[str, Any]] | None = None

    def nodes(self) -> list[Mapping[str, Any]]:
        """This schema and all its alternatives, references followed."""
        if self._nodes is None:
            self._nodes = list(self._walk(self.node, 0))
        return self._nodes

    def _walk(self, node: Any, depth: int) -> Iterator[Mapping[str, Any]]:
        if not isinstance(node, Mapping) or depth > 8:
            return
        if isinstance(ref := node.get("$ref"), str):
            yield from self._walk(self._find(ref), depth + 1)
        yield node
        for word in ("anyOf", "oneOf", "allOf"):
            branches = node.get(word)
            for branch in branches if isinstance(branches, list) else ():
                yield from self._walk(branch, depth + 1)

    def _find(self, ref: str) -> Any:
        node = self.root
        for step in ref.removeprefix("#").strip("/").split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            node = node.get(step) if isinstance(node, Mapping) else None
        return node

    @property
    def kinds(self) -> frozenset[str] | None:
        """The JSON types allowed here, None if anything is."""
        if not self._known:
            self._known = True
            found = {kind for node in self.nodes() for kind in _kinds(node)}
            self._kinds = None if self._open() else frozenset(found) or None
        return self._kinds

    @property
    def text_only(self) -> bool:
        """Whether nothing but a string may stand here."""
        return self.kinds == frozenset(("string",))

    def _open(self) -> bool:
        """Whether an alternative allows anything."""
        return any(Schema(branch, self.root).kinds is None for node in self.nodes() for branch in _branches(node))

    def allows(self, kind: str) -> bool:
        """Whether a value of this kind may stand here."""
        return self.kinds is None or kind in self.kinds

    def lists(self, text: str) -> bool:
        """Whether this text is one of the values that may stand here."""
        return any(text in _values(node) for node in self.nodes())

    def properties(self) -> frozenset[str]:
        """The declared keys."""
        return frozenset(key for node in self.nodes() for key in _mapping(node.get("properties")))

    def properties_in_order(self) -> list[str]:
        """The declared keys, each once, as they are declared."""
        return list(dict.fromkeys(key for node in self.nodes() for key in _mapping(node.get("properties"))))

    def property(self, key: str) -> Schema:
        """The schema of a key's value."""
        for node in self.nodes():
            properties = _mapping(node.get("properties"))
            if key in properties:
                return Schema(properties[key], self.root)
        for node in self.nodes():
            if isinstance(more := node.get("additionalProperties"), Mapping):
                return Schema(more, self.root)
        return ANY

    def item(self) -> Schema:
        """The schema of an item."""
        for node in self.nodes():
            if isinstance(items := node.get("items"), Mapping):
                return Schema(items, self.root)
        return ANY


ANY = Schema({})


def _branches(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The alternatives of a schema that are written in place."""
    for word in ("anyOf", "oneOf"):
        found = node.get(word)
        for branch in found if isinstance(found, list) else ():
            if isinstance(branch, Mapping) and "$ref" not in branch:
                yield branch


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _values(node: Mapping[str, Any]) -> list[Any]:
    """The values that a schema lists, if it does."""
    values = node.get("enum")
    return values if isinstance(values, list) else [node["const"]] if "const" in node else []


def _kinds(node: Mapping[str, Any]) -> Iterator[str]:
    names = node.get("type")
    if names is not None:
        yield from filter(None, map(_kind, names if isinstance(names, list) else [names]))
        if node.get("nullable") is True:
            yield "null"
    elif isinstance(values := node.get("enum"), list):
        yield from map(_kind_of, values)
    elif "const" in node:
        yield _kind_of(node["const"])
    elif "properties" in node:
        yield "object"
    elif "items" in node:
        yield "array"


def quote(text: str) -> str:
    """Text as the inside of a JSON string."""
    return encode_basestring(text)[1:-1]


def strict_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(word: str) -> Any:
    raise ValueError(word)


def typed(text: str, schema: Schema) -> tuple[str, bool]:
    """Text as JSON by the schema, and whether it is what the schema asks for.

    Null, boolean, integer, number, then object and array (JSON, then Python), then string; where the schema does not
    say, JSON if the entire text is JSON, else a string.  Where a string may stand too, it stays one if it is among the
    values that the schema lists, or a number as JSON writes none (`007`, `+47`).
    """
    kinds, word = schema.kinds, text.strip()
    if kinds is None:
        return (word, True) if _is_json(word) else (json.dumps(text, ensure_ascii=False), True)
    free = "string" in kinds
    if free and schema.lists(text):
        return json.dumps(text, ensure_ascii=False), True
    for kind, read in _READERS:
        if free and kind in ("integer", "number") and not NUMBER.fullmatch(word):
            continue
        if kind in kinds and (made := read(word)) is not None:
            return made, True
    for kind in ("object", "array"):
        if kind in kinds and (made := _container(kind, word, schema)) is not None:
            return made, True
    if word in ("0", "1") and "boolean" in kinds and not free:
        return ("false", "true")[int(word)], True
    inside = None if free else _unquoted(word)
    if inside is not None:
        return typed(inside, schema)
    return json.dumps(text, ensure_ascii=False), free


def _unquoted(word: str) -> str | None:
    """The inside of a text that is one JSON string."""
    try:
        value = strict_json(word) if word[:1] == '"' else None
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _is_json(text: str) -> bool:
    try:
        strict_json(text)
    except ValueError:
        return False
    return True


def _null(word: str) -> str | None:
    return "null" if word in ("null", "None") else None


def _boolean(word: str) -> str | None:
    return word.lower() if word.lower() in ("true", "false") else None


def _integer(word: str) -> str | None:
    if len(word) > _LONGEST_INTEGER:
        return None
    if _INTEGER.fullmatch(word):
        return str(int(word))
    head, dot, zeros = word.partition(".")
    return str(int(head)) if dot and zeros and not zeros.strip("0") and _INTEGER.fullmatch(head) else None


def _number(word: str) -> str | None:
    if NUMBER.fullmatch(word) and "e" not in word.lower():
        return word
    try:
        value = float(word)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return word if NUMBER.fullmatch(word) else json.dumps(value)


def _container(kind: str, word: str, schema: Schema) -> str | None:
    for read in (strict_json, _python):
        try:
            value = read(word)
            if isinstance(value, tuple | set):
                value = list(value)
            if _kind_of(value) == kind:
                better = _conform(value, schema)
                same = read is strict_json and better == value
                return word if same else json.dumps(better, ensure_ascii=False, allow_nan=False)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _conform(value: Any, schema: Schema) -> Any:
    """A value whose strings are typed where the schema allows no string."""
    if isinstance(value, dict):
        return {key: _conform(item, schema.property(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_conform(item, schema.item()) for item in value]
    if isinstance(value, str) and not schema.allows("string"):
        return json.loads(typed(value, schema)[0])
    return value


class _Words(ast.NodeTransformer):
    """JSON's words among Python's literals."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        words = {"true": True, "false": False, "null": None}
        return ast.Constant(words[node.id]) if node.id in words else node


def _python(word: str) -> Any:
    return ast.literal_eval(_Words().visit(ast.parse(word, mode="eval")))


_READERS = (
    ("null", _null),
    ("boolean", _boolean),
    ("integer", _integer),
    ("number", _number),
)
