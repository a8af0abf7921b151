"""Hy: pairs of a key and a value, in tags with a suffix."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

LINES = Params("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
RESULTS = "<tool_response>\n{text}\n</tool_response>"
COMPACT = Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>")

HY_V3 = Dialect(
    "hy-v3",
    section="<tool_calls>\n{calls}\n</tool_calls>",
    call="<tool_call>{name}<tool_sep>\n{args}</tool_call>",
    args=LINES,
    apart="",
    reasoning="<think>{text}</think>",
    begins="<｜hy_Assistant｜>",
    ends=("<｜hy_eos｜>", "<｜hy_User｜>", "<|eos|>"),
    suffix=True,
    special=("<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>", "<tool_sep>"),
    turn="<｜hy_{role}｜>{text}",
    results=RESULTS,
    signs=("tool_sep", "arg_key", "arg_value", "<tool_calls"),
    aliases=("hy_v3", "hunyuan"),
    models="Hy3",
)

HY_V4 = Dialect(
    "hy-v4",
    section="<tool_calls>{calls}</tool_calls>",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>",
    begins="<｜hy_Assistant｜>",
    ends=("<｜hy_eos｜>", "<｜hy_User｜>", "<|eos|>"),
    suffix=True,
    special=("<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>"),
    turn="<｜hy_{role}｜>{text}",
    results=RESULTS,
    signs=("<tool_calls", "arg_key", "arg_value"),
    aliases=("hy_v4",),
    models="Hy4",
)
