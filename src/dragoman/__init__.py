"""dragoman: what open-weight models write, as events; events, as what clients read.

>>> import dragoman
>>> turn = dragoman.decode("hermes-json", '<tool_call>{"name": "now", "arguments": {}}</tool_call>')
>>> turn.calls[0].name
'now'
"""

from .api import constrain, decode, decode_many, detect, detections, encode, get, learn, names, spans
from .errors import DragomanError, UnknownDialect, UsageError
from .events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from .messages import Call, Tool, Turn
from .syntax.decode import Parser, Policy
from .syntax.dialect import Dialect
from .syntax.fold import fold

__all__ = [
    "Call",
    "CallArgs",
    "CallEnd",
    "CallStart",
    "Content",
    "Dialect",
    "DragomanError",
    "Finish",
    "Notice",
    "Parser",
    "Policy",
    "Reasoning",
    "Tool",
    "Turn",
    "UnknownDialect",
    "Usage",
    "UsageError",
    "constrain",
    "decode",
    "decode_many",
    "detect",
    "detections",
    "encode",
    "fold",
    "get",
    "learn",
    "names",
    "spans",
]
