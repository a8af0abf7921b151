"""Prints a grammar tree as a structural tag, the JSON that xgrammar reads (vLLM and SGLang hand it on).

    {"type": "structural_tag", "format": {"type": "sequence", "elements": [..]}}

A call is a `tag`: its beginning, its arguments as a grammar of their own, its end.  Free text is `any_text` that holds
none of the dialect's marks, so the model is led by nothing until it begins a call.  Marks are text: for xgrammar a
special token of that spelling is the same.

Wider than the tree in two places: of each mark that text must not hold only its usual spellings are kept out, and the
number of calls has no bound.  Where the tags of many tools would repeat too much, the calls are one grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import UsageError
from .gbnf import gbnf
from .grammar import NEVER, Alt, Literal, Mark, Node, Repeat, Rule, Seq, Spelling, Text, literal, seq
from .parts import Calls

__all__ = ["structural_tag"]

LARGEST = 200_000
"""Characters of all tags, above which the calls are one grammar, which says what they share once."""

Format = dict[str, Any]


def structural_tag(node: Node, calls: Mapping[Rule, Calls] | None = None) -> str:
    """The grammar as a structural tag; `calls`: what the rules in it are that stand for calls.

    Raises:
        UsageError: no text satisfies the grammar.
    """
    if node == NEVER:
        raise UsageError("no text satisfies this grammar: a schema in it admits no value")
    made = _Printer(calls or {}).format(node)
    return json.dumps({"type": "structural_tag", "format": made}, ensure_ascii=False)


class _Printer:
    """One grammar being printed."""

    def __init__(self, calls: Mapping[Rule, Calls]) -> None:
        self.calls = calls

    def format(self, node: Node) -> Format:
        """A part: what has a form of its own is printed as that, anything else as a grammar."""
        match node:
            case Rule() if node in self.calls:
                return self.several(self.calls[node])
            case Literal() | Mark() | Seq():
                return self.sequence(self.pieces(node))
            case Alt(parts):
                return {"type": "or", "elements": [self.format(part) for part in parts]}
            case Repeat(part, 0, 1):
                return {"type": "optional", "content": self.format(part)}
            case Text(without, 0, None) if not node.opens:
                return {"type": "any_text", "excludes": list(_spellings(without))}
        return {"type": "grammar", "grammar": _ebnf(node)}

    def sequence(self, pieces: list[Node]) -> Format:
        """Parts one behind the other."""
        found = [self.piece(piece) for piece in pieces]
        return found[0] if len(found) == 1 else {"type": "sequence", "elements": found}

    def piece(self, piece: Node) -> Format:
        return {"type": "const_string", "value": piece.text} if isinstance(piece, Literal) else self.format(piece)

    def pieces(self, node: Node) -> list[Node]:
        """A sequence with all text that touches joined."""
        parts = node.parts if isinstance(node, Seq) else (node,)
        made = seq(*(literal(part.text) if isinstance(part, Mark) else part for part in parts))
        return list(made.parts) if isinstance(made, Seq) and made.parts else [made if made != Seq() else Literal("")]

    # --- calls

    def several(self, calls: Calls) -> Format:
        """The calls of a turn."""
        tags = self.tags(calls)
        if not tags:
            return {"type": "grammar", "grammar": _ebnf(calls.node())}
        between = self.text(calls.between)
        if between is None:
            more = {"type": "sequence", "elements": [self.format(calls.between), _either(tags)]}
            inner = [_either(tags), *([{"type": "star", "content": more}] if calls.most > 1 else [])]
        else:
            shared = {"separator": between, "at_least_one": True, "stop_after_first": calls.most == 1}
            inner = [{"type": "tags_with_separator", "tags": tags, **shared}]
        before, after = self.ends(calls.start), self.ends(calls.end)
        found = [*before, *inner, *after]
        return found[0] if len(found) == 1 else {"type": "sequence", "elements": found}

    def tags(self, calls: Calls) -> list[Format]:
        """Each call that may be; none at all if they take too much together."""
        tags: list[Format] = []
        size = 0
        for way in calls.ways():
            tags.append(self.tag(way))
            size += len(str(tags[-1]))
            if size > LARGEST:
                return []
        return tags

    def ends(self, node: Node) -> list[Format]:
        """What stands around all calls."""
        return [] if node == Seq() else [self.piece(piece) for piece in self.pieces(node)]

    def tag(self, way: Node) -> Format:
        """One call."""
        pieces = self.pieces(way)
        begin, end = self.edge(pieces, 0), self.edge(pieces, -1)
        content = self.sequence(pieces or [Literal("")])
        return {"type": "tag", "begin": begin, "content": content, "end": end}

    def edge(self, pieces: list[Node], at: int) -> str:
        """The fixed text at an edge, taken off."""
        found = pieces[at] if pieces else None
        if not isinstance(found, Literal):
            return ""
        pieces.pop(at)
        return found.text

    def text(self, node: Node) -> str | None:
        """Fixed text, None if it is something else."""
        match self.pieces(node):
            case [Literal(text)]:
                return text
        return None


def _ebnf(node: Node) -> str:
    """GBNF as xgrammar reads it: its escapes of two digits go on as far as there are hex digits."""
    return _HEX.sub(lambda found: found[1] or f"\\u00{found[2]}", gbnf(node))


_HEX = re.compile(r"(\\\\)|\\x([0-9A-F]{2})")


def _either(formats: list[Format]) -> Format:
    return formats[0] if len(formats) == 1 else {"type": "or", "elements": formats}


def _spellings(without: Iterable[Spelling]) -> dict[str, None]:
    """The usual spellings of what is kept out: every bar alike, and one blank or none where there may be many."""
    found: dict[str, None] = {}
    for spelling in without:
        for kind in range(max(len(chars) for chars, _ in spelling)):
            for blank in (" ", ""):
                steps = ((chars if not free else blank * ("\n" in chars), free) for chars, free in spelling)
                runs = ((chars[min(kind, len(chars) - 1)] if not free else chars) for chars, free in steps if chars)
                found[re.sub("  +", " ", "".join(runs))] = None
    return found
