"""Detect: which dialect a chat template, a vocabulary or a sample of output speaks, by the marks that are there.

A template without any call marks is weak evidence: it only tells how its turns begin.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator

from ..syntax.codecs.header import Header
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from ..syntax.template import marks, parse, split

__all__ = ["detections"]

_SIGNS = re.compile(r"[^a-z0-9.]")


def detections(
    dialects: Collection[Dialect], chat_template: str, vocab: Container[str] | None, text: str, model: str = ""
) -> list[tuple[str, str]]:
    """The dialects that fit, as (name, reason), best first: most of its marks there, then the best known.

    A model's name decides only between those that nothing else tells apart.
    """
    found = [
        (
            _weight(signs) * (not source.endswith("only")),
            (-_called(dialect, model), -len(dialect.aliases), dialect.name),
            f"{source} has {' and '.join(signs)}",
        )
        for dialect in dialects
        for source, signs in _evidence(dialect, chat_template, vocab, text)
    ]
    found += [
        (-1, (-size, -len(dialect.aliases), dialect.name), f"the model's name, {model}")
        for dialect in dialects
        if (size := _called(dialect, model))
    ]
    names: dict[str, str] = {}
    for _, (*_, name), reason in sorted(found, key=lambda row: (-row[0], row[1])):
        names.setdefault(name, reason)
    return list(names.items())


def _weight(signs: tuple[str, ...]) -> int:
    """How much these tell: marks by their length, names half of it, ordinary words next to nothing."""
    return sum(1 if sign.isalpha() else len(sign) // (1 + sign.isidentifier()) for sign in signs)


def _called(dialect: Dialect, model: str) -> int:
    """How much of a model's name is that of one of the dialect's models."""
    name = _SIGNS.sub("", model.lower())
    known = (_SIGNS.sub("", one.lower()) for one in dialect.models.split(","))
    return max((len(one) for one in known if len(one) > 3 and one in name), default=0)


def _evidence(
    dialect: Dialect, chat_template: str, vocab: Container[str] | None, text: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if _all(dialect.signs, chat_template):
        yield "the chat template", dialect.signs
    elif _all((begins := dialect.begins.strip(),), chat_template) and begins:
        yield "the chat template only", (begins,)
    if vocab is not None and _all(dialect.special, vocab):
        yield "the vocabulary", dialect.special
    for signs in _written(dialect):
        if _all(signs, text):
            yield "the text", (*signs, *_more(dialect, signs, text))
    if text and len(rest := _rest(dialect, text)) > 2:
        yield "the text", rest


def _all(signs: tuple[str, ...], place: Container[str]) -> bool:
    return bool(signs) and all(sign in place for sign in signs)


def _written(dialect: Dialect) -> Iterator[tuple[str, ...]]:
    """What shows in a model's own text: how its calls begin, and how its reasoning does."""
    if dialect.frame is not None:
        yield from _headers(dialect, dialect.frame)
        return
    before = dialect.call.partition("{")[0]
    if before:
        yield (*marks(before), *_inside(dialect))
    if dialect.reasoning:
        yield marks(split(dialect.reasoning)[0])


def _more(dialect: Dialect, signs: tuple[str, ...], text: str) -> Iterator[str]:
    """What else of a call is there, where its beginning is."""
    if dialect.frame is None and signs[0] in dialect.call:
        yield from (mark for mark in _call(dialect) if mark in text and mark not in signs)


def _rest(dialect: Dialect, text: str) -> tuple[str, ...]:
    """The marks of a call whose beginning the model forgot: most of the others."""
    whole = _call(dialect) if dialect.frame is None else ()
    there = tuple(mark for mark in whole if mark in text)
    return there if 3 * len(there) > 2 * len(whole) else ()


def _call(dialect: Dialect) -> tuple[str, ...]:
    """All marks of a call with a parameter; brackets and words alone tell nothing."""
    tags = (dialect.args.before, dialect.args.after) if isinstance(dialect.args, Params) else ()
    literals = (piece for piece in parse(dialect.call) if isinstance(piece, str))
    every = (mark for literal in (*literals, *tags) for mark in marks(literal))
    return tuple(dict.fromkeys(mark for mark in every if len(mark) > 3 and not mark.isalpha()))


def _headers(dialect: Dialect, frame: Header) -> Iterator[tuple[str, ...]]:
    """What a message's header shows, and the marks of its body."""
    for block in (dialect.reasoning, *dialect.content, dialect.call):
        header, body = frame.parted(block)
        shown = [words for piece in parse(header) if isinstance(piece, str) for words in _words(piece, frame)]
        if any(mark in header for mark in frame.marks):
            yield tuple(shown)
            yield (*shown, *marks(body.partition("{")[0]), *(marks(_tags(dialect)) if block == dialect.call else ()))


def _words(text: str, frame: Header) -> Iterator[str]:
    """The marks of a header, and what stands between them."""
    pieces = re.split("(" + "|".join(map(re.escape, frame.marks)) + ")", text)
    yield from filter(None, map(str.strip, pieces))


def _tags(dialect: Dialect) -> str:
    """How a parameter begins, where the arguments stand in tags."""
    return dialect.args.before if isinstance(dialect.args, Params) else ""


def _inside(dialect: Dialect) -> Iterable[str]:
    """A call whose name is inside its JSON shows the key."""
    return ('"name"',) if "{call}" in dialect.call else ()
