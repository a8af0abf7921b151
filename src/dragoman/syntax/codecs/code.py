"""Code: the whole body is a program, for the one declared tool that runs programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import quote
from ..reader import Reader, Steps
from . import BAD, CUT, WHOLE

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["Code"]


class Code:
    """The codec of `{call}`; `tools` are the names that such a tool may have, the first declared one counts.

    The program becomes the tool's only string, else `code`.  It ends where the call's closing mark or the turn's end is.
    """

    opening = re.compile(r"\s{0,256}(?P<ok>\S)?")

    several = None

    def __init__(
        self, tools: tuple[str, ...] = ("python", "code_interpreter", "ipython", "interpreter", "code")
    ) -> None:
        self.tools = tools

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        name = next((name for name in self.tools if call.declared(name)), "")
        if not name or not call.begin(name):
            return BAD
        yield from r.peek()
        key = json.dumps(_key(call))
        call.put("{" + key + ': "', r.at, r.at)
        call.missing = '"}'
        held: list[str] = []
        mark = yield from r.until(call.scope.stop(), lambda text, at: _put(call, held, text, at))
        if mark:
            r.back()
        elif call.cut:
            call.rest = "".join(held)
            return CUT
        call.put('"}', r.at, r.at)
        return WHOLE

    def encode(self, call: Call) -> str:
        return "".join(str(value) for value in json.loads(call.arguments).values())

    def grammar(self, tool: Tool) -> Node:
        return shapes.json_object(tool)


def _put(call: CallSink, held: list[str], text: str, at: int) -> None:
    """A piece of the program; white space at its end waits, since it may belong to the mark behind it."""
    whole = "".join(held) + text
    body = whole.rstrip()
    held[:] = [whole[len(body) :]]
    if body:
        call.put(quote(body), at, at + len(text))


def _key(call: CallSink) -> str:
    """The parameter that takes the program."""
    names = [name for name in call.schema.properties_in_order() if call.schema.property(name).text_only]
    return names[0] if len(names) == 1 else "code"
