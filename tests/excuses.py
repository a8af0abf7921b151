"""Where a template's text and ours need not be the same: what differs, and why that says nothing about what a model writes.

Each excuse is a rule that holds the two texts against each other; `excuse` names the first that fits.
Templates that nothing can be learnt from as a whole are listed by name, each with its reason (`odd_templates.txt`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from dragoman import api
from dragoman.messages import Turn
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.probes import Probe, tools_of

ODD = Path(__file__).parent / "odd_templates.txt"

REASONS = {
    "values": "Jinja writes a value by itself (True, None, 'single quotes', letters escaped), not as any format says",
    "order": "the template puts the text of an answer behind its calls, where no model has written it",
    "ids": "the template makes up the id of a call, or leaves it out",
    "unclosed": "the template leaves open what it opened",
    "told": "the template gives the text beside a call as a thought",
    "header": "the template puts the fields of a message's header in another order than the model does",
    "empty": "the template opens a thought, or writes an empty one, where there is none",
}

_BLANK = re.compile(r"\s+")
_QUOTES = re.compile(r"['\"\\]")
_ID = re.compile(r',? ?"(?:tool_call_id|id)": "[^"]*",? ?|\[CALL_ID\]\w+')
_NONE = re.compile(r"\bnone\b")
_CODE = re.compile(r"\\u([0-9a-f]{4})")


def excuse(dialect: Dialect, turn: Turn, theirs: str, ours: str) -> str:
    """Why a template's text for a turn may differ from ours; "" if nothing excuses it."""
    if _tight(theirs) == _tight(ours):
        return ""  # white space alone is what a dialect has to get right
    return next((name for name, fits in _RULES.items() if fits(dialect, turn, theirs, ours)), "")


def misread(dialect: Dialect, probe: Probe) -> str:
    """Why a probe's text reads as another turn than was asked for; "" if nothing excuses it."""
    turn = api.decode(dialect, probe.text, tools_of(probe.turn), prompt=dialect.begins)
    same = [call.name for call in turn.calls] == [call.name for call in probe.turn.calls]
    moved = turn.reasoning.strip() == probe.turn.content.strip() and not turn.content.strip()
    return "told" if same and moved and probe.turn.content and not probe.turn.reasoning else ""


def _tight(text: str) -> str:
    return _BLANK.sub("", text)


def _values(_dialect: Dialect, _turn: Turn, theirs: str, ours: str) -> bool:
    return _plain(theirs) == _plain(ours)


def _plain(text: str) -> str:
    """A text whose values are written alike, whoever wrote them."""
    text = _CODE.sub(lambda found: chr(int(found[1], 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _NONE.sub("null", _QUOTES.sub("", _BLANK.sub(" ", text)).lower())


def _order(_dialect: Dialect, turn: Turn, theirs: str, ours: str) -> bool:
    return bool(turn.content and turn.calls) and sorted(_tight(_plain(theirs))) == sorted(_tight(_plain(ours)))


def _ids(_dialect: Dialect, _turn: Turn, theirs: str, ours: str) -> bool:
    return _ID.sub("", theirs) == _ID.sub("", ours)


def _unclosed(_dialect: Dialect, _turn: Turn, theirs: str, ours: str) -> bool:
    return ours.startswith(theirs)


def _told(dialect: Dialect, turn: Turn, theirs: str, _ours: str) -> bool:
    return misread(dialect, Probe("", turn, theirs)) == "told"


def _header(dialect: Dialect, turn: Turn, theirs: str, _ours: str) -> bool:
    return dialect.frame is not None and _same(api.decode(dialect, theirs, tools_of(turn), prompt=dialect.begins), turn)


def _same(one: Turn, other: Turn) -> bool:
    return (one.content, one.reasoning, [call.name for call in one.calls]) == (
        other.content,
        other.reasoning,
        [call.name for call in other.calls],
    )


def _empty(dialect: Dialect, turn: Turn, theirs: str, ours: str) -> bool:
    marks = dialect.reasoning.partition("{text}")
    before, after = marks[0].strip(), marks[2].strip()
    rest = theirs.removeprefix(before).lstrip().removeprefix(after).lstrip()
    return bool(before) and not turn.reasoning and theirs.startswith(before) and rest == ours


_RULES: dict[str, Callable[[Dialect, Turn, str, str], bool]] = {
    "values": _values,
    "order": _order,
    "ids": _ids,
    "unclosed": _unclosed,
    "told": _told,
    "header": _header,
    "empty": _empty,
}


@cache
def odd() -> dict[str, str]:
    """The templates of which nothing can be said, by name, each with its reason."""
    lines = ODD.read_text("utf-8").splitlines()
    return dict(line.split("  ", 1) for line in lines if line and not line.startswith("#"))
