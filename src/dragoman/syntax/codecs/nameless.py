"""Nameless: a call whose mark has an id or a counter where its name should be: the body tells the name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..kinds import ANY, strict_json
from ..reader import Reader, Steps
from . import BAD, WHOLE
from .json import Inner
from .values import Values

if TYPE_CHECKING:
    from ..calls import CallSink

__all__ = ["is_id", "nameless"]

_ID = re.compile(r"\d+|(?:call|tool|toolu|chatcmpl)[_\-][\w\-]*")


def is_id(word: str) -> bool:
    """Whether a word is a counter or an id rather than a name."""
    return _ID.fullmatch(word) is not None


def nameless(r: Reader, call: CallSink, id: str) -> Steps[str]:
    """Read the body of such a call: it has the name in it, or the keys of the only declared tool."""
    pieces: list[str] = []
    values = Values(r, lambda text, _start, _end: pieces.append(text), ANY, repair=call.repair)
    state = yield from values.run()
    if state != WHOLE:
        return state
    name, arguments = _told(call, "".join(pieces))
    if not name or not call.begin(name, id):
        return BAD
    call.notice("unnamed", r.at, name)
    inner = Inner(call)
    inner.take(arguments, r.at, r.at)
    inner.close(r.at)
    return WHOLE


def _told(call: CallSink, text: str) -> tuple[str, str]:
    """The name that a body tells, and the arguments in it."""
    try:
        body: Any = strict_json(text)
    except ValueError:
        return "", ""
    if not isinstance(body, dict):
        return "", ""
    name, inside = body.get("name"), body.get("arguments", body.get("parameters"))
    if isinstance(name, str) and call.declared(name) and isinstance(inside, dict | str):
        return name, inside if isinstance(inside, str) else json.dumps(inside, ensure_ascii=False)
    return call.tools.only(body), text
