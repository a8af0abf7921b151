"""Strategies for what a model may write: turns, and every kind of nonsense made of a dialect's own marks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import corpus
from hypothesis import strategies as st
from streams import Piece, joined, singly

from dragoman import api
from dragoman.cases.signatures import signatures
from dragoman.messages import Call, Reasoning, Text, Tool, Turn
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.template import holes, marks, parse

TOOLS: tuple[Tool, ...] = tuple(
    signatures(
        "ping(), put(path: string, n?: integer, ok?: boolean, x?: number, list?: array, obj?: object), "
        'get-it.now(a: string|null, b?: any, c?: {"type": "array", "items": {"type": "integer"}})'
    ).values()
)

NAMES = ("ping", "put", "get-it.now", "nope", "functions.ping", "pin", "a" * 300)
KEYS = ("path", "n", "ok", "x", "list", "obj", "a", "b", "k y", "")

JSON = (
    '{"name": "put", "arguments": {', '{"name": "ping"}', '"arguments": ', '"path": "', '"', "'", "\\", '\\"', "\\u00", "\\ud83d",
    "\\ude00", "{", "}", "[", "]", "(", ")", ",", ":", "=", "1", "-", "0.", "12e", "true", "tru", "null", "None", "True",
    '{"a": {"b": [', '"}}', "}}", '[{"name": "ping", "arguments": {}}]', "```json\n", "```", "`",
)  # fmt: skip

ODD = (
    "\ud800", "\udfff", "\ue000", "\uf8ff", "\r", "\r\n", "\0", "\x1b[0m", "\u2028", "\ufeff", "😀", "e\u0301", "｜", "‖", "<｜",
    "｜>", "\t", "   ", "\n", "\n\n", " ", "é", "中", "<", ">", "</", "<|", "|>", "< ", "&lt;",
)  # fmt: skip

PROSE = (
    "Hello",
    "the tag ",
    "I call ",
    "\nThen ",
    ". ",
    "thought\n",
    "analysis",
    "assistantfinal",
    "final",
    "json",
    " to=",
)


@cache
def marks_of(dialect: Dialect) -> tuple[str, ...]:
    """All marks and labels of a dialect, also those that its codecs keep in their fields."""
    templates = [form.template for form in dialect.forms] + [dialect.reasoning, *dialect.content, dialect.begins]
    templates += [text for form in dialect.forms for text in _texts(form.codec)] + list(_texts(dialect.frame))
    literals = [piece for template in templates for piece in parse(template) if isinstance(piece, str)]
    found = [mark for literal in literals for mark in marks(literal)]
    found += [*literals, *dialect.ends, *dialect.special, dialect.label]
    return tuple(dict.fromkeys(mark for mark in found if mark))


def _texts(codec: object) -> Iterator[str]:
    """The strings that a codec was made with."""
    names = [*getattr(codec, "__dict__", ()), *getattr(codec, "__slots__", ())]
    for name in (name for name in names if name not in ("several", "lines")):  # brackets and commas are no marks
        value = getattr(codec, name, None)
        for text in value if isinstance(value, tuple | list) else (value,):
            if isinstance(text, str):
                yield text


def openers(dialect: Dialect) -> tuple[str, ...]:
    """How a call to a declared tool may begin."""
    made = []
    for form in dialect.forms:
        before = form.template.split("{", 1)[0]
        if "name" in holes(form.template):
            made.append(before + form.template[len(before) :].split("{args}")[0].replace("{name}", "put"))
        made.append(before)
    return tuple(made)


def kinds(names: Iterable[str]) -> list[str]:
    """One dialect of each make (frame, codecs, whether its calls begin with a mark), and those most people run."""
    makes: dict[object, str] = {}
    for name in names:
        dialect = api.get(name)
        codecs = frozenset(type(form.codec) for form in dialect.forms)
        makes.setdefault((dialect.frame is None, codecs, dialect.call[:1].isalnum()), name)
    return sorted(
        {*makes.values(), *(name for name in names if name in ("hermes-json", "qwen35-xml", "gemma4", "harmony"))}
    )


# --- nonsense


@cache
def atoms(dialect: Dialect) -> tuple[str, ...]:
    """What nonsense is made of, the dialect's own marks most often.  One flat table: drawing from it is cheap."""
    own = marks_of(dialect)
    begun = tuple(mark[:size] for mark in own for size in (1, len(mark) // 2, len(mark) - 1) if size)
    return (*own * 6, *openers(dialect) * 6, *begun, *JSON * 2, *NAMES, *KEYS, *ODD, *PROSE * 2)


@cache
def soup(dialect: Dialect, most: int = 14) -> st.SearchStrategy[str]:
    """Marks, fragments and odd characters in any order."""
    return st.lists(st.sampled_from(atoms(dialect)), max_size=most).map("".join)


@cache
def seeds(name: str) -> tuple[str, ...]:
    """The texts of a dialect's corpus."""
    path = corpus.FOLDER / f"{name}.txt"
    return tuple(case.raw for case in corpus.load(path)) if path.exists() else ("",)


@cache
def mutants(dialect: Dialect) -> st.SearchStrategy[str]:
    """Texts of the corpus with a few slips."""
    slip = st.tuples(st.integers(0, 3), st.integers(0, 999), st.integers(0, 30), st.sampled_from(atoms(dialect)))
    return st.builds(_slipped, st.sampled_from(seeds(dialect.name)), st.lists(slip, max_size=3))


def _slipped(text: str, slips: list[tuple[int, int, int, str]]) -> str:
    for kind, place, size, extra in slips:
        start = place * len(text) // 999
        end = start + size
        middle = ("", extra, text[start:end] * 2, text[start:end] + extra)[kind]
        text = text[:start] + middle + text[end:]
    return text


@cache
def texts(dialect: Dialect) -> st.SearchStrategy[str]:
    """What a model may write, and what no model would."""
    return st.one_of(soup(dialect), mutants(dialect), soup(dialect, 30))


@cache
def prompts(dialect: Dialect) -> st.SearchStrategy[str]:
    """Ends of prompts: none, the beginning of a turn, and one that is already under way."""
    opening = dialect.reasoning.split("{text}")[0]
    return st.sampled_from(("", dialect.begins, dialect.begins + opening, dialect.begins + "Well"))


OFFERS: dict[str, tuple[Tool, ...] | None] = {"some": TOOLS, "unknown": None, "none": ()}


# --- pieces

PLACES = st.lists(st.integers(0, 999), max_size=8)
"""Where to cut, in thousandths of the text: what `cut_up` takes."""


def cut_up(pieces: list[Piece], places: list[int]) -> list[Piece]:
    """The same text in other pieces; special tokens stay whole."""
    units = singly(pieces)
    bounds = [0, *sorted(place * len(units) // 999 for place in places), len(units)]
    return [piece for start, end in pairwise(bounds) for piece in joined(units[start:end]) or [("", False)]]


# --- turns


STRANGE = ("<", "{", "`", "</x>", "[1]", "|", '{"a": 1}', "```", "\n- ", "<b>", "{{", "[TOOL", "&lt;")


@cache
def words(dialect: Dialect | None) -> st.SearchStrategy[str]:
    """Text of an answer or a thought: prose with odd fragments, and marks if a dialect is given."""
    prose = st.text(st.sampled_from("abcdefghij  \n.,:;!?'\"()é中😀*-_#1234567890"), max_size=30)
    odd = st.sampled_from((*marks_of(dialect), *STRANGE) if dialect else STRANGE)
    pieces = st.lists(st.one_of(*[prose] * 5, odd), min_size=1, max_size=4)
    return pieces.map("".join).map(str.strip).map(lambda text: text or "Yes")


@cache
def strings(dialect: Dialect) -> st.SearchStrategy[str]:
    """A string argument: anything, full of marks."""
    quotes = {getattr(form.codec, "mark", "") for form in dialect.forms}  # around strings without escapes
    atom = st.one_of(
        st.text(max_size=6),
        st.sampled_from([mark for mark in marks_of(dialect) if mark not in quotes]),
        st.sampled_from(JSON),
        st.sampled_from(("\n", "\n\n", " ", "\\n")),
    )
    return st.lists(atom, max_size=5).map("".join).filter(encodable)


def encodable(text: str) -> bool:
    """Whether a text has no lone surrogate."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


@cache
def values(dialect: Dialect) -> st.SearchStrategy[Any]:
    """Any JSON value, three levels deep."""
    leaf = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**12), 10**12),
        st.floats(allow_nan=False, allow_infinity=False),
        strings(dialect),
    )
    key = st.sampled_from(("a", "b-c", "d.e", "f g", "é", "0"))
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=3), max_leaves=6
    )


def arguments(dialect: Dialect, tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a tool, by its schema."""
    properties: dict[str, Any] = dict(tool.parameters["properties"])
    chosen = {key: by_schema(dialect, schema) for key, schema in properties.items()}
    return st.lists(st.sampled_from(sorted(chosen) or ["-"]), unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: chosen[key] for key in keys if key in chosen})
    )


def by_schema(dialect: Dialect, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A value for a parameter."""
    kinds = {
        "string": strings(dialect),
        "integer": st.integers(-(10**20), 10**20),
        "boolean": st.booleans(),
        "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-999, 999),
        "null": st.none(),
        "array": st.lists(values(dialect), max_size=3),
        "object": st.dictionaries(st.sampled_from(("a", "b-c", "é")), values(dialect), max_size=3),
    }
    if "items" in schema:
        return st.lists(st.integers(-99, 99), max_size=4)
    wanted = schema.get("type", ["integer", "boolean", "array", "object"])
    return st.one_of([kinds[kind] for kind in ([wanted] if isinstance(wanted, str) else wanted)])


@cache
def calls(dialect: Dialect) -> st.SearchStrategy[Call]:
    """A complete and valid call of a declared tool."""
    return st.sampled_from(TOOLS).flatmap(
        lambda tool: arguments(dialect, tool).map(lambda args: Call(tool.name, json.dumps(args, ensure_ascii=False)))
    )


@st.composite
def turns(draw: st.DrawFn, dialect: Dialect, *, marked: bool = False) -> Turn:
    """A turn that the dialect should be able to write; if `marked`, marks stand in its texts, so it may be unable to."""
    text = words(dialect if marked else None)
    phases = {phase for _, phase in dialect.frame.channels.values()} if dialect.frame else set()
    phase, before = ("final" if "final" in phases else ""), ("commentary" if "commentary" in phases else "")
    parts: list[Any] = []
    if dialect.reasoning and draw(st.booleans()):
        parts.append(Reasoning(draw(text)))
    called = draw(st.lists(calls(dialect), max_size=3)) if dialect.forms else []
    if draw(st.booleans()) and not (called and dialect.call.startswith("{")):  # a bare call begins its turn
        parts.append(Text(draw(text), before))
    parts += called
    if draw(st.booleans()) and (not parts or isinstance(parts[-1], Call)):
        parts.append(Text(draw(text), phase))
    return Turn(tuple(parts), "tool_calls" if any(isinstance(part, Call) for part in parts) else "stop")
