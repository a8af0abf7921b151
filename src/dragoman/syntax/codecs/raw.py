"""Raw: the body of a framed message is one text, such as code; it becomes the one string that the tool takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..kinds import quote
from ..reader import Reader, Steps, Stop
from . import CUT, WHOLE

if TYPE_CHECKING:
    from ..calls import CallSink

__all__ = ["raw"]

KEY = "code"
"""The parameter, where the tool does not tell which of its strings is meant."""

Ends = Callable[[str, int, bool], Steps[bool]]


def raw(r: Reader, call: CallSink, marks: Stop, ends: Ends) -> Steps[str]:
    """Read a text up to one of the marks; where none comes, the end of the text is its end.

    `ends(mark, size, line)`: whether the mark at the cursor ends it; `line`: it stands at the beginning of a line.
    """
    names = [name for name in call.schema.properties() if call.schema.property(name).text_only]
    call.put("{" + json.dumps(names[0] if len(names) == 1 else KEY) + ': "', r.at, r.at)
    held: list[str] = []

    def put(text: str, at: int) -> None:
        body = text.rstrip("\n")
        if body:
            call.put(quote("".join(held) + body), at, at + len(body))
            held.clear()
        if len(body) < len(text):
            held.append(text[len(body) :])

    while mark := (yield from r.until(marks, put)):
        spelled = r.last
        r.back()
        if (yield from ends(mark, len(spelled), bool(held))):
            break
        r.pos += len(spelled)
        put(spelled, r.at - len(spelled))
    if not mark and call.cut:
        call.missing = '"}'
        return CUT
    last = "".join(held)
    call.put(quote(last.removesuffix("\n") if mark in call.scope.openers else last) + '"}', r.at, r.at)
    return WHOLE
