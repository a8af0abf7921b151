"""What the grammar tests share: a recognizer for trees, llguidance with a vocabulary of bytes, and strategies of schemas."""

from __future__ import annotations

import json
import sys
import threading
from functools import cache, lru_cache
from typing import Any

import jsonschema
from hypothesis import strategies as st
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from dragoman.syntax.automaton import automaton
from dragoman.syntax.grammar import Alt, Chars, Literal, Mark, Node, Repeat, Rule, Seq, Text

# --- a recognizer


def accepts(node: Node, text: str) -> bool:
    """Whether a grammar allows a text: all the ends that each part can have, from each beginning."""
    if len(text) < 100:
        return len(text) in _Recognizer(text).ends(node, frozenset((0,)))
    found: list[bool] = []
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 << 20)  # rules that end in each other go deep
    sys.setrecursionlimit(100_000)
    thread = threading.Thread(target=lambda: found.append(len(text) in _Recognizer(text).ends(node, frozenset((0,)))))
    thread.start()
    thread.join()
    sys.setrecursionlimit(limit)
    threading.stack_size(size)
    return found[0]


class _Recognizer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[tuple[Rule, int], set[int]] = {}

    def ends(self, node: Node, starts: frozenset[int]) -> frozenset[int]:
        match node:
            case Literal(text) | Mark(text):
                return frozenset(at + len(text) for at in starts if self.text.startswith(text, at))
            case Chars():
                return frozenset(at + 1 for at in starts if at < len(self.text) and self.text[at] in node)
            case Text():
                return frozenset(end for at in starts for end in self._free(node, at))
            case Seq(parts):
                for part in parts:
                    starts = self.ends(part, starts)
                return starts
            case Alt(parts):
                return frozenset(end for part in parts for end in self.ends(part, starts))
            case Repeat(part, low, high):
                return self._repeated(part, starts, low, high)
            case Rule():
                return frozenset(end for at in starts for end in self._rule(node, at))
        raise AssertionError(node)

    def _free(self, node: Text, at: int) -> list[int]:
        machine, state, found = automaton(node), 0, []
        for end in range(at, len(self.text) + 1):
            if state in machine.final and end - at >= node.low:
                found.append(end)
            if end == len(self.text) or end - at == node.high:
                break
            ways = [to for by, to in machine.edges[state] if self.text[end] in by]
            assert len(ways) <= 1, "an automaton has one path for a text"
            if not ways:
                break
            state = ways[0]
        return found

    def _repeated(self, part: Node, starts: frozenset[int], low: int, high: int | None) -> frozenset[int]:
        found, count, ends = set(), 0, starts
        while ends:
            if count >= low:
                if ends <= found:
                    break
                found |= ends
            if count == high:
                break
            ends, count = self.ends(part, ends), count + 1
        return frozenset(found)

    def _rule(self, rule: Rule, at: int) -> set[int]:
        if (rule, at) not in self.known:
            self.known[rule, at] = set()  # no grammar here is left recursive
            self.known[rule, at] = set(self.ends(rule.node, frozenset((at,))))
        return self.known[rule, at]


# --- llguidance


class _Bytes:
    """A vocabulary of all bytes, then special tokens."""

    eos_token_id = 256
    bos_token_id = None

    def __init__(self, specials: tuple[str, ...]) -> None:
        self.tokens = [bytes([i]) for i in range(256)] + [b"<eos>"] + [mark.encode() for mark in specials]
        self.special_token_ids = list(range(256, 257 + len(specials)))

    def __call__(self, data: bytes | str) -> list[int]:
        return list(data.encode() if isinstance(data, str) else data)


@lru_cache(16)
def _tokenizer(specials: tuple[str, ...]) -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes(specials)))


def ids(specials: tuple[str, ...]) -> dict[str, int]:
    """The ids of special tokens in that vocabulary."""
    return {mark: 257 + i for i, mark in enumerate(specials)}


def lark_error(grammar: str, specials: tuple[str, ...] = ()) -> str:
    """What llguidance has to say against a grammar, "" if nothing."""
    return LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(grammar), _tokenizer(specials))


def lark_accepts(grammar: str, tokens: list[int], specials: tuple[str, ...] = ()) -> bool:
    """Whether llguidance would let these tokens pass, and then the end of the text."""
    matcher = LLMatcher(_tokenizer(specials), LLMatcher.grammar_from_lark(grammar))
    assert not matcher.is_error(), matcher.get_error()
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


# --- schemas

_names = st.sampled_from(["city", "n", "unit", "a-b", "x_1", "größe", "deep"])
_short = st.text("abYZ0 <>/\"\\{}:,\n'é", max_size=6)
_numbers = st.integers(-1200, 1200)


def _bounded(kind: str, low: str, high: str, least: int = 0) -> st.SearchStrategy[dict[str, Any]]:
    bounds = st.tuples(st.none() | st.integers(least, 12), st.none() | st.integers(12, 60))
    return bounds.map(
        lambda b: {"type": kind, **({low: b[0]} if b[0] is not None else {}), **({high: b[1]} if b[1] else {})}
    )


scalars = st.one_of(
    _bounded("string", "minLength", "maxLength"),
    _bounded("integer", "minimum", "maximum", -1200),
    _bounded("number", "minimum", "maximum", -1200),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": "object"}, {"type": ["integer", "null"]}, {}]),
    st.sampled_from(["^[a-z]{2,5}$", "^(foo|bar)-\\d+$", "[A-Z]", "^\\S+@\\S+$"]).map(
        lambda p: {"type": "string", "pattern": p}
    ),
    st.lists(_short | _numbers | st.booleans() | st.none(), min_size=1, max_size=4).map(lambda v: {"enum": v}),
    _short.map(lambda v: {"const": v}),
)


def _objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def build(found: tuple[dict[str, Any], list[bool]]) -> dict[str, Any]:
        properties, musts = found
        required = [key for key, must in zip(properties, musts, strict=False) if must]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    return st.tuples(st.dictionaries(_names, inner, max_size=4), st.lists(st.booleans(), min_size=4, max_size=4)).map(
        build
    )


def _arrays(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    bounds = st.tuples(inner, st.integers(0, 2), st.integers(2, 4))
    return bounds.map(lambda b: {"type": "array", "items": b[0], "minItems": b[1], "maxItems": b[2]})


def _composed(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def build(branches: list[dict[str, Any]]) -> dict[str, Any]:
        simple = [branch for branch in branches if branch and "anyOf" not in branch]
        by_type = {
            branch.get("type") if branch.get("type") in ("object", "array") else i: branch
            for i, branch in enumerate(simple)
        }
        return {"anyOf": list(by_type.values())} if by_type else {"type": "null"}

    return st.lists(inner, min_size=1, max_size=3).map(build)


schemas = st.recursive(scalars, lambda inner: _objects(inner) | _arrays(inner) | _composed(inner), max_leaves=8)
parameters = _objects(schemas)
"""Schemas of a tool's parameters."""


@cache
def _checker(schema: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(schema))


def problems(value: Any, schema: dict[str, Any]) -> list[str]:
    """What jsonschema has to say against a value."""
    return [error.message for error in _checker(json.dumps(schema)).iter_errors(value)]
