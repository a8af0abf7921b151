"""Detect: which dialect a chat template, a vocabulary or a sample of output speaks, by the marks that are there.

A template without any call marks is weak evidence: it only tells how its turns begin.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator

from ..syntax.dialect import Dialect
from ..syntax.template import marks, split

__all__ = ["detections"]


def detections(
    dialects: Collection[Dialect], chat_template: str, vocab: Container[str] | None, text: str
) -> list[tuple[str, str]]:
    """The dialects that fit, as (name, reason), best first: most of its marks there, then the best known."""
    found = [
        (
            len("".join(signs)) * (not source.endswith("only")),
            (-len(dialect.aliases), dialect.name),
            f"{source} has {' and '.join(signs)}",
        )
        for dialect in dialects
        for source, signs in _evidence(dialect, chat_template, vocab, text)
    ]
    names: dict[str, str] = {}
    for _, (_, name), reason in sorted(found, key=lambda row: (-row[0], row[1])):
        names.setdefault(name, reason)
    return list(names.items())


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
            yield "the text", signs


def _all(signs: tuple[str, ...], place: Container[str]) -> bool:
    return bool(signs) and all(sign in place for sign in signs)


def _written(dialect: Dialect) -> Iterator[tuple[str, ...]]:
    """What shows in a model's own text: how its calls begin, and how its reasoning does."""
    before = dialect.call.partition("{")[0]
    if dialect.frame is not None:
        yield dialect.frame.channel, dialect.frame.message
    elif before:
        yield (*marks(before), *_inside(dialect))
    if dialect.reasoning and dialect.frame is None:
        yield marks(split(dialect.reasoning)[0])


def _inside(dialect: Dialect) -> Iterable[str]:
    """A call whose name is inside its JSON shows the key."""
    return ('"name"',) if "{call}" in dialect.call else ()
