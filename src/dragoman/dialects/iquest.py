"""IQuest: pairs of a key and a value in tags of its own."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

COMPACT = Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>")
RESULTS = "<tool_response>\n{text}\n</tool_response>"

IQUEST = Dialect(
    "iquest-q1",
    call="<iquest_tool_call>{name}{args}</iquest_tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>\n\n",
    begins="<|iquest_assistant|>",
    ends=("<|iquest_user|>", "<|iquest_end|>", "<|endoftext|>"),
    turn="<|iquest_{role}|>{text}",
    results=RESULTS,
    signs=("<|iquest_assistant|>",),
    aliases=("iquest_q1",),
    models="IQuest-Q1",
)
