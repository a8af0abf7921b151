"""Suffix: the tags of some checkpoints end in a word of the vocabulary's own, `<think:opensource>` for `<think>`.

The vocabulary tells which, else the prompt does, since its last turn has such a tag.  Where nothing tells, a tag counts
with any suffix and without one (`<think:*>`, see `reader`); where it is known, tags without it are text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from .codecs.params import Params
from .dialect import Dialect, Form

if TYPE_CHECKING:
    from .codecs import Codec

__all__ = ["suffixed"]

_TAG = re.compile(r"(</?[a-z][a-z_]*)>")
_ANY = ":*"


def suffixed(dialect: Dialect, specials: Collection[str] | None, prompt: str, unknown: str = _ANY) -> Dialect:
    """The dialect with the suffix of its tags; `unknown` is taken where nothing tells which it is."""
    if not dialect.suffix:
        return dialect
    opening = re.escape(dialect.reasoning.partition(">")[0])
    tag = re.compile(rf"{opening}(:[^<>\s*]{{1,64}})?>")
    inside = (found for mark in specials or () if (found := tag.fullmatch(mark)))
    found = next(inside, None) or next(reversed(list(tag.finditer(prompt[-4096:]))), None)
    return _with(dialect, unknown if found is None else found[1] or "")


@lru_cache(256)
def _with(dialect: Dialect, suffix: str) -> Dialect:
    """The same dialect, every tag with this suffix."""

    def tags(text: str) -> str:
        return _TAG.sub(rf"\g<1>{suffix}>", text)

    def codec(one: Codec) -> Codec:
        if not isinstance(one, Params):
            return one
        return Params(tags(one.template), one.text, strip=one.strip, cdata=one.cdata, inline=one.inline)

    def form(one: str | Form) -> str | Form:
        return tags(one) if isinstance(one, str) else Form(tags(one.template), codec(one.codec))

    if not suffix:
        return dialect
    return replace(
        dialect,
        call=tags(dialect.call),
        args=dialect.args and codec(dialect.args),
        section=tags(dialect.section),
        sections=tuple(map(tags, dialect.sections)),
        reasoning=tags(dialect.reasoning),
        thoughts=tuple(map(tags, dialect.thoughts)),
        also=tuple(map(form, dialect.also)),
        drops=tuple(map(tags, dialect.drops)),
        special=tuple(map(tags, dialect.special)),
    )
