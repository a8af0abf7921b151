"""How many texts a parser reads otherwise when they are cut otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.peers.answers import Answer
from tests.peers.serving import Pieces, asked, streamed
from tests.peers.tokens import pieces
from tests.peers.turns import OPENED, TOOLS, Case, cases

from dragoman import api
from dragoman.cases.read import load
from dragoman.messages import Tool
from dragoman.syntax.dialect import Dialect

__all__ = ["SIZES", "Cuts", "cuts", "texts"]

SIZES = (1, 2, 3, 5, 11)  # tokens in a piece: an engine that guesses ahead gives several at once
_CORPUS = Path(__file__).parents[2] / "tests" / "corpus"


@dataclass
class Cuts:
    """Of `texts`, how many come out differently by their `cut`, otherwise as a `whole`, or with an exception."""

    texts: int = 0
    cut: int = 0
    whole: int = 0
    raises: int = 0


def texts(dialect: Dialect) -> list[Case]:
    """The well-formed turns, and the corpus of the dialect: what models write when they err."""
    path = _CORPUS / f"{dialect.name}.txt"
    return [*cases(dialect), *(_corpus(dialect, path) if path.is_file() else ())]


def _corpus(dialect: Dialect, path: Path) -> Iterator[Case]:
    for one in load(path):
        if one.canonical:
            continue
        raw, tools = "".join(text for text, _ in one.pieces), [_offered(tool) for tool in one.tools or ()] or TOOLS
        prompt = one.prompt or dialect.begins
        turn = api.decode(dialect, raw, tools, prompt=prompt)
        opener = dialect.reasoning.partition("{text}")[0].strip()
        opened = OPENED if opener and prompt.rstrip().endswith(opener) else ""
        yield Case(dialect, one.title + opened, prompt, raw, turn, tools=tools)


def _offered(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def cuts(peer: type, dialect: Dialect, reads: str) -> Cuts:
    """All texts of a dialect, in every cut, through one parser."""
    found = Cuts()
    for case in texts(dialect):
        if not reads or asked(case, reads):
            _count(found, partial(peer, case, reads), pieces(case))
    return found


def _count(found: Cuts, reader: Callable[[], Any], tokens: Pieces) -> None:
    ways = [_tried(lambda cut: streamed(reader(), cut), _joined(tokens, size)) for size in (*SIZES, len(tokens))]
    whole = _tried(lambda cut: reader().whole(cut), tokens)
    found.texts += 1
    found.cut += len(set(ways)) > 1
    found.whole += whole != ways[0]
    found.raises += any(way.startswith("raises") for way in (*ways, whole))


def _joined(tokens: Pieces, size: int) -> Pieces:
    """Several tokens in a piece."""
    groups = [tokens[at : at + size] for at in range(0, len(tokens), max(size, 1))]
    return [("".join(text for text, _ in group), [one for _, ids in group for one in ids]) for group in groups]


def _tried(read: Callable[[Pieces], Answer], cut: Pieces) -> str:
    """An answer as a text that can be compared; white space around it is nobody's fault."""
    try:
        answer = read(cut)
    except Exception as error:  # noqa: BLE001 (whatever they raise is counted)
        return f"raises {type(error).__name__}"
    calls = [(name, _plain(arguments)) for name, arguments in answer.calls.values()]
    return repr((answer.reasoning.strip(), answer.content.strip(), calls))


def _plain(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except ValueError:
        return arguments
