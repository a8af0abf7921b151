"""The fields of every protocol's requests, and what becomes of each: the source of the pages and of the OpenAPI document.

A field is *mapped* (it changes what is asked or how it is answered), *ignored* (it concerns others: caches, accounts,
hosted services), *noted* (it is left aside, and the answer's header `x-dragoman-ignored` names it), or *refused*
(leaving it aside would change what the answer means).  Fields that are not here are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .chat_sampling import INTEGERS, NUMBERS, OTHER_NAMES
from .left_out import LEFT_OUT, REFUSED

__all__ = ["FATES", "Field", "fields", "sampling"]

FATES = ("mapped", "ignored", "noted", "refused")


@dataclass(frozen=True)
class Field:
    """One field: its JSON type, its fate, what it means, and a value that shows it.

    `needs`: other fields that the value makes no sense without.
    """

    name: str
    type: str
    fate: str
    meaning: str
    example: Any
    needs: Mapping[str, Any] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON Schema; null is absent."""
        kinds = [kind for kind in self.type.split("|") if kind != "any"]
        shape: dict[str, Any] = {"type": [*kinds, "null"]} if kinds else {}
        if "array" in kinds:
            shape["items"] = {}
        return {**shape, "description": f"{self.meaning} ({self.fate})", "examples": [self.example]}


def fields(kind: str, rows: Sequence[tuple[Any, ...]]) -> list[Field]:
    """Rows of name, type, meaning, example and needs, all of one fate."""
    return [Field(name, type_, kind, meaning, *rest) for name, type_, meaning, *rest in rows]


def sampling() -> Iterator[Field]:
    """How tokens are drawn, as local servers name it; and what they offer beside and we do not."""
    for name, (low, _) in {**NUMBERS, **INTEGERS}.items():
        kind = "number" if name in NUMBERS else "integer"
        yield Field(name, kind, "mapped", "how tokens are drawn", max(low, 0) + (0.5 if name in NUMBERS else 1))
    for name, other in OTHER_NAMES.items():
        yield Field(name, "number", "mapped", f"another name of {other}", 1.5)
    yield Field("logit_bias", "object|array", "mapped", "tokens that are made more or less likely", {"5": 1})
    yield Field("ignore_eos", "boolean", "mapped", "go on behind the end of a turn", True)
    yield Field("grammar", "string", "mapped", "a grammar (GBNF) that the answer follows", 'root ::= "a"')
    for name, example in LEFT_OUT.items():
        yield Field(name, "any", "noted", "of another server's sampling; not offered here", example)
    for name, example in REFUSED.items():
        yield Field(name, "any", "refused", "another server's form of a constraint; send a JSON schema", example)
