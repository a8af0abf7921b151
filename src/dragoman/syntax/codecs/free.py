"""Free text as the one string that a tool takes: a program, or an input that is no JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ..kinds import quote
from ..reader import Reader, Steps
from . import CUT, WHOLE

if TYPE_CHECKING:
    from ..calls import CallSink

__all__ = ["free", "only_string"]


_STRING = re.compile(r'(?:"(?:[^"\\\n]|\\.?){0,256}(?P<ok>")?)?')


def only_string(call: CallSink) -> str:
    """The tool's only parameter, or its only string; "" if there is no such one."""
    keys = call.schema.properties_in_order()
    texts = [key for key in keys if call.schema.property(key).text_only]
    return (
        texts[0]
        if len(texts) == 1
        else keys[0]
        if len(keys) == 1 and call.schema.property(keys[0]).allows("string")
        else ""
    )


def free(r: Reader, call: CallSink, key: str, *marks: str) -> Steps[str]:
    """Text up to a mark that ends the call, one of `marks`, or the turn's end; white space at its edges is markup."""
    yield from r.peek()
    if (yield from _quoted(r, call, key, *marks)):
        return WHOLE
    call.put("{" + json.dumps(key) + ': "', r.at, r.at)
    call.missing = '"}'
    held: list[str] = []
    mark = yield from r.until(call.scope.stop(*marks), lambda text, at: _put(call, held, text, at))
    if mark:
        r.back()
    elif call.cut:
        call.rest = "".join(held)
        return CUT
    call.put('"}', r.at, r.at)
    return WHOLE


def _quoted(r: Reader, call: CallSink, key: str, *marks: str) -> Steps[bool]:
    """The text as a short string in quotes, and nothing else."""
    found = yield from r.look(_STRING)
    size = len(found.group()) if found and found["ok"] else 0
    if not size or not ((yield from r.ahead(call.scope.stop(*marks), size))[0] or (yield from r.ended(size))):
        return False
    try:
        text = json.loads(r.buf[r.pos : r.pos + size])
    except ValueError:
        return False
    r.pos += size
    call.put(json.dumps({key: text}, ensure_ascii=False), r.at - size, r.at)
    return True


def _put(call: CallSink, held: list[str], text: str, at: int) -> None:
    """A piece of the text; white space at its end waits, since it may belong to the mark behind it."""
    whole = "".join(held) + text
    body = whole.rstrip()
    held[:] = [whole[len(body) :]]
    if body:
        call.put(quote(body), at, at + len(text))
