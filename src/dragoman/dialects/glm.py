"""GLM: arguments as pairs of a key and a value."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

LINES = Params("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
ENDS = ("<|user|>", "<|observation|>", "<|endoftext|>", "<|assistant|>")
RESULTS = "<tool_response>\n{text}\n</tool_response>"
COMPACT = Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>")

GLM45 = Dialect(
    "glm45",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=LINES,
    reasoning="<think>{text}</think>\n",
    begins="<|assistant|>\n",
    ends=ENDS,
    turn="<|{role}|>\n{text}",
    results=RESULTS,
    results_role="observation",
    signs=("<arg_key>", "<arg_value>", "[gMASK]<sop>"),
    aliases=("glm4_moe", "glm", "glm-4.5", "glm45_moe"),
    models="GLM-4.5, GLM-4.6",
)

GLM47 = Dialect(
    "glm47",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    joint="",
    reasoning="<think>{text}</think>",
    begins="<|assistant|>",
    ends=ENDS,
    turn="<|{role}|>{text}",
    results="<tool_response>{text}</tool_response>",
    results_role="observation",
    signs=("<arg_key>", "<arg_value>", "[gMASK]<sop>", "</arg_key><arg_value>"),
    aliases=("glm4_7", "glm-4.7", "glm-5", "glm47_moe"),
    models="GLM-4.7, GLM-5",
)
