"""Nemotron: a list of JSON calls, then (3) nested tags as Qwen writes them."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS
from .qwen import BEGINS, CALL, DECLARE, JSON, PARAMS

LISTED = JsonCall(listed=True)
THINK = "<think>\n{text}\n</think>\n\n"
LLAMA_ENDS = ("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")

NEMOTRON_TOOLCALL = Dialect(
    "nemotron-toolcall",
    call="<TOOLCALL>{call}</TOOLCALL>",
    args=LISTED,
    reasoning=THINK,
    begins="<SPECIAL_11>Assistant\n",
    ends=("<SPECIAL_12>", "<SPECIAL_11>", *LLAMA_ENDS),
    turn="<SPECIAL_11>{role}\n{text}\n",
    results="<TOOL_RESPONSE>[{text}]</TOOL_RESPONSE>",
    signs=("<TOOLCALL>",),
    aliases=("nemotron_deci", "nemotron_nano"),
    models="Nemotron Nano v2, Llama-Nemotron Super and Ultra",
)

NEMOTRON3 = Dialect(
    "nemotron3-xml",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins=BEGINS,
    ends=(*CHATML_ENDS, "</s>"),
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=", "truncate_history_thinking"),
    aliases=("nemotron_v3", "nemotron_3", "nano_v3", "nemotron-3-nano"),
    models="Nemotron 3 Nano, Super and Ultra, 3.5 Lightning",
)
