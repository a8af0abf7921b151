"""Calls without any mark, as the whole turn, which count for declared tools only."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

THINK = "<think>\n{text}\n</think>\n\n"
LLAMA_ENDS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
LLAMA_BEGINS = "<|start_header_id|>assistant<|end_header_id|>\n\n"
LLAMA_TURN = "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"

GENERIC_JSON = Dialect(
    "generic-json",
    call="{call}",
    args=JsonCall(lines="\n"),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    aliases=("json",),
    models="Any model told to answer in JSON",
)

XLAM = Dialect(
    "xlam",
    call="{call}",
    args=JsonCall(listed=True),
    also=("[TOOL_CALLS]{call}", "<tool_call>{call}</tool_call>"),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS + LLAMA_ENDS,
    results="{text}",
    models="xLAM 1 and 2",
)

PYTHONIC = Dialect(
    "pythonic-list",
    call="{call}",
    args=Python(listed=True),
    begins=LLAMA_BEGINS,
    ends=LLAMA_ENDS,
    turn=LLAMA_TURN,
    results="{text}",
    results_role="ipython",
    aliases=("pythonic",),
    models="Llama 3.2 1B and 3B, ToolACE",
)
