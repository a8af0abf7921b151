"""Pairs of a key and a value, as GLM writes them, in the turns of other families."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

LINES = Params("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
RESULTS = "<tool_response>\n{text}\n</tool_response>"
COMPACT = Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>")
ENDS = ("<|user|>", "<|observation|>", "<|endoftext|>", "<|assistant|>")

LING3 = Dialect(
    "ling3",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=LINES,
    reasoning="<think>\n{text}\n</think>\n",
    begins="<role>ASSISTANT</role>",
    ends=("<|role_end|>", "<|endoftext|>"),
    turn="<role>{role}</role>{text}<|role_end|>",
    results=RESULTS,
    results_role="OBSERVATION",
    signs=("<arg_key>", "<arg_value>", "<role>ASSISTANT</role>"),
    models="Ling-3, Ring-3, Ring-2.6",
)

LAGUNA = Dialect(
    "laguna",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    joint="",
    reasoning="<think>{text}</think>",
    begins="<assistant>\n",
    ends=("</assistant>", "<user>"),
    turn="<{role}>\n{text}\n</{role}>\n",
    results="<tool_response>{text}</tool_response>",
    results_role="user",
    signs=("<arg_key>", "<arg_value>", "<assistant>"),
    aliases=("poolside_v1", "poolside-v1"),
    models="Laguna",
)

SPARK25 = Dialect(
    "spark25",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>\n"),
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|assistant|>",
    ends=ENDS,
    turn="<|{role}|>{text}",
    results=RESULTS,
    signs=("<arg_key>", "<arg_value>"),
    models="Spark-X2.5",
)
