"""Code: the whole body is a program, for the one declared tool that runs programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..reader import Reader, Steps
from . import BAD
from .free import free, only_string

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
        return (yield from free(r, call, only_string(call) or "code"))

    def encode(self, call: Call) -> str:
        return "".join(str(value) for value in json.loads(call.arguments).values())

    def grammar(self, tool: Tool) -> Node:
        return shapes.json_object(tool)
